import { setTimeout as sleep } from 'node:timers/promises'
import { ptyTerminals } from '@atrium/adapters/terminals'
import { spawn } from '@lydell/node-pty'
import { median } from '../percentiles.ts'
import { check, fact, row } from '../table.ts'

const size = { cols: 80, rows: 24 }
const line = 'seq 1 200000'
/** A pty makes two characters of the end of a line. */
const length = Array.from({ length: 200_000 }, (_, i) => String(i + 1).length + 2).reduce((a, b) => a + b)
const rounds = 15
const floodMs = 5000

/** What a program writes, through our terminals, beside the same through a bare pty. */
export async function ptyTable(): Promise<boolean> {
  console.log(`\npty: ${line}, made harmless and said in actions, beside a bare node-pty`)
  const terminals = ptyTerminals({ shell: '/bin/sh' })
  const ours: Run[] = []
  const theirs: Run[] = []
  // In turns, so that a busy moment of the machine falls on both alike; the first only warm up.
  for (let round = -2; round < rounds; round++) {
    const pair = [await through(terminals), await bare()] as const
    if (round < 0) continue
    ours.push(pair[0])
    theirs.push(pair[1])
  }
  if (ours.some((run) => run.length !== length)) throw new Error('something was lost')
  const rate = ({ length: heard, ms }: Run) => heard / ms / 1000
  const figure = median(ours.map(rate))
  const ratio = median(ours.map((run, i) => rate(run) / rate(theirs[i] ?? run)))
  const met = row('characters a second', `${figure.toFixed(1)}M/s`, ratio, 0.8, 'at least')
  fact('actions for all of it', String(median(ours.map(({ actions }) => actions))))
  const lost = theirs.filter((run) => run.length !== length).length
  fact('runs of which the bare one lost the end', `${lost} of ${rounds}`)
  return (await flood(terminals)) && met
}

interface Run {
  readonly ms: number
  readonly length: number
  readonly actions: number
}

function through(terminals: ReturnType<typeof ptyTerminals>): Promise<Run> {
  const begun = performance.now()
  let heard = 0
  let actions = 0
  return new Promise((resolve, reject) => {
    const start = { ...size, cwd: '/', command: line }
    terminals
      .start(start, (said) => {
        actions++
        if (said.type === 'terminal/data') heard += said.data.length
        if (said.type === 'terminal/exited')
          resolve({ ms: performance.now() - begun, length: heard, actions })
      })
      .catch(reject)
  })
}

function bare(): Promise<Run> {
  const begun = performance.now()
  let heard = 0
  let actions = 0
  return new Promise((resolve) => {
    const pty = spawn('/bin/sh', ['-c', line], { ...size, cwd: '/' })
    pty.onData((data) => {
      actions++
      heard += data.length
    })
    pty.onExit(() => resolve({ ms: performance.now() - begun, length: heard, actions }))
  })
}

/** Seconds of `yes`: what it costs in memory, and how soon it can be stopped. */
async function flood(terminals: ReturnType<typeof ptyTerminals>): Promise<boolean> {
  const before = process.memoryUsage().rss
  let heard = 0
  let gone: (at: number) => void
  const end = new Promise<number>((resolve) => (gone = resolve))
  const shell = await terminals.start({ ...size, cwd: '/', command: 'exec yes' }, (said) => {
    if (said.type === 'terminal/data') heard += said.data.length
    if (said.type === 'terminal/exited') gone(performance.now())
  })
  let most = 0
  for (const until = performance.now() + floodMs; performance.now() < until; await sleep(100))
    most = Math.max(most, process.memoryUsage().rss)
  const asked = performance.now()
  shell.input('\x03')
  const stopped = (await end) - asked
  const grown = (most - before) / 1e6
  fact(`characters of ${floodMs / 1000} s of yes`, `${(heard / 1e6).toFixed(0)}M`)
  const small = check('RSS that it added, goal at most 64 MB', `${grown.toFixed(0)} MB`, grown <= 64)
  return check('Ctrl-C, goal at most 250 ms', `${stopped.toFixed(0)} ms`, stopped <= 250) && small
}
