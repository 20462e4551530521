import { readFileSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { Readable, Writable } from 'node:stream'
import { RequestError, agent, methods, ndJsonStream } from '@agentclientprotocol/sdk'
import { verbs } from './acp-agent-verbs.mjs'

/**
 * An ACP agent for tests. A prompt is a script of verbs, one per line (`acp-agent-verbs.mjs`). The variable `ACP_QUIRKS`
 * names faults that the agent shall have. The folder `ACP_STORE` contains the agent's sessions, so that another process can
 * load them, and records that tests read.
 */
const quirks = new Set((process.env['ACP_QUIRKS'] ?? '').split(',').filter(Boolean))
const has = (quirk) => quirks.has(quirk)
const folder = process.env['ACP_STORE'] ?? '/nowhere'
const sessions = new Map()
/** The ids of requests that the host has answered. The verb `raw` has sent these requests. */
const answered = new Set()

/** Writes a message to stdout, even one that the ACP SDK would refuse. */
const raw = (message) =>
  new Promise((resolve) => {
    process.stdout.write(`${typeof message === 'string' ? message : JSON.stringify(message)}\n`, () =>
      resolve(),
    )
  })

const append = (path, text) => existsSync(folder) && writeFileSync(path, text, { flag: 'a' })
append(join(folder, 'started'), `${process.pid}\n`)
append(join(folder, 'environment'), `${JSON.stringify(process.env)}\n`)

if (has('greets')) process.stdout.write('Welcome!\n\n[not json]\nDebugger attached.\n')
if (has('orphan'))
  spawn('/bin/sh', ['-c', `trap '' HUP TERM; while :; do sleep ${process.env['ACP_ORPHAN']}; done`], {
    stdio: has('orphan-holds-pipes') ? 'inherit' : 'ignore',
  })

const connection = agent({ name: 'scripted' })
  .onRequest(methods.agent.initialize, async () => {
    if (has('never-initializes')) await new Promise(() => {})
    if (has('stray-answer')) await raw({ jsonrpc: '2.0', id: 4711, result: {} })
    return {
      protocolVersion: has('version-9') ? 9 : 1,
      agentInfo: { name: 'scripted', version: '1' },
      authMethods: authMethods(),
      ...(has('steers') && { _meta: { steering: { supported: true } } }),
      agentCapabilities: {
        loadSession: !has('no-load'),
        ...(has('http') && { mcpCapabilities: { http: true } }),
        promptCapabilities: has('plain-prompts') ? {} : { image: true, embeddedContext: true },
        sessionCapabilities: {
          ...((has('resume') || has('resume-refused')) && { resume: {} }),
          ...(has('closes') && { close: {} }),
          ...(has('deletes') && { delete: {} }),
        },
      },
    }
  })
  .onRequest(methods.agent.authenticate, ({ params }) => {
    append(join(folder, 'authenticated'), `${params.methodId}\n`)
    if (has('auth-refuses')) throw new RequestError(-32_603, 'nobody clicked')
    append(join(folder, 'signed-in'), '')
    return {}
  })
  .onRequest(methods.agent.session.new, async ({ params, client }) => {
    if (has('never-opens')) await new Promise(() => {})
    // A test lets a slow agent go on by the file `go`.
    while (has('opens-slowly') && !existsSync(join(folder, 'go'))) await sleep(5)
    requireSignIn()
    if (has('refuses')) throw new RequestError(-32_603, 'no seats left')
    recordOpen('new', params)
    if (!existsSync(params.cwd)) throw new RequestError(-32_602, `no such directory: ${params.cwd}`)
    const { cwd, mcpServers } = params
    const session = { id: randomUUID(), cwd, mcpServers, history: [], lines: [], done: 0 }
    sessions.set(session.id, session)
    append(join(folder, 'ids'), `${session.id}\n`)
    store(session)
    if (has('early-commands')) await commands(client, session)
    return { sessionId: session.id, ...settings() }
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    if (has('load-fails')) throw RequestError.internalError(undefined, 'No previous sessions found')
    recordOpen('load', params)
    const session = sessionOf(params.sessionId)
    session.mcpServers = params.mcpServers
    if (has('load-replays-late')) session.replayed = sleep(30).then(() => replay(client, session))
    else await replay(client, session)
    return settings()
  })
  .onRequest(methods.agent.session.resume, ({ params }) => {
    if (has('resume-refused')) throw RequestError.methodNotFound('session/resume')
    recordOpen('resume', params)
    sessionOf(params.sessionId).mcpServers = params.mcpServers
    return settings()
  })
  .onRequest(methods.agent.session.close, ({ params }) => ended('close', params))
  .onRequest(methods.agent.session.delete, ({ params }) => ended('delete', params))
  .onRequest(methods.agent.session.setMode, ({ params }) => {
    append(join(folder, 'set'), `mode ${params.modeId}\n`)
    if (params.modeId === 'locked') throw new RequestError(-32_602, 'this mode is locked')
    return {}
  })
  .onRequest(methods.agent.session.setConfigOption, ({ params }) => {
    append(join(folder, 'set'), `${params.configId} ${params.value}\n`)
    return { configOptions: options({ [params.configId]: params.value }) }
  })
  .onRequest(methods.agent.session.prompt, ({ params, client }) => {
    if (has('auth-prompt') && !existsSync(join(folder, 'signed-in'))) throw RequestError.authRequired()
    return runPrompt(params, client)
  })
  .onRequest(
    '_session/steering',
    (params) => params,
    ({ params }) => {
      const { sessionId, prompt, _meta } = params
      append(join(folder, 'steered'), `${JSON.stringify({ prompt, _meta })}\n`)
      const session = sessionOf(sessionId)
      if (!session.running) return { outcome: 'promptRequired', reason: 'noRunningTurn' }
      session.steered.push(prompt.map((block) => block.text ?? block.type).join(' '))
      session.wake?.()
      return { outcome: 'injected' }
    },
  )
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    const session = sessions.get(params.sessionId)
    if (!session || has('ignores-cancel')) return
    session.cancelled = true
    session.wake?.()
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin).pipeThrough(answers())))

if (has('ignores-eof')) setInterval(() => {}, 1e6)
else void connection.closed.then(() => process.exit(0))

/**
 * Records the ids of the requests that the host has answered, and the request `initialize`. The SDK ignores responses to
 * requests that it did not send, and hides members that it does not know.
 */
function answers() {
  const decoder = new TextDecoder()
  let rest = ''
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (line.includes('"method":"initialize"')) append(join(folder, 'initialize'), `${line}\n`)
        const [, id] = (!line.includes('"method"') && /"id":"([^"]+)"/.exec(line)) || []
        if (id !== undefined) answered.add(id)
      }
      controller.enqueue(chunk)
    },
  })
}

/** Records the end of a session. */
async function ended(how, { sessionId }) {
  append(join(folder, 'ended'), `${how} ${sessionId}\n`)
  if (has('never-ends')) await new Promise(() => {})
  return {}
}

/** Runs a prompt. A prompt that resumes a turn continues the script of that turn. */
async function runPrompt(params, client) {
  const session = sessionOf(params.sessionId)
  session.running = true
  return workOn(params, session, client).finally(() => (session.running = false))
}

async function workOn({ sessionId, prompt, _meta }, session, client) {
  requireSignIn()
  const texts = prompt.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  append(join(folder, 'prompts'), `${JSON.stringify({ sessionId, prompt })}\n`)
  const resumes = texts.some((text) => text.startsWith('This turn was broken off'))
  const own = texts.filter(
    (text) => !/^(?:What was said in this chat before|This turn was broken|Rule |Skills\. )/.test(text),
  )
  if (!resumes || session.lines.length === 0)
    Object.assign(session, { lines: linesOf(own.join('\n')), done: 0 })
  else if (has('repeats')) session.done = 0
  else if (has('forgets')) Object.assign(session, { lines: linesOf('say Anything else?'), done: 0 })
  session.cancelled = false
  session.steered = []
  session.history.push(['user', own.join('\n').slice(0, 1000)])
  store(session)
  const scene = { ...sceneOf(session, client), traceparent: _meta?.traceparent }
  while (session.done < session.lines.length) {
    if (session.cancelled) return { stopReason: 'cancelled' }
    const { verb, rest } = session.lines[session.done]
    const end = await verbs[verb](rest, scene)
    // A cancelled line does not count as done. It runs again when the turn is resumed.
    if (session.cancelled && !end) return { stopReason: 'cancelled' }
    session.done++
    store(session)
    if (end) return end
  }
  return session.cancelled ? { stopReason: 'cancelled' } : { stopReason: 'end_turn' }
}

function linesOf(text) {
  const lines = text.split('\n').flatMap((line) => {
    const [verb = '', ...words] = line.split(' ')
    return Object.hasOwn(verbs, verb) ? [{ verb, rest: words.join(' ') }] : []
  })
  return lines.length > 0 ? lines : [{ verb: 'say', rest: `You wrote ${text.length} letters.` }]
}

/** Returns the session and the functions that a verb uses. */
function sceneOf(session, client) {
  const sessionId = session.id
  const send = (update) =>
    has('raw-updates')
      ? raw({ jsonrpc: '2.0', method: 'session/update', params: { sessionId, update } })
      : client.notify(methods.client.session.update, { sessionId, update })
  return {
    session,
    sessionId,
    client,
    folder,
    has,
    raw,
    answered,
    options,
    update: send,
    say: (text) => {
      session.history.push(['agent', text])
      const content = { type: 'text', text }
      const messageId = has('no-message-id') ? {} : { messageId: `m${session.history.length}` }
      return send({ sessionUpdate: 'agent_message_chunk', content, ...messageId })
    },
  }
}

/** Records how a session was opened, with the session's directory and servers. */
function recordOpen(how, { cwd, mcpServers }) {
  append(join(folder, 'opened'), `${JSON.stringify({ how, cwd, mcpServers })}\n`)
}

async function replay(client, { id: sessionId, history }) {
  for (const [who, text] of history)
    await client.notify(methods.client.session.update, {
      sessionId,
      update: {
        sessionUpdate: who === 'user' ? 'user_message_chunk' : 'agent_message_chunk',
        content: { type: 'text', text },
      },
    })
}

function commands(client, { id: sessionId }) {
  const availableCommands = [
    { name: 'compact', description: 'Forget most of it' },
    { name: 'two words', description: 'never shown' },
    { name: 'compact', description: 'again' },
  ]
  const update = { sessionUpdate: 'available_commands_update', availableCommands }
  return client.notify(methods.client.session.update, { sessionId, update })
}

function authMethods() {
  const own = has('auth-own') ? [{ id: 'own', name: 'In a browser' }] : []
  const vars = [{ name: 'SCRIPTED_KEY' }]
  const key = has('auth-key') ? [{ type: 'env_var', id: 'key', name: 'With a key', vars }] : []
  if (own.length + key.length > 0) return [...own, ...key]
  if (has('auth-terminal')) return [{ type: 'terminal', id: 't', name: 'In a terminal', args: ['login'] }]
  return has('auth-words')
    ? [{ id: 'w', name: 'Words', description: 'Set SCRIPTED_KEY and start again' }]
    : []
}

function requireSignIn() {
  const isSignedIn = process.env['SCRIPTED_KEY'] === 'k-good' || existsSync(join(folder, 'signed-in'))
  if ((has('auth') || has('auth-own') || has('auth-key')) && !isSignedIn) throw RequestError.authRequired()
  if (has('auth-once') && !existsSync(join(folder, 'signed-in'))) {
    writeFileSync(join(folder, 'signed-in'), '')
    throw RequestError.authRequired()
  }
}

function settings() {
  const availableModes = ['ask', 'code', 'locked'].map((id) => ({ id, name: id.toUpperCase() }))
  const modes = has('modes') ? { modes: { currentModeId: 'ask', availableModes } } : {}
  return { ...modes, ...(has('options') && { configOptions: options() }) }
}

function options(values = {}) {
  const choices = (...names) => names.map((value) => ({ value, name: value.toUpperCase() }))
  const option = (id, type, currentValue, more) => ({ id, name: id, type, currentValue, ...more })
  return [
    option('model', 'select', values.model ?? 'small', {
      category: 'model',
      options: choices('small', 'large'),
    }),
    option('effort', 'select', values.effort ?? 'low', {
      options: [{ group: 'g', name: 'G', options: choices('low', 'high') }],
    }),
    option('web', 'boolean', values.web ?? false, {}),
  ]
}

function store({ id, cwd, history, lines, done }) {
  if (existsSync(folder))
    writeFileSync(join(folder, `${id}.json`), JSON.stringify({ id, cwd, history, lines, done }))
}

/** Returns a session that this process or an earlier one has opened. */
function sessionOf(id) {
  const known = sessions.get(id)
  if (known) return known
  const file = join(folder, `${id}.json`)
  if (!existsSync(file)) throw RequestError.resourceNotFound(id)
  const session = JSON.parse(readFileSync(file, 'utf8'))
  sessions.set(id, session)
  return session
}
