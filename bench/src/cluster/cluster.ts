import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { atLeast, atMost, fact, parts, row } from '../figures.ts'
import { opened, root, titleChange } from '../messages.ts'
import { median } from '../percentiles.ts'
import { serve } from '../serve.ts'
import { inTurns, ms, ratioOf } from '../sides.ts'
import { BareLog } from './bare-log.ts'
import type { LogRow } from './bare-log.ts'
import { openDatabase } from './database.ts'
import type { Database } from './database.ts'
import { failover } from './failover.ts'

const session = 'ahp-session:/bench'
const burstLength = 5000

/**
 * Measures `atrium serve` on PostgreSQL beside bare inserts into the same server, and a failover. ATRIUM_POSTGRES_URL names a
 * server; without it, one is started.
 */
export async function clusterBench(wanted: readonly string[]): Promise<boolean> {
  const database = await openDatabase()
  if (!database) {
    console.log('  skipped: there is no PostgreSQL; install it, or set ATRIUM_POSTGRES_URL')
    return true
  }
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'))
  try {
    return await parts(wanted, {
      write: () => writeTable(database, folder),
      failover: () => failoverTable(database, folder),
    })
  } finally {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function writeTable(database: Database, folder: string): Promise<boolean> {
  const usual = { ATRIUM_WITHOUT_TOKEN: '1', ATRIUM_PORT: '0', HOME: folder }
  const store = { ATRIUM_STORE: `${database.url}?schema=bench`, PGPASSWORD: database.password }
  const host = await serve(join(folder, 'write'), { ...usual, ...store })
  const sqlite = await serve(join(folder, 'sqlite'), usual)
  const client = await database.connect()
  try {
    const bare = await BareLog.create(client)
    const [ours, files] = [{ port: portOf(host.url) }, { port: portOf(sqlite.url) }]
    for (const each of [ours, files])
      await (await opened(each, 'maker')).ask('createSession', { channel: session })
    const met = await burstRow(ours, files, bare)
    return (await echoRow(ours, bare)) && met
  } finally {
    await client.end()
    for (const { child, exit } of [host, sqlite]) {
      child.kill('SIGTERM')
      await exit
    }
  }
}

interface Server {
  readonly port: number
}

async function burstRow(ours: Server, files: Server, bare: BareLog): Promise<boolean> {
  const messages = (round: number) =>
    Array.from({ length: burstLength }, (_, i) => titleChange(session, i + 1, `round ${round} title ${i}`))
  const burst = (server: Server) => async (round: number) => {
    const wire = await opened(server, `burst-${round}`)
    await wire.ask('subscribe', { channel: session })
    const time = await wire.echo(messages(round))
    wire.close()
    return time
  }
  const times = await inTurns(
    { rounds: 10 },
    {
      ours: burst(ours),
      files: burst(files),
      bare: (round) => bare.burst(messages(round).map((text, i) => logRow(text, `burst-${round}`, i + 1))),
    },
  )
  const rate = (all: readonly number[]) => `${((burstLength / median(all)) * 1000).toFixed(0)}/s`
  fact('the same burst to a host on SQLite', rate(times.files))
  return row(
    'durable echoes of a burst of 5,000 on PostgreSQL',
    rate(times.ours),
    atLeast(0.6, ratioOf(times.bare, times.ours), 'the rate of bare inserts'),
  )
}

async function echoRow(ours: Server, bare: BareLog): Promise<boolean> {
  const wire = await opened(ours, 'echo')
  await wire.ask('subscribe', { channel: session })
  const action = (round: number) => titleChange(session, round + 1, `one by one ${round}`)
  const times = await inTurns(
    { rounds: 400, warm: 100 },
    {
      ping: async () => {
        const began = performance.now()
        await wire.ask('ping', { channel: root })
        return performance.now() - began
      },
      ours: (round) => wire.echo([action(round)]),
      bare: (round) => bare.commit(logRow(action(round), 'echo', round + 1)),
    },
  )
  wire.close()
  fact('a ping of the host, which stores nothing (p50)', ms(median(times.ping), 2))
  return row(
    'the echo of one action on PostgreSQL, p50',
    ms(median(times.ours), 2),
    atMost(1.3, median(times.ours) / median(times.bare), 'one bare commit'),
  )
}

async function failoverTable(database: Database, folder: string): Promise<boolean> {
  const lease = 15
  const killed = await failover(database, join(folder, 'killed'), lease, 'SIGKILL')
  const stopped = await failover(database, join(folder, 'stopped'), lease, 'SIGTERM')
  return [
    row(
      'kill -9 of the owner to the next accepted action',
      `${killed.toFixed(1)} s`,
      atMost(1.5, killed / lease, 'the lease'),
    ),
    row(
      'SIGTERM of the owner to the next accepted action',
      `${stopped.toFixed(2)} s`,
      atMost(0.1, stopped / lease, 'the lease'),
    ),
  ].every(Boolean)
}

const portOf = (url: string) => Number(new URL(url).port)

/** The row that a host stores for a dispatched action. */
function logRow(message: string, clientId: string, clientSeq: number): LogRow {
  // The message is that of `titleChange`.
  const { params } = JSON.parse(message) as { readonly params: { readonly action: object } }
  return {
    channel: session,
    action: JSON.stringify(params.action),
    origin: JSON.stringify({ clientId, clientSeq }),
  }
}
