import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { McpPool } from '@atrium/adapters/mcp'
import { Watchdog } from '@atrium/adapters/process/watchdog'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { start } from '../child.ts'
import { atMost, fact, parts, row } from '../figures.ts'
import { median } from '../percentiles.ts'
import { inTurns, mb, ms, ratioOf, timed } from '../sides.ts'
import { AgentClient } from './agent-client.ts'
import { Pipe } from './pipe.ts'

const words = 20_000
const flood = 100_000

/** Measures an ACP agent in its own process behind the real host and store, and tools of MCP servers. */
export function agentBench(wanted: readonly string[]): Promise<boolean> {
  return parts(wanted, { update, memory, begin, tools })
}

/** What one update costs on its way from the agent to a client: the host reads, reduces, stores and delivers it. */
async function update(): Promise<boolean> {
  const host = await start('host-child', 'acp')
  const client = await AgentClient.open(host.port)
  const pipe = new Pipe()
  await pipe.open()
  await client.session('ahp-session:/update', words)
  const times = await inTurns(
    { rounds: 7 },
    {
      bare: async () => (await pipe.prompt(words)).all,
      ours: async () => (await client.turn('ahp-session:/update', words)).all,
    },
  )
  pipe.close()
  client.close()
  await host.stop()
  return row(
    'an update of an ACP agent, stored and delivered',
    `${((median(times.ours) / words) * 1000).toFixed(1)} µs`,
    atMost(3, ratioOf(times.ours, times.bare), 'parsed at a bare pipe'),
  )
}

/** The memory of the host does not grow with the output of an agent: backpressure makes a fast agent wait. */
async function memory(): Promise<boolean> {
  const host = await start('host-child', 'acp')
  const client = await AgentClient.open(host.port)
  await client.session('ahp-session:/warm', flood)
  const before = await host.memory()
  let after = before
  for (let turn = 0; turn < 3; turn++) {
    await client.session(`ahp-session:/flood-${turn}`, flood)
    client.unsubscribe(`ahp-session:/flood-${turn}`)
    after = await host.memory()
  }
  client.close()
  await host.stop()
  return row(
    `RSS after four turns of ${flood} updates`,
    mb(after.rss),
    atMost(1.25, after.rss / before.rss, 'after one'),
  )
}

/** The time from creating a session to its first text, with a running and with a stopped agent. */
async function begin(): Promise<boolean> {
  const first: { cold: number; warm: number } = { cold: 0, warm: 0 }
  const times = await inTurns(
    { rounds: 9 },
    {
      bare: async () => {
        const pipe = new Pipe()
        const opened = await timed(() => pipe.open())
        const time = opened + (await pipe.prompt(1)).first
        pipe.close()
        return time
      },
      warm: async () => {
        const host = await start('host-child', 'guide', 'acp')
        const client = await AgentClient.open(host.port)
        // Warm-up: code that the host loads and compiles once is not part of the cost of an agent.
        await client.session('ahp-session:/first', 1, 'guide')
        await client.probe()
        first.warm = (await client.session('ahp-session:/warm', 1)).first
        first.cold = (await client.session('ahp-session:/cold', 1)).first
        client.close()
        await host.stop()
        return first.warm
      },
      cold: async () => first.cold,
    },
  )
  return [
    row(
      'a new session of a stopped agent, to its first text',
      ms(median(times.cold)),
      atMost(1.5, ratioOf(times.cold, times.bare), 'the agent at a bare pipe'),
    ),
    row(
      'the same of a running agent',
      ms(median(times.warm)),
      atMost(0.6, ratioOf(times.warm, times.bare), 'the agent at a bare pipe'),
    ),
  ].every(Boolean)
}

const program = fileURLToPath(new URL('../../../packages/adapters/test/mcp/server.mjs', import.meta.url))

/** A call of an MCP tool through the pool, which shares servers among sessions. */
async function tools(): Promise<boolean> {
  const mark = randomUUID()
  const later = (delay: number, task: () => void) => {
    const timer = setTimeout(task, delay).unref()
    return () => clearTimeout(timer)
  }
  const watchdog = new Watchdog(mark)
  const pool = new McpPool({ later, watchdog, mark, environment: process.env, version: '0' })
  const config = { command: process.execPath, args: [program, mark, 'bench'] }
  const bare = new Client({ name: 'bench', version: '0' }, { versionNegotiation: { mode: 'auto' } })
  try {
    await bare.connect(new StdioClientTransport(config))
    await bare.listTools()
    const pooled = pool.open(config, {
      session: 'ahp-session:/tools',
      principal: 'bench',
      consent: '',
      token: () => undefined,
      changed: () => {},
    })
    await pooled.start()
    const { signal } = new AbortController()
    const call = { signal, progress: () => {}, elicit: async () => ({ response: 'cancel' as const }) }
    const times = await inTurns(
      { rounds: 3000, warm: 500 },
      {
        ours: () => timed(() => pooled.call('echo', { text: 'hello' }, call)),
        bare: () => timed(() => bare.callTool({ name: 'echo', arguments: { text: 'hello' } })),
      },
    )
    pooled.close()
    fact('a call by the bare client', ms(median(times.bare), 2))
    return row(
      'a call of an MCP tool through the pool, p50',
      ms(median(times.ours), 2),
      atMost(1.3, median(times.ours) / median(times.bare), 'the bare client'),
    )
  } finally {
    await bare.close()
    await pool.close()
  }
}
