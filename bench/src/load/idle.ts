import { start } from '../child.ts'
import type { Child, Memory } from '../child.ts'
import { atLeast, atMost, fact, row } from '../figures.ts'
import { opened, root } from '../messages.ts'
import { kib, together } from '../sides.ts'
import type { Wire } from '../wire.ts'

const wanted = 5000
/** The number of concurrent handshakes. The host limits the handshakes that may be pending, and this is below its limit. */
const atOnce = 100
/** File descriptors that the process needs beside the connections. */
const reservedDescriptors = 200

/** Measures the memory that a client costs which is initialized, subscribed to the root, and idle. */
export async function idleTable(): Promise<boolean> {
  const count = Math.min(wanted, openFiles() - reservedDescriptors)
  const [host, bare] = await Promise.all([start('host-child'), start('bare-child')])
  const theirs = await waves(bare, count)
  const ours = await waves(host, count)
  await Promise.all([host.stop(), bare.stop()])
  fact('heap per client', `${kib(ours.heapEach)}, bare ${kib(theirs.heapEach)}`)
  return [
    row(
      `RSS per client, of ${count} that are subscribed to the root`,
      kib(ours.rssEach),
      atMost(2.5, ours.rssEach / theirs.rssEach, 'a bare ws host'),
    ),
    row(
      'clients that answered a ping at the end',
      `${ours.answered}`,
      atLeast(1, ours.answered / count, 'all'),
    ),
    row('heap after all have left', kib(ours.heapLeft), atMost(1.25, ours.heapAfter, 'before')),
    row('RSS with a second wave of clients', kib(ours.rssAgain), atMost(1.15, ours.again, 'with the first')),
  ].every(Boolean)
}

interface Cost {
  /** Bytes of RSS per client. */
  readonly rssEach: number
  readonly heapEach: number
  readonly answered: number
  /** The heap after all clients have left, divided by the heap before they connected. */
  readonly heapAfter: number
  /** RSS with a second wave of clients, divided by RSS with the first. It grows if memory of the first wave has leaked. */
  readonly again: number
  readonly heapLeft: number
  readonly rssAgain: number
}

async function waves(child: Child, count: number): Promise<Cost> {
  // Warm-up: code that is loaded and compiled once is not part of the cost of a client.
  closeAll(await connectMany(child, 200, 'warm'))
  const before = await settledMemory(child)
  const first = await connectMany(child, count, 'first')
  const full = await settledMemory(child)
  const answered = await pings(first)
  closeAll(first)
  const after = await settledMemory(child)
  const second = await connectMany(child, count, 'second')
  const again = await settledMemory(child)
  closeAll(second)
  return {
    rssEach: (full.rss - before.rss) / count,
    heapEach: (full.heap - before.heap) / count,
    answered,
    heapAfter: after.heap / before.heap,
    again: again.rss / full.rss,
    heapLeft: after.heap,
    rssAgain: again.rss,
  }
}

async function connectMany(child: Child, count: number, name: string): Promise<readonly Wire[]> {
  const wires: Wire[] = []
  await together(count, atOnce, async (client) => {
    const wire = await opened(child, `${name}-${client}`)
    await wire.ask('subscribe', { channel: root })
    wires.push(wire)
  })
  return wires
}

async function pings(wires: readonly Wire[]): Promise<number> {
  let answered = 0
  for (const wire of wires) if ((await wire.ask('ping', { channel: root })).includes('"result"')) answered++
  return answered
}

function closeAll(wires: readonly Wire[]): void {
  for (const wire of wires) wire.close()
}

/** Returns the least memory of several measurements, because sockets and memory pages are released with a delay. */
async function settledMemory(child: Child): Promise<Memory> {
  let least = await child.memory()
  for (let round = 0; round < 5; round++) {
    await new Promise((resolve) => setTimeout(resolve, 200))
    const { rss, heap } = await child.memory()
    least = { rss: Math.min(rss, least.rss), heap: Math.min(heap, least.heap) }
  }
  return least
}

/** The limit of open files. Node raises its soft limit to the hard limit when it starts. */
function openFiles(): number {
  const report = process.report?.getReport() as Limits | undefined
  const soft = report?.userLimits?.open_files?.soft ?? 1024
  return typeof soft === 'number' ? soft : Infinity
}

interface Limits {
  readonly userLimits?: { readonly open_files?: { readonly soft: number | string } }
}
