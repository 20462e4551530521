import { start } from './child.ts'
import type { Child } from './child.ts'
import { atLeast, atMost, parts, row } from './figures.ts'
import { opened, titleChange } from './messages.ts'
import { median } from './percentiles.ts'
import { inTurns, mb, ms, ratioOf } from './sides.ts'
import { Wire } from './wire.ts'

const session = 'ahp-session:/bench'
const burstLength = 5000
const replayLength = 10_000

/** Measures the host relative to a bare `ws` host, in one run on one machine. */
export async function hostBench(wanted: readonly string[]): Promise<boolean> {
  const servers = await Promise.all([
    start('host-child'),
    start('bare-child'),
    start('bare-child', 'durable'),
  ])
  const [host, bare, durable] = servers
  await (await opened(host, 'maker')).ask('createSession', { channel: session })
  const met = await parts(wanted, {
    burst: () => burstTable(host, bare),
    echo: () => echoTable(host, durable),
    fan: () => fanOutTable(host, bare),
    replay: () => replayTable(host, bare),
    memory: () => memoryTable(bare),
  })
  await Promise.all(servers.map((server) => server.stop()))
  return met
}

async function burstTable(host: Child, bare: Child): Promise<boolean> {
  const times = await inTurns(
    { rounds: 7 },
    { ours: (round) => burst(host, `${round}`), bare: (round) => burst(bare, `${round}`) },
  )
  return row(
    'durable echoes of a burst of 5,000',
    `${((burstLength / median(times.ours)) * 1000).toFixed(0)}/s`,
    atLeast(0.6, ratioOf(times.bare, times.ours), 'the rate of a bare ws host in memory'),
  )
}

/** Sends actions at once. Returns the milliseconds until all have come back. */
export async function burst(child: Child, name: string): Promise<number> {
  const wire = await subscribed(child, `burst-${name}`)
  const time = await wire.echo(titles(burstLength, name))
  wire.close()
  return time
}

async function echoTable(host: Child, durable: Child): Promise<boolean> {
  const [ours, bare] = [await subscribed(host, 'echo'), await subscribed(durable, 'echo')]
  const echo = (wire: Wire) => (round: number) =>
    wire.echo([titleChange(session, round + 1, `one by one ${round}`)])
  const times = await inTurns({ rounds: 500, warm: 100 }, { ours: echo(ours), bare: echo(bare) })
  ours.close()
  bare.close()
  return row(
    'the echo of one action, p50',
    ms(median(times.ours), 2),
    atMost(3, median(times.ours) / median(times.bare), 'a bare ws host with fdatasync'),
  )
}

async function fanOutTable(host: Child, bare: Child): Promise<boolean> {
  const times = await inTurns(
    { rounds: 5 },
    { ours: (round) => fanOut(host, 50, `${round}`), bare: (round) => fanOut(bare, 50, `${round}`) },
  )
  return row(
    'deliveries to 50 subscribers',
    `${((50_000 / median(times.ours)) * 1000).toFixed(0)}/s`,
    atLeast(1, ratioOf(times.bare, times.ours), 'the rate of a bare ws host'),
  )
}

/** Returns the milliseconds until all subscribers have received a thousand actions. */
export async function fanOut(child: Child, subscribers: number, name: string): Promise<number> {
  const wires: Wire[] = []
  for (let i = 0; i < subscribers; i++) wires.push(await subscribed(child, `fan-${name}-${i}`))
  const messages = titles(1000, name)
  const wanted = wires.map((wire) => wire.frames + messages.length)
  const began = performance.now()
  await wires[0]?.echo(messages)
  await Promise.all(wires.map((wire, i) => wire.until(() => wire.frames >= (wanted[i] ?? 0))))
  const time = performance.now() - began
  for (const wire of wires) wire.close()
  return time
}

async function replayTable(host: Child, bare: Child): Promise<boolean> {
  const reader = await opened(host, 'reader')
  // The host is ours: the cast names the part of its response that is read.
  const { result } = JSON.parse(await reader.ask('subscribe', { channel: session })) as {
    readonly result: { readonly snapshot: { readonly fromSeq: number } }
  }
  reader.close()
  const writer = await subscribed(host, 'writer')
  await writer.echo(titles(replayLength, 'missed'))
  writer.close()
  let bytes = 0
  const replay = async () => {
    const wire = await Wire.open(host.port)
    const began = performance.now()
    const lastSeenServerSeq = result.snapshot.fromSeq
    const params = { clientId: 'reader', lastSeenServerSeq, subscriptions: [session] }
    const text = await wire.ask('reconnect', params)
    const time = performance.now() - began
    if (!text.includes('"type":"replay"')) throw new Error(`no replay: ${text.slice(0, 200)}`)
    bytes = Math.round(text.length / replayLength)
    wire.close()
    return time
  }
  const times = await inTurns({ rounds: 15 }, { ours: replay, bare: () => blast(bare, bytes) })
  return row(
    'replay of 10,000 actions',
    ms(median(times.ours), 0),
    atMost(1, ratioOf(times.ours, times.bare), '10,000 ws.send of as many bytes'),
  )
}

async function blast(bare: Child, bytes: number): Promise<number> {
  const wire = await Wire.open(bare.port)
  const began = performance.now()
  wire.send({ jsonrpc: '2.0', method: 'blast', params: { count: replayLength, bytes } })
  await wire.until(() => wire.frames >= replayLength)
  wire.close()
  return performance.now() - began
}

async function memoryTable(bare: Child): Promise<boolean> {
  const [fresh, other] = await Promise.all([start('host-child'), start('bare-child')])
  const [idle, bareIdle] = [await fresh.memory(), await other.memory()]
  await other.stop()
  await (await opened(fresh, 'maker')).ask('createSession', { channel: session })
  const bursts = async (child: Child, count: number) => {
    for (let round = 0; round < count; round++) await burst(child, `memory-${round}`)
    return child.memory()
  }
  const half = await bursts(fresh, 10)
  const full = await bursts(fresh, 10)
  const bareFull = await bursts(bare, 20)
  await fresh.stop()
  const to = 'a bare ws host'
  return [
    row('RSS idle', mb(idle.rss), atMost(2, idle.rss / bareIdle.rss, to)),
    row('RSS after 100,000 actions', mb(full.rss), atMost(2.5, full.rss / bareFull.rss, to)),
    row('heap after 100,000 actions', mb(full.heap), atMost(1.15, full.heap / half.heap, 'after 50,000')),
  ].every(Boolean)
}

async function subscribed(child: Child, clientId: string): Promise<Wire> {
  const wire = await opened(child, clientId)
  await wire.ask('subscribe', { channel: session })
  return wire
}

const titles = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => titleChange(session, i + 1, `${name} title ${i}`))
