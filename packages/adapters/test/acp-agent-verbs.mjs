import { setTimeout as sleep } from 'node:timers/promises'
import { closeSync, existsSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import process from 'node:process'
import { RequestError, methods } from '@agentclientprotocol/sdk'
import { floods } from './acp-agent-floods.mjs'

const { client: host } = methods

/**
 * The verbs of a script. A prompt is a script, and each of its lines is a verb with arguments. A verb gets the rest of its
 * line and a `scene` (see `acp-agent.mjs`). If a verb returns a result, the prompt ends with this result.
 */
export const verbs = {
  say: (text, { say }) => say(text),
  /** `trace name`: sends a span to the collector of its environment, below the trace context of the prompt. */
  trace: async (name, { traceparent, say }) => {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SERVICE_NAME: service = 'scripted' } = process.env
    const [, traceId, parentSpanId] = (traceparent ?? '').split('-')
    const at = `${Date.now()}000000`
    const times = { startTimeUnixNano: at, endTimeUnixNano: at }
    const span = {
      traceId,
      spanId: '00000000000000aa',
      parentSpanId,
      name,
      kind: 1,
      ...times,
      attributes: [],
      status: {},
    }
    const resource = { attributes: [{ key: 'service.name', value: { stringValue: service } }] }
    const scopeSpans = [{ scope: { name: 'scripted' }, spans: [span] }]
    const body = JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] })
    await fetch(`${endpoint}/v1/traces`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json' },
    })
    await say('sent')
  },
  cwd: (_, { say }) => say(process.cwd()),
  think: (text, { update }) =>
    update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } }),
  image: (data, { update }) =>
    update({ sessionUpdate: 'agent_message_chunk', content: { type: 'image', data, mimeType: 'image/png' } }),
  /** `call id kind title = {json}`: sends a tool call. The JSON object contains further members, and is optional. */
  call: (rest, { update }) => {
    const [labels, more = '{}'] = rest.split(' = ')
    const [toolCallId, kind, ...title] = labels.split(' ')
    return update({
      sessionUpdate: 'tool_call',
      toolCallId,
      kind,
      title: title.join(' '),
      ...JSON.parse(more),
    })
  },
  /** `change id {json}`: sends a tool call update. */
  change: (rest, { update }) => {
    const [toolCallId] = rest.split(' ', 1)
    const more = JSON.parse(rest.slice(toolCallId.length) || '{}')
    return update({ sessionUpdate: 'tool_call_update', toolCallId, ...more })
  },
  /**
   * `ask id {json}`: requests permission for a call, and sends the answer as text. Completes the call if users allowed it.
   */
  ask: async (rest, scene) => {
    const [toolCallId] = rest.split(' ', 1)
    const optionId = await permission(toolCallId, rest.slice(toolCallId.length), scene)
    await scene.say(`${toolCallId} ${optionId}`)
    const allowed = !/^(?:no|cancelled)/.test(optionId)
    if (allowed && !scene.has('never-completes')) {
      const status = { sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' }
      await scene.update(status)
    }
  },
  /** `begun id {json}`: reports a call as begun, and only then requests permission for it. */
  begun: async (rest, scene) => {
    await verbs.change(rest.replace('{', '{"status":"in_progress",'), scene)
    await verbs.ask(rest, scene)
  },
  /** `allowed id {json}`: requests permission for a call, and lets the call run. Sends no text. */
  allowed: async (rest, scene) => {
    const [toolCallId] = rest.split(' ', 1)
    await permission(toolCallId, rest.slice(toolCallId.length), scene)
    await scene.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' })
  },
  /** `mcp server tool {json}`: calls a tool of an MCP server over HTTP, and sends the text of the result. */
  mcp: async (rest, scene) => {
    const [server, name] = rest.split(' ')
    const input = JSON.parse(rest.slice(server.length + name.length + 2) || '{}')
    const { content, isError } = await mcp(server, 'tools/call', { name, arguments: input }, scene)
    const text = content.map((each) => each.text ?? each.type).join('; ')
    await scene.say(`${isError ? 'error' : 'result'}: ${text}`)
  },
  /** `mcp-list server`: sends the names of the tools of an MCP server. */
  'mcp-list': async (server, scene) => {
    const { tools } = await mcp(server, 'tools/list', {}, scene)
    await scene.say(tools.map(({ name }) => name).join(', '))
  },
  /** `do id file`: requests permission for a call. If users allow the call, records an effect in the file. */
  do: async (rest, scene) => {
    const [toolCallId, name] = rest.split(' ')
    const rawInput = { file: name }
    const optionId = await permission(toolCallId, JSON.stringify({ title: 'Do it', rawInput }), scene)
    if (/^(?:no|cancelled)/.test(optionId)) return
    verbs.effect(name, scene)
    await scene.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
  },
  /** `impatient id frame`: requests permission for a call, and sends the frame before the answer comes. */
  impatient: async (rest, scene) => {
    const [toolCallId] = rest.split(' ', 1)
    const answer = permission(toolCallId, '', scene)
    await sleep(50)
    await scene.raw(rest.slice(toolCallId.length + 1).replaceAll('$SESSION', scene.sessionId))
    await scene.say('went on')
    await scene.say(`${toolCallId} ${await answer}`)
  },
  /** Requests permission, and ends the turn without waiting for the answer. */
  'ask-and-end': async (toolCallId, scene) => {
    void permission(toolCallId, '', scene)
    await sleep(50)
    return { stopReason: 'end_turn' }
  },
  /** Requests permission, and ends the turn as cancelled. Some agents do so after users have denied a call. */
  'ask-and-stop': async (toolCallId, scene) => {
    await permission(toolCallId, '', scene)
    return { stopReason: 'cancelled' }
  },
  /** `ask-both id id`: sends two permission requests at the same time. The two ids may be equal. */
  'ask-both': async (rest, scene) => {
    const answers = await Promise.all(rest.split(' ').map((id) => permission(id, '', scene)))
    await scene.say(answers.join(' and '))
  },
  write: async (rest, { client, sessionId, session, say }) => {
    const [name] = rest.split(' ', 1)
    const path = isAbsolute(name) ? name : join(session.cwd, name)
    const content = rest.slice(name.length + 1)
    await sayResult(say, 'written', client.request(host.fs.writeTextFile, { sessionId, path, content }))
  },
  run: async (line, { client, sessionId, session, say }) => {
    const params = { sessionId, command: line, cwd: session.cwd, outputByteLimit: 40 }
    await sayResult(
      say,
      (text) => text,
      client.createTerminal(params).then(async (terminal) => {
        const { exitCode, signal } = await terminal.waitForExit()
        const { output, truncated } = await terminal.currentOutput()
        await terminal.release()
        return `exit ${exitCode ?? signal}${truncated ? ' cut' : ''}: ${output}`
      }),
    )
  },
  /** Runs a command, and kills it. */
  'run-kill': async (command, { client, sessionId, say }) => {
    const terminal = await client.createTerminal({ sessionId, command })
    await terminal.kill()
    const { exitCode, signal } = await terminal.waitForExit()
    await say(`killed ${exitCode ?? signal}`)
  },
  plan: (rest, { update }) => {
    const entries = rest.split(';').map((each) => {
      const [status, ...content] = each.trim().split(' ')
      return { status, content: content.join(' '), priority: 'medium' }
    })
    return update({ sessionUpdate: 'plan', entries })
  },
  mode: (currentModeId, { update }) => update({ sessionUpdate: 'current_mode_update', currentModeId }),
  option: (rest, { update, options }) => {
    const [id, value] = rest.split(' ')
    return update({ sessionUpdate: 'config_option_update', configOptions: options({ [id]: value }) })
  },
  /** `commands count`: sends a list of `count` commands. */
  commands: (count, { update }) =>
    update({
      sessionUpdate: 'available_commands_update',
      availableCommands: Array.from({ length: Number(count) }, (_, i) => ({
        name: `c${i}`,
        description: '',
      })),
    }),
  title: (title, { update }) => update({ sessionUpdate: 'session_info_update', title }),
  usage: (rest, { update }) => {
    const [used, size] = rest.split(' ').map(Number)
    return update({ sessionUpdate: 'usage_update', used, size, cost: { amount: 0.5, currency: 'USD' } })
  },
  form: async (_, { client, sessionId, say }) => {
    const properties = {
      name: { type: 'string', title: 'Name', minLength: 1 },
      size: { type: 'integer', minimum: 1, maximum: 9, default: 3 },
      colour: {
        type: 'string',
        oneOf: [
          { const: 'r', title: 'Red' },
          { const: 'b', title: 'Blue' },
        ],
        default: 'r',
      },
      extras: { type: 'array', items: { enum: ['x', 'y'] }, default: ['y'] },
      sure: { type: 'boolean' },
    }
    const requestedSchema = { type: 'object', properties, required: ['name'] }
    const form = { sessionId, mode: 'form', message: 'Tell me', requestedSchema }
    await say(JSON.stringify(await client.request(host.elicitation.create, form)))
  },
  url: async (url, { client, sessionId, say }) => {
    const params = { sessionId, mode: 'url', message: 'Go there', elicitationId: 'e1', url }
    await say(JSON.stringify(await client.request(host.elicitation.create, params)))
  },
  /** `visited url`: asks users to visit a page, and then reports that the page has done its work. */
  visited: async (url, { client, sessionId, say }) => {
    const params = { sessionId, mode: 'url', message: 'Go there', elicitationId: 'e2', url }
    const answer = client.request(host.elicitation.create, params)
    await client.notify(host.elicitation.complete, { elicitationId: 'e2' })
    await say(JSON.stringify(await answer))
  },
  'wait-cancel': (_, { session }) =>
    new Promise((resolve) => {
      session.wake = resolve
      if (session.cancelled) resolve(undefined)
    }).then(() => undefined),
  /** `effect file`: appends a line to a file, so that a test can count how often a call ran. */
  effect: (name, { folder }) => writeFileSync(join(folder, name), 'done\n', { flag: 'a' }),
  stderr: (text) => void process.stderr.write(`${text}\n`),
  crash: (code) => process.exit(Number(code || 1)),
  /** Sends each word as a message chunk, and exits without a response to the prompt. */
  'end-and-exit': async (text, { raw, sessionId }) => {
    for (const each of text.split(' ')) {
      const content = { type: 'text', text: each }
      const update = { sessionUpdate: 'agent_message_chunk', content, messageId: 'last' }
      await raw({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } })
    }
    process.exit(0)
  },
  'close-stdout': () => {
    closeSync(1)
    return new Promise(() => {})
  },
  hang: () => new Promise(() => {}),
  sleep: (ms) => sleep(Number(ms)),
  garbage: async (_, { raw }) => {
    for (const line of ['{"jsonrpc":', '{}', '[]', 'null', '{"jsonrpc":"2.0"}', '\u0000', '{"id":1}'])
      await raw(line)
  },
  /** Sends a raw frame. `$NEXT` separates several frames, which are sent in one write. */
  raw: (text, { raw, sessionId }) => raw(text.replaceAll('$SESSION', sessionId).replaceAll('$NEXT', '\n')),
  /** Waits until the host has answered the requests with these ids. The verb `raw` has sent them. */
  answered: async (ids, { answered }) => {
    for (const id of ids.split(' ')) while (!answered.delete(id)) await sleep(5)
  },
  /** Waits until the late replay of a loaded session is sent. */
  replayed: (_, { session }) => session.replayed,
  'endless-line': (megabytes) => {
    for (let i = 0; i < Number(megabytes); i++) process.stdout.write('{"x'.padEnd(2 ** 20, 'x'))
    return new Promise(() => {})
  },
  ...floods,
  /** `hear`: waits for a message that comes while the prompt runs, and repeats it. */
  hear: async (_, { session, say }) => {
    while (session.steered.length === 0 && !session.cancelled)
      await new Promise((resolve) => {
        session.wake = resolve
      })
    if (!session.cancelled) await say(`heard ${session.steered.shift()}`)
  },
  end: (stopReason) => ({ stopReason, usage: { totalTokens: 9, inputTokens: 7, outputTokens: 2 } }),
  error: (rest) => {
    const [code, ...message] = rest.split(' ')
    throw new RequestError(Number(code), message.join(' '), { details: 'because of the script' })
  },
  /**
   * Sends the text after the turn has ended. The test signals the end of the turn by the file `over`. After the text the
   * agent sends a request. When the host has answered this request, it has also read the text, and the agent writes the file
   * `late`.
   */
  late: (text, { say, folder, raw, answered }) => {
    const write = async () => {
      while (!existsSync(join(folder, 'over'))) await sleep(5)
      await say(text)
      await raw({ jsonrpc: '2.0', id: 'x-late', method: 'x/late', params: {} })
      await verbs.answered('x-late', { answered })
      writeFileSync(join(folder, 'late'), 'said\n')
    }
    void write()
  },
}

async function permission(toolCallId, json, { client, sessionId, has, folder }) {
  const toolCall = { toolCallId, ...JSON.parse(json || '{}') }
  const option = (optionId, name, kind) => ({ optionId, name, kind })
  const options = has('host-options')
    ? [
        option('atrium.session', 'Allow in this session', 'allow_once'),
        option('atrium.folder', 'Always allow in this folder', 'allow_always'),
        option('no', 'Do not', 'reject_once'),
      ]
    : [
        option('always', 'Go ahead, always', 'allow_always'),
        option('once', 'Go ahead', 'allow_once'),
        option('no', 'Do not', 'reject_once'),
      ]
  const { outcome } = await client.request(host.session.requestPermission, {
    sessionId,
    toolCall,
    options: has('no-options') ? [] : options,
  })
  writeFileSync(join(folder, 'answers'), `${toolCallId} ${outcome.optionId ?? outcome.outcome}\n`, {
    flag: 'a',
  })
  return outcome.outcome === 'selected' ? outcome.optionId : 'cancelled'
}

/** Sends a text if the request succeeds, and the error message if the host refuses. */
async function sayResult(say, text, request) {
  try {
    const result = await request
    await say(typeof text === 'function' ? text(result) : text)
  } catch (error) {
    await say(`refused: ${error.message}`)
  }
}

/** Sends one request of an older version of MCP. */
async function mcp(name, method, params, { session }) {
  const { url, headers } = session.mcpServers.find((server) => server.name === name)
  const own = Object.fromEntries(headers.map((header) => [header.name, header.value]))
  const common = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(url, { method: 'POST', headers: { ...common, ...own }, body })
  const text = await response.text()
  const data = text.split('\n').find((line) => line.startsWith('data: '))
  return JSON.parse(data === undefined ? text : data.slice(6)).result
}
