import { expect, test } from 'vitest'
import { manualTimers } from '../../test/acp.ts'
import { callWith, failure, mcpRoom, say } from '../../test/mcp/room.ts'
import { processesWith, uniqueSeconds } from '../../test/processes.ts'
import { until } from '../../test/shells.ts'

/** Whatever a hostile server does, another server goes on, and no process is left. */
async function withGoodServer(task: (room: ReturnType<typeof mcpRoom>) => Promise<void>): Promise<void> {
  const room = mcpRoom()
  const good = room.open(room.modern()).server
  await good.start()
  await task(room)
  expect(await say(good, 'echo', { text: 'unharmed' })).toBe('unharmed')
  await room.pool.close()
  await until(() => room.processes().length === 0)
}

test('[F13] [S-46] a server that ends while it starts is in error', () =>
  withGoodServer(async (room) => {
    const { server, states } = room.open(room.hostile('exits'))
    expect(await failure(server.start())).toBe('The MCP server did not start: it ended with exit code 4.')
    expect(states).toEqual(['starting', 'error'])
    expect(room.processes()).toHaveLength(1)
  }))

test('[F13] [S-46] a server that writes a line without an end is ended, and the memory stays bounded', () =>
  withGoodServer(async (room) => {
    const before = process.memoryUsage().rss
    const { server } = room.open(room.hostile('floods'))
    expect(await failure(server.start())).toBe(
      'The MCP server did not start: it wrote a line of more than 16777216 characters.',
    )
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20)
  }))

test('[F13] S-46: junk between the messages is skipped, and only its end is kept', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('junk'))
    expect(await say(server, 'call')).toBe('after')
    expect(server.lastWords.join('').length).toBeLessThan(20_000)
  }))

test('[F13] S-46: of two answers to a call the first counts', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('twice'))
    expect(await say(server, 'call')).toBe('first')
    expect(await say(server, 'fine')).toBe('fine')
  }))

test('[F13] S-46: answers to calls that nobody made are ignored', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('wrong-ids'))
    expect(await say(server, 'call')).toBe('right')
    expect(await say(server, 'fine')).toBe('fine')
  }))

test('[F13] S-46: a result of 100 MB ends the server, the call fails once, and the memory stays bounded', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('huge'))
    await server.start()
    const before = process.memoryUsage().rss
    expect(await failure(server.call('call', {}, callWith()))).toBe(
      'The MCP server ended during the call: it wrote a line of more than 16777216 characters.',
    )
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 2 ** 20)
    expect(await say(server, 'fine')).toBe('fine')
  }))

test('[F13] S-46: a message that would set a prototype ends the server', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('proto'))
    expect(await failure(server.call('call', {}, callWith()))).toContain('the key "__proto__" is not allowed')
  }))

test('[F13] S-46: a server that dies during a call is started again', () =>
  withGoodServer(async (room) => {
    const { server, states } = room.open(room.hostile('dies'))
    expect(await failure(server.call('call', {}, callWith()))).toBe(
      'The MCP server ended during the call: it ended with exit code 9.',
    )
    expect(await say(server, 'fine')).toBe('fine')
    expect(states).toEqual(['starting', 'ready', 'starting', 'ready'])
  }))

test('[F13] S-46: a call that hangs does not hold up other calls', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('hangs'))
    const abort = new AbortController()
    const hanging = failure(server.call('call', {}, callWith({ signal: abort.signal })))
    expect(await say(server, 'fine')).toBe('fine')
    abort.abort()
    expect(await hanging).toBe('The call was cancelled.')
  }))

test('[F13] S-46: a result that is none makes the call fail', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('bad'))
    expect(await failure(server.call('call', {}, callWith()))).toMatch(/^The call failed: .+\.$/)
    expect(await say(server, 'fine')).toBe('fine')
  }))

test('[F13] S-46: a request that the host does not support is refused', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('samples'))
    expect(await say(server, 'call')).toBe('-32601')
  }))

test('[F5] S-46: a server that ignores signals, and what a server started, end with it', () =>
  withGoodServer(async (room) => {
    const seconds = uniqueSeconds()
    const uses = [room.hostile('stubborn'), room.hostile('orphans', seconds)].map(
      (config) => room.open(config).server,
    )
    await Promise.all(uses.map((server) => server.start()))
    expect(room.processes()).toHaveLength(3)
    for (const server of uses) server.close()
    await until(() => room.processes().length === 1)
    // A process that left the session of its server is ended with the host: see the test of a killed host.
    for (const pid of processesWith(seconds)) process.kill(pid, 'SIGKILL')
  }))

test('[F7.1] [F7.2] [F7] S-46: texts have no hidden characters, a name with one is left out, and the first tool of a name counts', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('names'))
    await server.start()
    expect(server.tools.map(({ name }) => name)).toEqual(['red', 'bash', 'constructor', 'good'])
    expect(server.tools[0]).toMatchObject({ description: 'kindly', title: 'T' })
    expect(server.tools[3]?.inputSchema).toEqual({ type: 'object', properties: { a: { description: 'b' } } })
    // The tool that the server calls is the one that is shown.
    expect(await say(server, 'red')).toBe('red')
    // A tool that is named like a tool of an agent is only a tool of its server.
    expect(await say(server, 'bash')).toBe('bash')
    expect(await say(server, 'constructor')).toBe('constructor')
    expect(await failure(server.call('toString', {}, callWith()))).toBe(
      'The MCP server has no tool "toString".',
    )
  }))

test('[F7] S-46: a changed description is told before another call can be decided about', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('rug-pull'))
    await server.start()
    expect(server.tools[0]?.description).toBe('adds numbers')
    await say(server, 'call')
    await until(() => server.tools[0]?.description === 'sends your files away')
  }))

test('[F7] S-46: a list of tools without an end is read up to a bound', () =>
  withGoodServer(async (room) => {
    const { server } = room.open(room.hostile('pages'))
    await server.start()
    expect(server.tools.length).toBeLessThan(100)
  }))

test('[F7] [S-57 mcpListMs] at 1,000 ms after a list of tools was read it may be read again', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later })
  const { server } = room.open(room.hostile('rug-pull'))
  await say(server, 'call')
  await until(() => [...timers].some(({ ms }) => ms === 1000))
  const { tools } = server
  await say(server, 'call')
  pass(999)
  expect(server.tools).toBe(tools)
  pass(1000)
  await until(() => server.tools !== tools)
})

test('[F7] [S-57 mcpListMs] past 1,000 ms without a change it is not read', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later })
  const { server } = room.open(room.hostile('rug-pull'))
  await say(server, 'call')
  await until(() => [...timers].some(({ ms }) => ms === 1000))
  const { tools } = server
  pass(1000)
  await say(server, 'call')
  await until(() => server.tools !== tools)
})

test('[F10] [S-57 mcpQuestions] at 32 forms all are answered', async () => {
  const room = mcpRoom()
  const { server } = room.open(room.hostile('asks', '32'))
  const call = callWith()
  await server.call('call', {}, call)
  expect(call.questions).toHaveLength(32)
})

test('[F10.2] [F10] [S-57 mcpQuestions] past 32 forms the call fails, in both eras', async () => {
  const room = mcpRoom()
  for (const [config, tool] of [
    [room.hostile('asks', '33'), 'call'],
    [room.modern(), 'ask-on'],
  ] as const) {
    const call = callWith()
    const { server } = room.open(config)
    expect(await failure(server.call(tool, {}, call))).toBe(
      'The MCP server asked more than 32 times in one call.',
    )
    expect(call.questions).toHaveLength(32)
  }
})

test('[F13] [S-57 mcpMessageLength] at 16,777,216 characters a message is accepted', async () => {
  const room = mcpRoom()
  const { server } = room.open(room.modern())
  const result = await server.call('long', { length: 16_777_216 - 1000 }, callWith())
  expect(result.success).toBe(true)
})

test('[F13] [S-57 mcpMessageLength] past 16,777,216 characters the server is ended', async () => {
  const room = mcpRoom()
  const { server } = room.open(room.modern())
  expect(await failure(server.call('long', { length: 16_777_216 }, callWith()))).toContain(
    'a line of more than 16777216',
  )
})
