import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { mcpContract } from '../../../host/src/ports/contracts/mcp.contract.ts'
import { manualTimers } from '../../test/acp.ts'
import { callWith, failure, mcpRoom, say } from '../../test/mcp/room.ts'
import { processesWith, uniqueSeconds } from '../../test/processes.ts'
import { until } from '../../test/shells.ts'

const session = (number: number) => ({ session: `ahp-session:/${number}` })

test('[F4.2] [F4] 20 sessions with the same 3 servers of the new era have 3 processes, and none when the last has closed', async () => {
  const room = mcpRoom()
  expect(room.processes()).toHaveLength(0)
  const configs = ['a', 'b', 'c'].map((NAME) => room.modern({ NAME }))
  const uses = Array.from({ length: 20 }, (_, i) =>
    configs.map((config) => room.open(config, session(i)).server),
  ).flat()
  await Promise.all(uses.map((server) => server.start()))
  expect(room.processes()).toHaveLength(3)
  const names = await Promise.all(uses.map((server) => say(server, 'variable', { name: 'NAME' })))
  expect(names).toEqual(Array.from({ length: 20 }, () => ['a', 'b', 'c']).flat())
  for (const server of uses.slice(1)) server.close()
  const [last] = uses
  expect(last && (await say(last, 'echo', { text: 'on' }))).toBe('on')
  await until(() => room.processes().length === 1)
  last?.close()
  await until(() => room.processes().length === 0)
})

const differences = {
  command: { command: 'node' },
  args: { args: ['x'] },
  env: { env: { A: '2' } },
  cwd: { cwd: '/' },
  principal: { principal: 'bob' },
  consent: { consent: 'other' },
}

test.each(Object.entries(differences))(
  '[F4] uses that differ in %s do not share a server',
  async (_, change) => {
    const room = mcpRoom()
    const config = room.modern({ A: '1' })
    const args = [...(config.args ?? []), ...('args' in change ? change.args : [])]
    const user = 'principal' in change || 'consent' in change ? change : {}
    const uses = [room.open(config), room.open({ ...config, ...change, args }, user)]
    const pids = await Promise.all(uses.map(({ server }) => say(server, 'pid')))
    expect(new Set(pids).size).toBe(2)
  },
)

test('[F4] the order of the variables does not matter', async () => {
  const room = mcpRoom()
  const uses = [room.modern({ A: '1', B: '2' }), room.modern({ B: '2', A: '1' })].map(
    (config) => room.open(config).server,
  )
  const pids = await Promise.all(uses.map((server) => say(server, 'pid')))
  expect(new Set(pids).size).toBe(1)
})

test('[F4.1] [F4] a server of the older era is not shared between sessions, also if they start it at the same time', async () => {
  const room = mcpRoom()
  const config = room.legacy()
  const uses = [1, 1, 2, 3].map((number) => room.open(config, session(number)))
  const pids = await Promise.all(uses.map(({ server }) => say(server, 'pid')))
  expect(pids[0]).toBe(pids[1])
  expect(new Set(pids).size).toBe(3)
  expect(uses.map(({ states }) => states.at(-1))).toEqual(['ready', 'ready', 'ready', 'ready'])
  const late = room.open(config, session(4))
  expect(pids).not.toContain(await say(late.server, 'pid'))
  expect(room.processes()).toHaveLength(4)
  // The questions of each session go to that session.
  const calls = uses.map(() => callWith())
  await Promise.all(uses.slice(1).map(({ server }, i) => server.call('ask', {}, calls[i] ?? callWith())))
  expect(calls.map(({ questions }) => questions.length)).toEqual([1, 1, 1, 0])
  for (const { server } of [...uses, late]) server.close()
  await until(() => room.processes().length === 0)
})

test('[F4.2] [F4] [S-57 mcpIdleMs] at 300,000 ms without a call a server is stopped, and the next call starts it', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later })
  const { server, states } = room.open(room.modern())
  await server.start()
  const idle = () => [...timers].filter(({ ms }) => ms === 300_000)
  const waiting = failure(server.call('wait', {}, callWith()))
  await until(() => server.lastWords.includes('waiting'))
  // While a call runs the time does not count.
  expect(idle()).toEqual([])
  server.stop()
  await waiting
  await server.start()
  const { tools } = server
  pass(299_999)
  expect(server.state).toEqual({ kind: 'ready' })
  pass(300_000)
  expect(server.state).toEqual({ kind: 'stopped' })
  expect(server.tools).toBe(tools)
  await until(() => room.processes().length === 0)
  expect(await say(server, 'echo', { text: 'again' })).toBe('again')
  expect(states.slice(-3)).toEqual(['stopped', 'starting', 'ready'])
})

test('[F4] [S-57 mcpIdleMs] past 300,000 ms with calls in between a server still runs', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later })
  const { server } = room.open(room.modern())
  const pid = await say(server, 'pid')
  const [first] = [...timers].filter(({ ms }) => ms === 300_000)
  expect(await say(server, 'pid')).toBe(pid)
  // The call has replaced the timer.
  expect(timers).not.toContain(first)
  pass(299_999)
  expect(await say(server, 'pid')).toBe(pid)
})

test('[F5] [S-57 mcpServers] at 128 running servers all run', async () => {
  const room = mcpRoom({ limits: { mcpServers: 2 } })
  const uses = ['a', 'b'].map((NAME) => room.open(room.modern({ NAME })).server)
  await Promise.all(uses.map((server) => server.start()))
  expect(room.processes()).toHaveLength(2)
})

test('[F5] [S-57 mcpServers] past 128 running servers a further one is not started, until one has stopped', async () => {
  const room = mcpRoom({ limits: { mcpServers: 1 } })
  const first = room.open(room.modern({ NAME: 'a' })).server
  const { server, states } = room.open(room.modern({ NAME: 'b' }))
  await first.start()
  expect(await failure(server.start())).toBe('1 MCP servers run already. Stop one of them first.')
  expect(states).toEqual(['starting', 'error'])
  first.stop()
  await server.start()
})

test('[F3] [S-57 mcpRestarts] at 5 restarts a server that crashes is started again, after pauses that double', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later })
  const { server } = room.open(room.modern())
  await server.start()
  for (const ms of [500, 1000, 2000, 4000, 8000]) {
    expect(await failure(server.call('crash', {}, callWith()))).toContain('it ended with exit code 3')
    expect(server.state).toEqual({ kind: 'starting' })
    await until(() => [...timers].some((timer) => timer.ms === ms))
    pass(ms)
    await until(() => server.state.kind === 'ready')
  }
})

test('[F3] [S-57 mcpRestarts] past 5 restarts it is in error until somebody starts it', async () => {
  const { later, pass } = manualTimers()
  const room = mcpRoom({ later })
  const { server } = room.open(room.modern())
  await server.start()
  for (const _ of Array.from({ length: 6 })) {
    await failure(server.call('crash', {}, callWith()))
    await until(() => (pass(8000), server.state.kind !== 'starting'))
  }
  expect(server.state).toMatchObject({
    kind: 'error',
    error: { message: 'The MCP server ended again, after 5 restarts: it ended with exit code 3.' },
  })
  expect(server.tools).toEqual([])
  await server.start()
  expect(await say(server, 'echo', { text: 'on' })).toBe('on')
})

test('[F3] [S-57 mcpSteadyMs] at 60,000 ms without a crash earlier restarts do not count', async () => {
  const { later, pass, timers } = manualTimers()
  const room = mcpRoom({ later, limits: { mcpRestarts: 1 } })
  const { server } = room.open(room.modern())
  await server.start()
  for (const _ of [1, 2, 3]) {
    await failure(server.call('crash', {}, callWith()))
    await until(() => [...timers].some(({ ms }) => ms === 500))
    pass(500)
    await until(() => server.state.kind === 'ready')
    pass(60_000)
  }
})

test('[F3] [S-57 mcpSteadyMs] past 60,000 ms counts once: a server that crashes sooner is in error', async () => {
  const { later, pass } = manualTimers()
  const room = mcpRoom({ later, limits: { mcpRestarts: 1 } })
  const { server } = room.open(room.modern())
  await server.start()
  pass(60_000)
  for (const _ of [1, 2]) {
    await failure(server.call('crash', {}, callWith()))
    await until(() => (pass(59_999), server.state.kind !== 'starting'))
  }
  expect(server.state.kind).toBe('error')
})

test('[F3.1] [F3] a server that nobody wants any more is not started again', async () => {
  const { later, pass } = manualTimers()
  const room = mcpRoom({ later })
  const { server, states } = room.open(room.modern())
  await server.start()
  await failure(server.call('crash', {}, callWith()))
  server.stop()
  pass(500)
  expect(states).toEqual(['starting', 'ready', 'starting', 'stopped'])
  await until(() => room.processes().length === 0)
})

test('[F5] the servers of a killed host end, with the processes that they started', async () => {
  const seconds = uniqueSeconds()
  const room = mcpRoom()
  const config = room.hostile('orphans', seconds)
  const host = spawn(process.execPath, ['--input-type=module', '-e', hosting], {
    env: {
      ...process.env,
      MODULES: new URL('../../dist/', import.meta.url).href,
      CONFIG: JSON.stringify(config),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(createInterface(host.stdout), 'line')
  await until(() => processesWith(seconds).length >= 2 && room.processes().length > 0)
  host.kill('SIGKILL')
  await until(() => processesWith(seconds).length === 0 && room.processes().length === 0)
})

test('[F1.3] [F1] only one file loads the MCP library, and only when it is called', () => {
  const folder = new URL('../../dist/mcp/', import.meta.url)
  const files = readdirSync(folder).filter((name) => name.endsWith('.js'))
  const naming = files.filter((name) =>
    readFileSync(new URL(name, folder), 'utf8').includes("'@modelcontextprotocol/"),
  )
  expect(naming).toEqual(['library.js'])
  const text = readFileSync(new URL('library.js', folder), 'utf8')
  expect(text).not.toMatch(/^(?:import|export)\b.*'@modelcontextprotocol/m)
})

mcpContract('a server of the older era, for one session', () => {
  const room = mcpRoom()
  return { servers: room.pool, good: room.legacy(), isShared: false, broken: room.hostile('exits') }
})

/** A script that runs a host. The script prints a line when the MCP server of the host runs. */
const hosting = `
  const { McpPool } = await import(process.env.MODULES + 'mcp/mcp.js')
  const { Watchdog } = await import(process.env.MODULES + 'process/watchdog.js')
  const later = (ms, task) => { const timer = setTimeout(task, ms); return () => clearTimeout(timer) }
  const mark = 'killed-' + process.pid
  const pool = new McpPool({ later, watchdog: new Watchdog(mark), mark, environment: process.env, version: '0' })
  const user = { session: 's', principal: 'p', consent: 'c', token() {}, changed() {} }
  await pool.open(JSON.parse(process.env.CONFIG), user).start()
  console.log('up')
  setInterval(() => {}, 1e6)
`
