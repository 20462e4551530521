import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { start } from './child.ts'
import type { Child } from './child.ts'
import { median } from './percentiles.ts'
import { row } from './table.ts'
import { Wire, masked } from './wire.ts'

const session = 'ahp-session:/bench'
const rounds = 7

/** Measures the host relative to a bare `ws` host, in one run on one machine. */
export async function hostBench(wanted: readonly string[]): Promise<boolean> {
  const [host, bare] = await Promise.all([start('host-child'), start('bare-child')])
  await (await initialized(host, 'maker')).ask('createSession', { channel: session })
  const tables: { readonly [name: string]: () => Promise<boolean> } = {
    burst: () => burstTable(host, bare),
    fan: () => fanOutTable(host, bare),
    replay: () => replayTable(host, bare),
    memory: () => memoryTable(bare),
    growth: () => growthTable(host),
    rows: rowsTable,
    fsync: fsyncTable,
  }
  let met = true
  for (const [name, table] of Object.entries(tables))
    if (wanted.length === 0 || wanted.includes(name)) met = (await table()) && met
  await Promise.all([host.stop(), bare.stop()])
  return met
}

async function burstTable(host: Child, bare: Child): Promise<boolean> {
  const ours: number[] = []
  const theirs: number[] = []
  const late: number[] = []
  for (let round = 0; round < rounds; round++) {
    const mine = await burst(host, round)
    ours.push(mine.rate)
    late.push(mine.p99)
    theirs.push((await burst(bare, round)).rate)
  }
  const what = `durable echoes of a burst of 5,000 (p99 ${median(late).toFixed(0)} ms)`
  return row(what, `${median(ours).toFixed(0)}/s`, median(ours) / median(theirs), { atLeast: 0.6 })
}

async function burst(child: Child, round: number): Promise<{ rate: number; p99: number }> {
  const wire = await initialized(child, `burst-${round}`)
  await wire.ask('subscribe', { channel: session })
  const count = 5000
  const frames = Buffer.concat(
    Array.from({ length: count }, (_, i) => masked(titleChange(i + 1, `round ${round} title ${i}`))),
  )
  const before = wire.frames
  wire.times = []
  const began = performance.now()
  wire.write(frames)
  await wire.until(() => wire.frames >= before + count)
  const seconds = (performance.now() - began) / 1000
  const p99 = (wire.times[Math.floor(count * 0.99)] ?? began) - began
  wire.close()
  return { rate: count / seconds, p99 }
}

async function fanOutTable(host: Child, bare: Child): Promise<boolean> {
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < 5; round++) {
    ours.push(await fanOut(host, round))
    theirs.push(await fanOut(bare, round))
  }
  return row('deliveries to 50 subscribers', `${median(ours).toFixed(0)}/s`, median(ours) / median(theirs), {
    atLeast: 1,
  })
}

async function fanOut(child: Child, round: number): Promise<number> {
  const wires = await Promise.all(
    Array.from({ length: 50 }, (_, i) => initialized(child, `fan-${round}-${i}`)),
  )
  for (const wire of wires) await wire.ask('subscribe', { channel: session })
  const count = 1000
  const before = wires.map((wire) => wire.frames)
  const frames = Buffer.concat(
    Array.from({ length: count }, (_, i) => masked(titleChange(i + 1, `fan ${round} ${i}`))),
  )
  const began = performance.now()
  wires[0]?.write(frames)
  await Promise.all(wires.map((wire, i) => wire.until(() => wire.frames >= (before[i] ?? 0) + count)))
  const seconds = (performance.now() - began) / 1000
  for (const wire of wires) wire.close()
  return (count * wires.length) / seconds
}

async function replayTable(host: Child, bare: Child): Promise<boolean> {
  const count = 10_000
  const reader = await initialized(host, 'reader')
  const answer = JSON.parse(await reader.ask('subscribe', { channel: session })) as {
    result: { snapshot: { fromSeq: number } }
  }
  reader.close()
  const writer = await initialized(host, 'writer')
  await writer.ask('subscribe', { channel: session })
  const before = writer.frames
  writer.write(
    Buffer.concat(Array.from({ length: count }, (_, i) => masked(titleChange(i + 1, `missed ${i}`)))),
  )
  await writer.until(() => writer.frames >= before + count)
  const lastSeenServerSeq = answer.result.snapshot.fromSeq
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round < 15; round++) {
    const back = await Wire.open(host.port)
    const began = performance.now()
    const text = await back.ask('reconnect', {
      clientId: 'reader',
      lastSeenServerSeq,
      subscriptions: [session],
    })
    ours.push(performance.now() - began)
    if (!text.includes('"type":"replay"')) throw new Error(`no replay: ${text.slice(0, 200)}`)
    const bytes = Math.round(text.length / count)
    back.close()
    theirs.push(await blast(bare, count, bytes))
  }
  const what = 'replay of 10,000, relative to 10,000 ws.send'
  return row(what, `${median(ours).toFixed(0)} ms`, median(ours) / median(theirs), { atMost: 1 })
}

async function blast(bare: Child, count: number, bytes: number): Promise<number> {
  const wire = await Wire.open(bare.port)
  const began = performance.now()
  wire.send({ jsonrpc: '2.0', method: 'blast', params: { count, bytes } })
  await wire.until(() => wire.frames >= count)
  wire.close()
  return performance.now() - began
}

async function memoryTable(bare: Child): Promise<boolean> {
  const fresh = await start('host-child')
  const idle = await fresh.memory()
  await (await initialized(fresh, 'maker')).ask('createSession', { channel: session })
  const other = await start('bare-child')
  const bareIdle = await other.memory()
  await other.stop()
  const dispatchMany = async (child: Child, total: number) => {
    for (let round = 0; round < total / 5000; round++) await burst(child, round)
  }
  await dispatchMany(fresh, 50_000)
  const half = await fresh.memory()
  await dispatchMany(fresh, 50_000)
  const full = await fresh.memory()
  await dispatchMany(bare, 100_000)
  const bareFull = await bare.memory()
  await fresh.stop()
  const grown = (full.heap - half.heap) / 1e6
  const rows = [
    row('RSS idle', mb(idle.rss), idle.rss / bareIdle.rss, { atMost: 2 }),
    row('RSS after 100,000 actions', mb(full.rss), full.rss / bareFull.rss, { atMost: 2.5 }),
  ]
  console.log(
    `  heap after a collection grew by ${grown.toFixed(2)} MB over the last 50,000 actions: ${grown <= 2 ? 'met' : 'MISSED'} (goal 2 MB)`,
  )
  return rows.every(Boolean) && grown <= 2
}

async function growthTable(host: Child): Promise<boolean> {
  const one = await best(() => burst(host, 100))
  const maker = await initialized(host, 'many')
  for (let i = 0; i < 10_000; i++) {
    const params = { channel: `ahp-session:/many-${i}` }
    // Every 100th request is awaited, to stay below the limit of open requests on a connection.
    if (i % 100 === 99) await maker.ask('createSession', params)
    else maker.send({ jsonrpc: '2.0', id: `many ${i}`, method: 'createSession', params })
  }
  await maker.ask('listSessions', { channel: 'ahp-root://', limit: 1 })
  const many = await best(() => burst(host, 200))
  return row('an append with 10,000 sessions, relative to 1', `${(1e6 / many).toFixed(0)} µs`, one / many, {
    atMost: 1.5,
  })
}

/** Measures an append to a store of 1,000,000 rows, relative to one of 25,000 rows. */
async function rowsTable(): Promise<boolean> {
  const host = await start('host-child')
  await (await initialized(host, 'maker')).ask('createSession', { channel: session })
  const few = await best(() => burst(host, 1))
  for (let round = 0; round < 195; round++) await burst(host, 10 + round)
  const many = await best(() => burst(host, 1000))
  await host.stop()
  return row('an append to 1,000,000 rows, relative to 25,000', `${(1e6 / many).toFixed(0)} µs`, few / many, {
    atMost: 1.5,
  })
}

/** Counts fsync calls with strace. Actions that are sent one at a time need one fsync each before their echo. */
async function fsyncTable(): Promise<boolean> {
  if (spawnSync('strace', ['-V']).error) {
    console.log('  skipped: strace is not installed')
    return true
  }
  const host = await start('host-child', ['strace', '-f', '-qq', '-e', 'trace=fsync,fdatasync', '-o', trace])
  const wire = await initialized(host, 'maker')
  await wire.ask('createSession', { channel: session })
  await wire.ask('subscribe', { channel: session })
  const before = syncs()
  for (let i = 0; i < 200; i++) {
    const frames = wire.frames
    wire.write(masked(titleChange(i + 1, `one by one ${i}`)))
    await wire.until(() => wire.frames > frames)
  }
  const made = syncs() - before
  await burst(host, 1)
  console.log(`  200 echoes one by one took ${made} syncs, a burst of 5,000 took ${syncs() - before - made}`)
  await host.stop()
  rmSync(trace, { force: true })
  return made >= 200
}

const trace = join(tmpdir(), `atrium-bench-${process.pid}.trace`)

function syncs(): number {
  return readFileSync(trace, 'utf8')
    .split('\n')
    .filter((line) => /f(data)?sync\(\d+\) += 0/.test(line)).length
}

async function best(run: () => Promise<{ rate: number }>): Promise<number> {
  const rates: number[] = []
  for (let i = 0; i < 5; i++) rates.push((await run()).rate)
  return Math.max(...rates)
}

async function initialized(child: Child, clientId: string): Promise<Wire> {
  const wire = await Wire.open(child.port)
  await wire.ask('initialize', { channel: 'ahp-root://', protocolVersions: ['1.0.0'], clientId })
  return wire
}

function titleChange(clientSeq: number, title: string): string {
  const params = { channel: session, clientSeq, action: { type: 'session/titleChanged', title } }
  return JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
}

const mb = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`
