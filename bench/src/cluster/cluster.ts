import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../percentiles.ts'
import { serve } from '../serve.ts'
import { check, fact, row } from '../table.ts'
import { Wire, masked } from '../wire.ts'
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
  const tables: { readonly [name: string]: () => Promise<boolean> } = {
    write: () => writeTable(database, folder),
    failover: () => failoverTable(database, folder),
  }
  let met = true
  try {
    for (const [name, table] of Object.entries(tables))
      if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  } finally {
    await database.close()
    rmSync(folder, { recursive: true, force: true })
  }
  return met
}

async function writeTable(database: Database, folder: string): Promise<boolean> {
  const usual = { ATRIUM_WITHOUT_TOKEN: '1', ATRIUM_PORT: '0', HOME: folder }
  const store = { ATRIUM_STORE: `${database.url}?schema=bench`, PGPASSWORD: database.password }
  const host = await serve(join(folder, 'write'), [], { ...usual, ...store })
  const sqlite = await serve(join(folder, 'sqlite'), [], usual)
  const client = await database.connect()
  try {
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    fact('the server', `PostgreSQL ${rows[0]?.server_version}`)
    const [port, other] = [portOf(host.url), portOf(sqlite.url)]
    const bare = await BareLog.create(client)
    const batches = async () => Number((await client.query('SELECT batch FROM bench.bounds')).rows[0].batch)
    for (const each of [port, other])
      await (await initialized(each, 'maker')).ask('createSession', { channel: session })
    const met = await burstRow(port, bare, { batches, sqlite: other })
    return (await echoRow(port, bare)) && met
  } finally {
    await client.end()
    for (const { child, exit } of [host, sqlite]) {
      child.kill('SIGTERM')
      await exit
    }
  }
}

/** Measures bursts of all sides in turn, so that other load on the machine affects all alike. */
async function burstRow(port: number, bare: BareLog, beside: Beside): Promise<boolean> {
  const [ours, files, theirs, made]: [number[], number[], number[], number[]] = [[], [], [], []]
  for (let round = 0; round < 11; round++) {
    const actions = Array.from({ length: burstLength }, (_, i) => rename(`round ${round} title ${i}`))
    const batch = await beside.batches()
    const mine = await burst(port, round, actions)
    const batches = (await beside.batches()) - batch
    const file = await burst(beside.sqlite, round, actions)
    const bared = await bare.burst(actions.map((action, i) => logRow(action, `burst-${round}`, i + 1)))
    // The first round is a warm-up.
    if (round === 0) continue
    ours.push(mine)
    files.push(file)
    theirs.push(bared)
    made.push(batches)
  }
  fact('batches of the host in a burst', `${median(made)}, and 10 bare ones`)
  const ratio = (median(files) / median(ours)).toFixed(2)
  fact('the same burst to a host on SQLite', `${rate(files)}, so PostgreSQL has ${ratio}x of it`)
  return row('durable echoes of a burst of 5,000', rate(ours), median(theirs) / median(ours), {
    atLeast: 0.6,
  })
}

const rate = (times: readonly number[]) => `${((burstLength / median(times)) * 1000).toFixed(0)}/s`

/** What the host on PostgreSQL is compared with, and how many batches it has written. */
interface Beside {
  readonly batches: () => Promise<number>
  /** The port of a host on SQLite. */
  readonly sqlite: number
}

/** Sends actions at once. Returns the milliseconds until all have come back. */
async function burst(port: number, round: number, actions: readonly object[]): Promise<number> {
  const wire = await initialized(port, `burst-${round}`)
  await wire.ask('subscribe', { channel: session })
  const frames = Buffer.concat(actions.map((action, i) => masked(dispatch(i + 1, action))))
  const before = wire.frames
  const began = performance.now()
  wire.write(frames)
  await wire.until(() => wire.frames >= before + actions.length)
  const ms = performance.now() - began
  wire.close()
  return ms
}

async function echoRow(port: number, bare: BareLog): Promise<boolean> {
  const wire = await initialized(port, 'echo')
  await wire.ask('subscribe', { channel: session })
  const [ours, theirs, pings]: [number[], number[], number[]] = [[], [], []]
  for (let i = 0; i < 500; i++) {
    const asked = performance.now()
    await wire.ask('ping', { channel: 'ahp-root://' })
    const ping = performance.now() - asked
    const action = rename(`one by one ${i}`)
    const { frames } = wire
    const began = performance.now()
    wire.write(masked(dispatch(i + 1, action)))
    await wire.until(() => wire.frames > frames)
    const mine = performance.now() - began
    const bared = await bare.commit(logRow(action, 'echo', i + 1))
    // The first ones are a warm-up.
    if (i < 100) continue
    ours.push(mine)
    theirs.push(bared)
    pings.push(ping)
  }
  wire.close()
  fact('one bare commit (p50)', `${median(theirs).toFixed(2)} ms`)
  fact('a ping of the host, which stores nothing (p50)', `${median(pings).toFixed(2)} ms`)
  const what = 'the echo of one action (p50), to one bare commit'
  return row(what, `${median(ours).toFixed(2)} ms`, median(ours) / median(theirs), { atMost: 1.3 })
}

async function failoverTable(database: Database, folder: string): Promise<boolean> {
  const lease = 15
  const killed = await failover(database, join(folder, 'killed'), lease, 'SIGKILL')
  const figure = `${(killed / lease).toFixed(2)} leases of ${lease} s  goal at most 1.5`
  const met = check('kill -9 of the owner to the next accepted action', figure, killed / lease <= 1.5)
  const stopped = await failover(database, join(folder, 'stopped'), lease, 'SIGTERM')
  const stop = `${stopped.toFixed(2)} s  goal at most 1.5 s`
  return check('SIGTERM of the owner to the next accepted action', stop, stopped <= 1.5) && met
}

async function initialized(port: number, clientId: string): Promise<Wire> {
  const wire = await Wire.open(port)
  await wire.ask('initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId })
  return wire
}

const portOf = (url: string) => Number(new URL(url).port)

const rename = (title: string) => ({ type: 'session/titleChanged', title })

const dispatch = (clientSeq: number, action: object) =>
  JSON.stringify({
    jsonrpc: '2.0',
    method: 'dispatchAction',
    params: { channel: session, clientSeq, action },
  })

const logRow = (action: object, clientId: string, clientSeq: number): LogRow => ({
  channel: session,
  action: JSON.stringify(action),
  origin: JSON.stringify({ clientId, clientSeq }),
})
