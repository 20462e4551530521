import { start } from '../child.ts'
import type { Child } from '../child.ts'
import { atLeast, atMost, fact, parts, row } from '../figures.ts'
import { median } from '../percentiles.ts'
import { inTurns, mb, ms, ratioOf } from '../sides.ts'
import { Shell } from './shell.ts'
import { measureWatch } from './watch.ts'

const lines = 200_000
const floodSeconds = 20
const files = 50_000

/** Measures terminals and file watches. */
export function workspaceBench(wanted: readonly string[]): Promise<boolean> {
  return parts(wanted, { output: outputTable, tree: treeTable })
}

/** A shell on the host, relative to a bare pty in its own process. */
async function outputTable(): Promise<boolean> {
  const [host, bare] = await Promise.all([start('host-child', 'machine'), start('bare-pty-child')])
  const times = await inTurns(
    { rounds: 7 },
    { ours: () => timeToPrint(host, Shell.ofHost), bare: () => timeToPrint(bare, Shell.bare) },
  )
  // A pty ends each line with a carriage return and a newline.
  const bytes = Array.from({ length: lines }, (_, n) => String(n + 1).length + 2).reduce((a, b) => a + b, 0)
  const met = [
    row(
      `output of seq 1 ${lines} in a terminal`,
      `${(bytes / 1000 / median(times.ours)).toFixed(1)} MB/s`,
      atLeast(0.5, ratioOf(times.bare, times.ours), 'the rate of a bare pty'),
    ),
    await echoes(host, bare),
    await flood(host),
  ]
  await Promise.all([host.stop(), bare.stop()])
  return met.every(Boolean)
}

async function timeToPrint(child: Child, open: (child: Child) => Promise<Shell>): Promise<number> {
  const shell = await open(child)
  await shell.timed('stty -echo; sleep 0.2; echo READY$((1))\r', 'READY1')
  // The `sleep` makes sure that the end marker arrives in its own message.
  const time = await shell.timed(`seq 1 ${lines}; sleep 0.3; echo END$((1))\r`, 'END1')
  shell.close()
  return time
}

async function echoes(host: Child, bare: Child): Promise<boolean> {
  const shells = [await Shell.ofHost(host), await Shell.bare(bare)] as const
  for (const shell of shells) await shell.timed('sleep 0.3; echo READY$((1)); exec cat\r', 'READY1')
  const echo = (shell: Shell) => async (round: number) => {
    // Wait between keys like a fast typist. The host delays output that directly follows other output.
    await new Promise((resolve) => setTimeout(resolve, 15))
    return shell.echoed('abcdefghij'.charAt(round % 10))
  }
  const times = await inTurns({ rounds: 300 }, { ours: echo(shells[0]), bare: echo(shells[1]) })
  for (const shell of shells) shell.close()
  fact('the echo of a key, p50', `${ms(median(times.ours), 2)}, bare ${ms(median(times.bare), 2)}`)
  // A frame of a screen takes 16.7 ms: what is added must not be seen.
  const added = median(times.ours) - median(times.bare)
  return row(
    'what the host adds to the echo of a key',
    ms(added, 2),
    atMost(0.5, added / 16.7, 'a frame of 60 Hz'),
  )
}

/** The memory of the host during endless output, and how soon Ctrl-C stops it. */
async function flood(host: Child): Promise<boolean> {
  const shell = await Shell.ofHost(host)
  await shell.timed('stty -echo; sleep 0.2; echo READY$((1))\r', 'READY1')
  const before = await host.memory()
  shell.type('yes\r')
  const samples: number[] = []
  for (let second = 0; second < floodSeconds; second++) {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    samples.push((await host.memory()).rss)
  }
  const stopped = await shell.timed('\x03sleep 0.3; echo END$((1))\r', 'END1')
  shell.close()
  const [grown, half] = [
    (samples.at(-1) ?? NaN) - before.rss,
    (samples[floodSeconds / 2] ?? NaN) - before.rss,
  ]
  fact(`RSS added by ${floodSeconds / 2} s and ${floodSeconds} s of yes`, `${mb(half)}, ${mb(grown)}`)
  return [
    row(`RSS that ${floodSeconds} s of yes add`, mb(grown), atMost(1, grown / 64e6, '64 MB')),
    row('Ctrl-C to the last output of yes', ms(stopped, 0), atMost(1, stopped / 250, '250 ms')),
  ].every(Boolean)
}

/** A watch of a large tree. Each watch has its own process. */
async function treeTable(): Promise<boolean> {
  const { ours, plain } = await measureWatch(files)
  fact(
    `a watch of ${files} files reports changes after`,
    `${ms(ours.readyMs, 0)}, fs.watch ${ms(plain.readyMs, 0)}`,
  )
  fact('memory of fs.watch', `${plain.rssMb.toFixed(0)} MB`)
  return row(
    `memory of a watch of ${files} files`,
    `${ours.rssMb.toFixed(0)} MB`,
    atMost(1, ours.rssMb / 60, '60 MB'),
  )
}
