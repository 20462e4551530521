import { expect, test, vi } from 'vitest'
import type { McpServerState } from '@atrium/protocol/session/customization'
import type { ToolDefinition } from '@atrium/protocol/session/state'
import { McpFailed } from '../mcp.ts'
import type {
  McpAnswers,
  McpCall,
  McpProgress,
  McpQuestions,
  McpServerConfig,
  McpServers,
  McpUser,
} from '../mcp.ts'

export interface McpFixture {
  readonly servers: McpServers
  /**
   * A server with these tools: `echo` returns its `text`; `pid` returns a text that tells one server from another; `ask` asks
   * for a text `name` and returns the answer; `steps` reports `count` steps; `wait` never ends; `fail` says that it failed;
   * `crash` ends the server; `grow` adds the tool `added`.
   */
  readonly good: McpServerConfig
  /** Whether sessions share the server. */
  readonly isShared: boolean
  /** A server that never gets ready. */
  readonly broken: McpServerConfig
}

/** The suite that every adapter of `McpServers` passes. */
export function mcpContract(name: string, open: () => McpFixture): void {
  const user = (changes: Partial<McpUser> = {}) => {
    const told: { state: McpServerState; tools: readonly ToolDefinition[] }[] = []
    const value: McpUser = {
      session: 'ahp-session:/1',
      principal: 'ann',
      consent: 'hash',
      token: () => undefined,
      changed: (state, tools) => void told.push({ state, tools }),
      ...changes,
    }
    return { value, told, kinds: () => told.map(({ state }) => state.kind) }
  }

  test(`[F2.1] [F2] ${name}: a server starts when it is started, and tells its states and tools`, async () => {
    const { servers, good } = open()
    const { value, told, kinds } = user()
    const server = servers.open(good, value)
    expect(server.state).toEqual({ kind: 'stopped' })
    expect(server.tools).toEqual([])
    await server.start()
    expect(kinds()).toEqual(['starting', 'ready'])
    expect(server.state).toEqual({ kind: 'ready' })
    expect(told.at(-1)?.tools).toEqual(server.tools)
    expect(server.tools.map((tool) => tool.name)).toContain('echo')
    server.stop()
    expect(server.state).toEqual({ kind: 'stopped' })
    expect(kinds()).toEqual(['starting', 'ready', 'stopped'])
    await server.start()
    expect(server.state).toEqual({ kind: 'ready' })
  })

  test(`[F2.1] [F2] ${name}: a call starts the server`, async () => {
    const { servers, good } = open()
    const server = servers.open(good, user().value)
    const result = await server.call('echo', { text: 'hello' }, call().value)
    expect(result).toEqual({ success: true, content: [{ type: 'text', text: 'hello' }] })
    expect(server.state).toEqual({ kind: 'ready' })
  })

  test(`[F15] [F15.2] ${name}: a client's request reaches the server as it is, and nobody is asked`, async () => {
    const { servers, good } = open()
    const server = servers.open(good, user().value)
    expect(server.serves).toBeUndefined()
    await server.start()
    expect(server.serves).toEqual({ serverTools: {} })
    const { tools } = await server.request('tools/list', {})
    expect(tools).toContainEqual(expect.objectContaining({ name: 'echo' }))
    const ask = (tool: string, input: object = {}) =>
      server.request('tools/call', { name: tool, arguments: { ...input } })
    expect(await ask('echo', { text: 'hello' })).toMatchObject({ content: [{ type: 'text', text: 'hello' }] })
    expect(JSON.stringify(await ask('ask'))).toContain('cancel')
    await expect(server.request('resources/list', {})).rejects.toThrow(McpFailed)
    await expect(ask('no such tool')).rejects.toMatchObject({ name: 'McpRefused', code: -32_602 })
    server.stop()
    expect(server.serves).toBeUndefined()
  })

  test(`[F2] ${name}: a server that does not get ready is in error, and start rejects with a sentence`, async () => {
    const { servers, broken } = open()
    const { value, kinds } = user()
    const server = servers.open(broken, value)
    await expect(server.start()).rejects.toThrow(McpFailed)
    expect(kinds()).toEqual(['starting', 'error'])
    await expect(server.call('echo', {}, call().value)).rejects.toThrow(/^The MCP server .+\.$/)
  })

  test(`[F4] ${name}: uses that differ in nothing share a server, and other uses do not`, async () => {
    const { servers, good, isShared } = open()
    const session = isShared ? 'ahp-session:/2' : 'ahp-session:/1'
    const same = [user(), user({ session })].map(({ value }) => servers.open(good, value))
    const other = [user({ principal: 'bob' }), user({ consent: 'other' })].map(({ value }) =>
      servers.open(good, value),
    )
    const ids = await Promise.all(
      [...same, ...other].map(async (server) => textOf(await server.call('pid', {}, call().value))),
    )
    expect(ids[0]).toBe(ids[1])
    expect(new Set(ids).size).toBe(3)
  })

  test(`[F4.3] [F4] ${name}: a server that one session stops or closes goes on for the others`, async () => {
    const { servers, good } = open()
    const { value, kinds } = user()
    const [first, second, third] = [
      servers.open(good, value),
      servers.open(good, user().value),
      servers.open(good, user().value),
    ]
    const id = textOf(await first.call('pid', {}, call().value))
    await Promise.all([second.start(), third.start()])
    second.stop()
    third.close()
    expect(textOf(await first.call('pid', {}, call().value))).toBe(id)
    expect(kinds()).toEqual(['starting', 'ready'])
    expect(second.state).toEqual({ kind: 'stopped' })
    await expect(third.start()).rejects.toThrow(McpFailed)
  })

  test(`[F3.1] [F3] ${name}: a call during which the server ends fails once, and the server is started again`, async () => {
    const { servers, good } = open()
    const server = servers.open(good, user().value)
    const id = textOf(await server.call('pid', {}, call().value))
    const crashed = server.call('crash', {}, call().value)
    await expect(crashed).rejects.toThrow(/^The MCP server ended during the call/)
    const next = textOf(await server.call('pid', {}, call().value))
    expect(next).not.toBe(id)
    expect(server.state).toEqual({ kind: 'ready' })
  })

  test(`[F7] ${name}: a changed list of tools is told, and a tool that is not in it cannot be called`, async () => {
    const { servers, good } = open()
    const { value, told } = user()
    const server = servers.open(good, value)
    await expect(server.call('added', {}, call().value)).rejects.toThrow(
      'The MCP server has no tool "added".',
    )
    await server.call('grow', {}, call().value)
    await vi.waitFor(() => expect(server.tools.map((tool) => tool.name)).toContain('added'), waitOptions)
    expect(told.at(-1)?.tools).toBe(server.tools)
  })

  test(`[F8] ${name}: a cancelled call rejects at once, and the server goes on`, async () => {
    const { servers, good } = open()
    const server = servers.open(good, user().value)
    await server.start()
    const abort = new AbortController()
    const waiting = server.call('wait', {}, call({ signal: abort.signal }).value)
    abort.abort()
    await expect(waiting).rejects.toThrow('The call was cancelled.')
    await expect(server.call('echo', {}, call({ signal: abort.signal }).value)).rejects.toThrow(
      'The call was cancelled.',
    )
    expect(textOf(await server.call('echo', { text: 'on' }, call().value))).toBe('on')
  })

  test(`[F8] ${name}: progress is reported`, async () => {
    const { servers, good } = open()
    const server = servers.open(good, user().value)
    const { value, reported } = call()
    await server.call('steps', { count: 4 }, value)
    expect(reported[0]).toEqual({ fraction: 0.25, message: 'step 1' })
  })

  test(`[F9] ${name}: a tool that says that it failed has a result without success`, async () => {
    const { servers, good } = open()
    const result = await servers.open(good, user().value).call('fail', {}, call().value)
    expect(result).toMatchObject({ success: false, error: { message: 'the disk is full' } })
  })

  test(`[F10] ${name}: a form of the server becomes questions, and the answers go back`, async () => {
    const { servers, good } = open()
    const server = servers.open(good, user().value)
    const submitted = { state: 'submitted', value: { kind: 'text', value: 'Ann' } } as const
    const { value, questions } = call({ answers: { response: 'accept', answers: { name: submitted } } })
    expect(textOf(await server.call('ask', {}, value))).toContain('"name":"Ann"')
    expect(questions).toHaveLength(1)
    expect(questions[0]?.questions?.find(({ id }) => id === 'name')).toMatchObject({
      kind: 'text',
      required: true,
    })
    expect(textOf(await server.call('ask', {}, call({ answers: { response: 'decline' } }).value))).toBe(
      'decline',
    )
  })

  test(`[F4] ${name}: closing the servers fails their calls`, async () => {
    const { servers, good } = open()
    const server = servers.open(good, user().value)
    await server.start()
    const waiting = expect(server.call('wait', {}, call().value)).rejects.toThrow(McpFailed)
    await servers.close()
    await waiting
    await expect(server.start()).rejects.toThrow(McpFailed)
  })
}

function call(options: { signal?: AbortSignal; answers?: McpAnswers } = {}) {
  const { signal = new AbortController().signal, answers = { response: 'cancel' } } = options
  const reported: McpProgress[] = []
  const questions: McpQuestions[] = []
  const value: McpCall = {
    signal,
    progress: (each) => void reported.push(each),
    elicit: (request) => (questions.push(request), Promise.resolve(answers)),
  }
  return { value, reported, questions }
}

function textOf({ content = [] }: Awaited<ReturnType<ReturnType<McpServers['open']>['call']>>): string {
  const [first] = content
  return first?.type === 'text' ? first.text : ''
}

const waitOptions = { timeout: 200_000, interval: 5 }
