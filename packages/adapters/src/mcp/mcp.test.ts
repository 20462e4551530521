import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { mcpContract } from '../../../host/src/ports/contracts/mcp.contract.ts'
import { manualTimers, realTimers, temporaryFolder } from '../../test/acp.ts'
import { callWith, failure, mcpRoom, say } from '../../test/mcp/room.ts'
import { until } from '../../test/shells.ts'

mcpContract('a server of the new era', () => {
  const room = mcpRoom()
  return { servers: room.pool, good: room.modern(), isShared: true, broken: room.hostile('exits') }
})

test('[F1] [F15] server-everything over stdio: tools, a form, progress, resources, and no process afterwards', async () => {
  const room = mcpRoom()
  const { server } = room.open(room.everything())
  expect(room.processes()).toHaveLength(0)
  await server.start()
  expect(room.processes()).toHaveLength(1)
  expect(server.tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['echo', 'get-sum']))
  expect(await say(server, 'echo', { message: 'hi' })).toBe('Echo: hi')
  expect(await say(server, 'get-sum', { a: 2, b: 3 })).toContain('5')
  const image = await server.call('get-tiny-image', {}, callWith())
  expect(image.content?.find(({ type }) => type === 'embeddedResource')).toMatchObject({
    contentType: 'image/png',
  })
  expect(server.serves).toEqual({ serverTools: {}, serverResources: {} })
  const { resources } = await server.request('resources/list', {})
  const [first] = resources as unknown as readonly { readonly uri: string }[]
  const read = await server.request('resources/read', { uri: first?.uri ?? '' })
  expect(read).toMatchObject({ contents: [{ uri: first?.uri, text: expect.any(String) }] })
  await expect(server.request('resources/read', { uri: 'x:/none' })).rejects.toMatchObject({
    name: 'McpRefused',
    code: expect.any(Number),
  })
  const structured = await server.call('get-structured-content', { location: 'New York' }, callWith())
  expect(structured.structuredContent).toHaveProperty('temperature')
  const steps = callWith()
  await server.call('trigger-long-running-operation', { duration: 1, steps: 4 }, steps)
  expect(steps.reported[0]).toMatchObject({ fraction: 0.25 })
  const name = { state: 'submitted', value: { kind: 'text', value: 'Ann' } } as const
  const asked = callWith({ answers: { response: 'accept', answers: { name } } })
  const answer = await server.call('trigger-elicitation-request', {}, asked)
  expect(JSON.stringify(answer.content)).toContain('Ann')
  expect(asked.questions[0]?.questions?.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['text', 'boolean', 'integer', 'single-select', 'multi-select']),
  )
  server.close()
  await until(() => room.processes().length === 0)
})

test('[F1] server-filesystem reads a file in its folder and none outside', async () => {
  const room = mcpRoom()
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'a.txt'), 'in the folder')
  const outside = join(mkdtempSync(join(temporaryFolder(), 'x')), 'b.txt')
  writeFileSync(outside, 'outside')
  const { server } = room.open(room.filesystem(folder))
  expect(await say(server, 'read_text_file', { path: join(folder, 'a.txt') })).toBe('in the folder')
  const refused = await server.call('read_text_file', { path: outside }, callWith())
  expect(refused.success).toBe(false)
})

test('[F1.2] [F1] a server of the older era that ends at the first unknown message is started again as such', async () => {
  const room = mcpRoom()
  const { server, states } = room.open(room.hostile('strict'))
  expect(await say(server, 'fine')).toBe('fine')
  expect(states).toEqual(['starting', 'ready'])
  expect(room.processes()).toHaveLength(1)
})

test('[F2] a program that is missing is in error, with a sentence that says what to do', async () => {
  const room = mcpRoom()
  const { server } = room.open({ command: 'no-such-program' })
  expect(await failure(server.start())).toBe(
    'The MCP server did not start: there is no program "no-such-program"; install it, or correct the command of the MCP server.',
  )
  const folder = room.open({ ...room.modern(), cwd: '/no/such/folder' })
  expect(await failure(folder.server.start())).toContain('there is no folder "/no/such/folder"')
})

test('[F2] [S-57 mcpStartMs] at 60,000 ms a server that is not ready is ended; before, it may still get ready', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later })
  const { server, states } = room.open(room.hostile('silent'))
  const starting = failure(server.start())
  await until(() => room.processes().length === 1)
  pass(59_999)
  expect(states).toEqual(['starting'])
  await until(() => [...timers].some(({ ms }) => ms === 60_000))
  pass(60_000)
  expect(await starting).toBe('The MCP server was not ready within 60 s.')
  await until(() => room.processes().length === 0)
})

test('[F2] [S-57 mcpStartMs] past 60,000 ms the server is in error, and can be started again', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later })
  const { server, states } = room.open(room.hostile('silent'))
  for (const _ of [1, 2]) {
    const starting = failure(server.start())
    await until(() => [...timers].some(({ ms }) => ms === 60_000))
    pass(60_000)
    await starting
  }
  expect(states).toEqual(['starting', 'error', 'starting', 'error'])
})

test('[F2.2] [F2] a server that is stopped while it starts is stopped, and can be started again at once', async () => {
  const room = mcpRoom()
  const { server, states } = room.open(room.modern())
  const first = failure(server.start())
  server.stop()
  const second = server.start()
  expect(await first).toBe('The MCP server was stopped.')
  await second
  expect(states).toEqual(['starting', 'stopped', 'starting', 'ready'])
  expect(room.processes()).toHaveLength(1)
})

test('[F5] a server gets the variables that every program needs, the configured ones and no others, and starts in its folder', async () => {
  const folder = temporaryFolder()
  const room = mcpRoom({ environment: { ...process.env, SOME_SECRET: 's', NODE_OPTIONS: '--no-warnings' } })
  const { server } = room.open({ ...room.modern({ GIVEN: 'yes' }), cwd: folder })
  const seen = await Promise.all(
    ['GIVEN', 'SOME_SECRET', 'NODE_OPTIONS', 'HOME'].map((name) => say(server, 'variable', { name })),
  )
  expect(seen).toEqual(['yes', 'unset', 'unset', process.env['HOME']])
  expect(await say(server, 'folder')).toBe(folder)
})

test('[F5.1] a server gets the socket of the SSH agent only if its config asks for it', async () => {
  const room = mcpRoom({ environment: { ...process.env, SSH_AUTH_SOCK: '/run/agent' } })
  const seen = await Promise.all(
    [{}, { SSH_AUTH_SOCK: '${SSH_AUTH_SOCK}' }, { SSH_AUTH_SOCK: '/own' }].map((env) =>
      say(room.open(room.modern(env)).server, 'variable', { name: 'SSH_AUTH_SOCK' }),
    ),
  )
  expect(seen).toEqual(['unset', '/run/agent', '/own'])
})

test('[F6] the last lines that a server wrote to stderr are kept, and shown when it fails, without secrets', async () => {
  const room = mcpRoom()
  const { server } = room.open({ ...room.hostile('secret'), env: { API_KEY: 'very-secret-key' } })
  expect(await failure(server.call('call', {}, callWith()))).toBe(
    'The call failed: it answered with the error "bad …".',
  )
  await until(() => server.lastWords.includes('the key is …'))
  const exits = room.open(room.hostile('exits'))
  expect(await failure(exits.server.start())).toBe('The MCP server did not start: it ended with exit code 4.')
  expect(exits.server.state).toMatchObject({
    error: { message: expect.stringContaining('cannot read the config') },
  })
})

test('[F8.1] [F8] a cancelled call is cancelled at the server too', async () => {
  const room = mcpRoom()
  const { server } = room.open(room.modern())
  await server.start()
  const abort = new AbortController()
  const waiting = failure(server.call('wait', {}, callWith({ signal: abort.signal })))
  await until(() => server.lastWords.includes('waiting'))
  abort.abort()
  await waiting
  await until(() => server.lastWords.includes('cancelled'))
})

test('[F8] [S-57 mcpCallMs] at 600,000 ms without news a call fails; progress starts the time anew', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later })
  const { server } = room.open(room.modern())
  await server.start()
  const clocks = () => [...timers].filter(({ ms }) => ms === 600_000)
  const waiting = failure(server.call('wait', {}, callWith()))
  await until(() => server.lastWords.includes('waiting'))
  const [first] = clocks()
  pass(599_999)
  expect(clocks()).toEqual([first])
  await server.call('steps', { count: 2 }, callWith())
  expect(clocks()).toEqual([first])
  pass(600_000)
  expect(await waiting).toBe('The MCP server did not answer the call within 600 s.')
})

test('[F8] [S-57 mcpCallMs] past 600,000 ms nothing of the call is left, and time does not count while a person is asked', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later })
  const { server } = room.open(room.modern())
  await server.start()
  let isAsked = false
  const call = callWith()
  const asking = server.call(
    'ask',
    {},
    {
      ...call,
      elicit: () => (
        (isAsked = true),
        new Promise((resolve) => later(700_000, () => resolve({ response: 'decline' })))
      ),
    },
  )
  await until(() => isAsked)
  expect([...timers].some(({ ms }) => ms === 600_000)).toBe(false)
  pass(600_000)
  pass(700_000)
  await expect(asking).resolves.toMatchObject({ success: true })
  expect([...timers].some(({ ms }) => ms === 600_000)).toBe(false)
})

test('[F9] every kind of content is converted', async () => {
  const room = mcpRoom()
  const { server } = room.open(room.modern())
  expect(await server.call('kinds', {}, callWith())).toEqual({
    success: true,
    content: [
      { type: 'text', text: 'a text' },
      { type: 'embeddedResource', data: 'aW1hZ2U=', contentType: 'image/png' },
      { type: 'embeddedResource', data: 'YXVkaW8=', contentType: 'audio/wav' },
      { type: 'resource', uri: 'file:///notes.txt' },
      { type: 'text', text: 'embedded' },
      { type: 'embeddedResource', data: 'YmxvYg==', contentType: 'application/zip' },
    ],
    structuredContent: { answer: 42 },
  })
})

test('[F10.1] [F10] a question of the older era belongs to the running call, and is cancelled if there is none', async () => {
  const room = mcpRoom()
  const { server } = room.open(room.legacy())
  const call = callWith({ answers: { response: 'accept' } })
  const result = await server.call('ask', {}, call)
  expect(result.content).toEqual([{ type: 'text', text: '{"count":3}' }])
  expect(call.questions).toHaveLength(1)
  const early = room.open(room.hostile('early')).server
  await early.start()
  await until(() => early.lastWords.includes('answered cancel'))
})

test('[F10.3] [F10] what a host does not support makes the call fail with a sentence', async () => {
  const room = mcpRoom()
  const { server } = room.open(room.modern())
  expect(await failure(server.call('sample', {}, callWith()))).toMatch(
    /^The (MCP server wants|call failed).*\.$/,
  )
  const call = callWith()
  expect(await failure(server.call('ask-odd', {}, call))).toMatch(/^The MCP server asked more than 32 times/)
  expect(call.questions).toHaveLength(0)
})

test('[F13] a timer of a finished call is not left', async () => {
  const timers = new Set<object>()
  const later = (ms: number, task: () => void) => {
    const timer = {}
    timers.add(timer)
    const cancel = realTimers(ms, () => (timers.delete(timer), task()))
    return () => (timers.delete(timer), cancel())
  }
  const room = mcpRoom({ later })
  const { server } = room.open(room.modern())
  await server.start()
  const before = timers.size
  for (let i = 0; i < 20; i++) await say(server, 'echo', { text: 'x' })
  expect(timers.size).toBe(before)
})
