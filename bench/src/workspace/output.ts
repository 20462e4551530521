import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { median } from '../percentiles.ts'
import { fact, row } from '../table.ts'
import { Shell } from './shell.ts'

const lines = 200_000
const rounds = 7
const keys = 300
const floodSeconds = 60

/**
 * Measures a shell on the host: the speed of its output and the echo of a key, relative to a bare pty in its own
 * process, and the memory of the host during endless output.
 */
export async function outputTable(): Promise<boolean> {
  console.log(`\noutput: seq 1 ${lines} to one client, relative to a bare pty whose output is sent unchanged`)
  const [host, bare] = await Promise.all([start('host-child', [], ['machine']), start('bare-pty-child')])
  const ratios: number[] = []
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const [own, other] = [await timeToPrint(host, Shell.ofHost), await timeToPrint(bare, Shell.bare)]
    ratios.push(other / own)
    times.push(own)
  }
  const speed = (bytes / 1e6 / median(times)) * 1000
  const met = row('speed', `${speed.toFixed(1)} MB/s`, median(ratios), { atLeast: 0.5 })
  await echoes(host, bare)
  await flood(host)
  await Promise.all([host.stop(), bare.stop()])
  return met
}

/** The number of bytes that `seq` writes. A pty ends each line with a carriage return and a newline. */
const bytes = Array.from({ length: lines }, (_, n) => String(n + 1).length + 2).reduce((a, b) => a + b, 0)

async function timeToPrint(child: Child, open: (child: Child) => Promise<Shell>): Promise<number> {
  const shell = await open(child)
  await shell.timed('stty -echo; sleep 0.2; echo READY$((1))\r', 'READY1')
  // The `sleep` makes sure that the end marker arrives in its own message.
  const time = await shell.timed(`seq 1 ${lines}; sleep 0.3; echo END$((1))\r`, 'END1')
  shell.close()
  return time
}

async function echoes(host: Child, bare: Child): Promise<void> {
  const [own, other] = [await Shell.ofHost(host), await Shell.bare(bare)]
  const times: Record<'own' | 'other', number[]> = { own: [], other: [] }
  for (const shell of [own, other]) await shell.timed('sleep 0.3; echo READY$((1)); exec cat\r', 'READY1')
  for (let n = 0; n < keys; n++) {
    // Wait between keys like a fast typist. The host batches output: it delays output that directly follows other
    // output.
    await new Promise((resolve) => setTimeout(resolve, 15))
    const key = 'abcdefghij'.charAt(n % 10)
    times.own.push(await own.echoed(key))
    times.other.push(await other.echoed(key))
  }
  const [a, b] = [median(times.own), median(times.other)]
  const cells = [`${a.toFixed(2)} ms`, `bare ${b.toFixed(2)} ms`, `overhead ${(a - b).toFixed(2)} ms`]
  fact(`time to echo a key, median of ${keys}`, cells.join(', '))
  own.close()
  other.close()
}

async function flood(host: Child): Promise<void> {
  const shell = await Shell.ofHost(host)
  await shell.timed('stty -echo; sleep 0.2; echo READY$((1))\r', 'READY1')
  const before = await host.memory()
  await host.delay()
  const from = shell.wire.bytes
  shell.type('yes\r')
  const samples: number[] = []
  for (let second = 0; second < floodSeconds; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    samples.push((await host.memory()).rss)
  }
  const delay = await host.delay()
  const delivered = shell.wire.bytes - from
  const stopped = await shell.timed('\x03sleep 0.3; echo END$((1))\r', 'END1')
  const half = samples.slice(samples.length / 2)
  fact(
    `yes for ${floodSeconds} s: RSS before, at half time, at the end`,
    [before.rss, half[0] ?? 0, samples.at(-1) ?? 0].map((rss) => `${(rss / 1e6).toFixed(0)} MB`).join(', '),
  )
  fact(
    'output delivered; event loop delay p99, max',
    `${(delivered / 1e6).toFixed(0)} MB; ${delay.p99.toFixed(0)}, ${delay.max.toFixed(0)} ms`,
  )
  fact('Ctrl-C to the last output', `${stopped.toFixed(0)} ms`)
  shell.close()
}
