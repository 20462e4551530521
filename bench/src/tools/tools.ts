import { randomUUID } from 'node:crypto'
import { readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { McpPool } from '@atrium/adapters/mcp'
import { Watchdog } from '@atrium/adapters/process/watchdog'
import type { McpServer } from '@atrium/host/ports/mcp'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { percentile } from '../percentiles.ts'
import { check, fact, row } from '../table.ts'
import { pluginsBench } from './plugins.ts'

const calls = 500
const rounds = 6

/**
 * Measures MCP tool calls through the pool, which shares MCP servers among sessions: the time of a call, relative to
 * the bare client of the MCP library, and the number of server processes of 20 sessions.
 */
export async function toolsBench(): Promise<boolean> {
  console.log(`\ntools: ${calls} calls of a tool, ${rounds} times, one after the other`)
  const word = randomUUID()
  const mark = randomUUID()
  const later = (ms: number, task: () => void) => {
    const timer = setTimeout(task, ms).unref()
    return () => clearTimeout(timer)
  }
  const pool = new McpPool({
    later,
    watchdog: new Watchdog(mark),
    mark,
    environment: process.env,
    version: '0',
  })
  const config = (name: string) => ({ command: process.execPath, args: [program, word, name] })
  const open = (session: number, name: string) =>
    pool.open(config(name), {
      session: `ahp-session:/${session}`,
      principal: 'bench',
      consent: '',
      token: () => undefined,
      changed: () => {},
    })
  const bare = new Client({ name: 'bench', version: '0' }, { versionNegotiation: { mode: 'auto' } })
  try {
    const { command, args } = config('bare')
    await bare.connect(new StdioClientTransport({ command, args }))
    await bare.listTools()
    const pooled = open(0, 'bare')
    await pooled.start()
    const ratio = await compare(pooled, bare)
    const met = row(
      'a call through the pool',
      `${ratio.pooledUs.toFixed(0)} us`,
      ratio.pooledUs / ratio.bareUs,
      {
        atMost: 1.3,
      },
    )
    fact('the same call by the bare client', `${ratio.bareUs.toFixed(0)} us`)
    await bare.close()
    pooled.close()
    const uses = Array.from({ length: 20 }, (_, session) =>
      ['a', 'b', 'c'].map((name) => open(session, name)),
    ).flat()
    await Promise.all(uses.map((server) => server.start()))
    const during = processesWith(word)
    for (const server of uses) server.close()
    await pool.close()
    const after = processesWith(word)
    const counted = check(
      'processes of 20 sessions with the same 3 servers',
      `${during}, goal 3`,
      during === 3,
    )
    const ended = check('processes after the last session', `${after}, goal 0`, after === 0)
    return (await pluginsBench()) && ended && counted && met
  } finally {
    await bare.close()
    await pool.close()
  }
}

/**
 * The median time of a call through the pool and by the bare client, in microseconds, each in its fastest round. The
 * two take turns, so that a busy machine slows both.
 */
async function compare(pooled: McpServer, bare: Client): Promise<{ pooledUs: number; bareUs: number }> {
  const { signal } = new AbortController()
  const call = { signal, progress: () => {}, elicit: () => Promise.resolve({ response: 'cancel' as const }) }
  const viaPool = () => pooled.call('echo', { text: 'hello' }, call)
  const viaBare = () => bare.callTool({ name: 'echo', arguments: { text: 'hello' } })
  const medians = { pooled: [] as number[], bare: [] as number[] }
  for (let round = 0; round <= rounds; round++) {
    const [bareUs, pooledUs] = [await median(viaBare), await median(viaPool)]
    // The first round warms both up.
    if (round === 0) continue
    medians.bare.push(bareUs)
    medians.pooled.push(pooledUs)
  }
  return { pooledUs: Math.min(...medians.pooled), bareUs: Math.min(...medians.bare) }
}

async function median(call: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < calls; i++) {
    const before = performance.now()
    await call()
    times.push((performance.now() - before) * 1000)
  }
  return percentile(
    times.toSorted((a, b) => a - b),
    50,
  )
}

/** The number of processes with a word in their command line. */
function processesWith(word: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word)
    } catch {
      return false
    }
  }).length
}

const program = fileURLToPath(new URL('../../../packages/adapters/test/mcp/server.mjs', import.meta.url))
