import { start } from '../child.ts'
import type { Child, Memory } from '../child.ts'
import { check, fact, row } from '../table.ts'
import { Wire } from '../wire.ts'

const wanted = 5000
const root = 'ahp-root://'
/** So many knock at once: fewer than the host lets wait at its door. */
const atOnce = 100
/** Descriptors that a process needs for itself. */
const own = 200

/** What a client costs that has said who it is, follows the root, and is silent. */
export async function idleTable(): Promise<boolean> {
  const count = Math.min(wanted, openFiles() - own)
  console.log(
    `\nidle: ${count} clients that follow the root${count < wanted ? ` (${openFiles()} files)` : ''}`,
  )
  const [host, bare] = await Promise.all([start('host-child'), start('bare-child')])
  const theirs = await waves(bare, count)
  const ours = await waves(host, count)
  await Promise.all([host.stop(), bare.stop()])
  fact('heap of the host for each client', kib(ours.heapEach))
  fact('heap of a bare host for each', kib(theirs.heapEach))
  fact('RSS of a bare host for each', kib(theirs.each))
  const met = [
    row('RSS for each client', kib(ours.each), ours.each / theirs.each, 2.5, 'at most'),
    check('answered a ping at the end', `${ours.answered} of ${count}`, ours.answered === count),
    check('heap when all had left, beside before', times(ours.heapLeft), ours.heapLeft <= 1.25),
    check('RSS with as many again, beside the first time', times(ours.again), ours.again <= 1.15),
  ]
  return met.every(Boolean)
}

interface Cost {
  /** Bytes of RSS for each client. */
  readonly each: number
  readonly heapEach: number
  readonly answered: number
  /** Heap when they had left, as a share of what it was before they came. */
  readonly heapLeft: number
  /** RSS when as many had come again, as a share of the first time: what leaks cannot be used again. */
  readonly again: number
}

async function waves(child: Child, count: number): Promise<Cost> {
  // A few first: code that is loaded and compiled once is no client's cost.
  leave(await crowd(child, 200, 'warm'))
  const before = await settled(child)
  const first = await crowd(child, count, 'first')
  const full = await settled(child)
  const answered = await pings(first)
  leave(first)
  const left = await settled(child)
  const second = await crowd(child, count, 'second')
  const again = await settled(child)
  leave(second)
  return {
    each: (full.rss - before.rss) / count,
    heapEach: (full.heap - before.heap) / count,
    answered,
    heapLeft: left.heap / before.heap,
    again: again.rss / full.rss,
  }
}

async function crowd(child: Child, count: number, name: string): Promise<readonly Wire[]> {
  const wires: Wire[] = []
  let next = 0
  const enter = async () => {
    while (next < count) {
      const clientId = `${name}-${next++}`
      const wire = await Wire.open(child.port)
      await wire.ask('initialize', { channel: root, protocolVersions: ['1.0.0'], clientId })
      await wire.ask('subscribe', { channel: root })
      wires.push(wire)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, enter))
  return wires
}

async function pings(wires: readonly Wire[]): Promise<number> {
  let answered = 0
  for (const wire of wires) if ((await wire.ask('ping', { channel: root })).includes('"result"')) answered++
  return answered
}

function leave(wires: readonly Wire[]): void {
  for (const wire of wires) wire.close()
}

/** The least of several: sockets take a moment to end, and pages to be given back. */
async function settled(child: Child): Promise<Memory> {
  let least = await child.memory()
  for (let look = 0; look < 5; look++) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const { rss, heap } = await child.memory()
    least = { rss: Math.min(rss, least.rss), heap: Math.min(heap, least.heap) }
  }
  return least
}

/** Node raises its limit to the highest that it is allowed by itself. */
function openFiles(): number {
  const report = process.report?.getReport() as Limits | undefined
  const soft = report?.userLimits?.open_files?.soft ?? 1024
  return typeof soft === 'number' ? soft : Infinity
}

interface Limits {
  readonly userLimits?: { readonly open_files?: { readonly soft: number | string } }
}

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`
const times = (ratio: number) => `${ratio.toFixed(2)}x`
