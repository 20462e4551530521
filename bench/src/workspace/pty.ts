import { setTimeout as sleep } from 'node:timers/promises'
import { ptyTerminals } from '@atrium/adapters/terminals'
import { spawn } from '@lydell/node-pty'
import { median } from '../percentiles.ts'
import { check, fact, row } from '../table.ts'

const size = { cols: 80, rows: 24 }
const line = 'seq 1 200000'
/** The number of characters of the output: a pty ends each line with two characters. */
const length = Array.from({ length: 200_000 }, (_, i) => String(i + 1).length + 2).reduce((a, b) => a + b)
const rounds = 15
const floodMs = 5000

/** Measures the output of a program through the terminal adapter of the host, relative to a bare pty. */
export async function ptyTable(): Promise<boolean> {
  console.log(`\npty: ${line}, sanitized and turned into actions, relative to a bare node-pty`)
  const terminals = ptyTerminals({ shell: '/bin/sh' })
  const ours: Run[] = []
  const theirs: Run[] = []
  // The adapter and the bare pty take turns, so that other load on the machine affects both alike. The first two rounds
  // are a warm-up.
  for (let round = -2; round < rounds; round++) {
    const pair = [await runThroughAdapter(terminals), await runBare()] as const
    if (round < 0) continue
    ours.push(pair[0])
    theirs.push(pair[1])
  }
  if (ours.some((run) => run.length !== length)) throw new Error('output was lost')
  const rate = ({ length: received, ms }: Run) => received / ms / 1000
  const figure = median(ours.map(rate))
  const ratio = median(ours.map((run, i) => rate(run) / rate(theirs[i] ?? run)))
  const met = row('characters a second', `${figure.toFixed(1)}M/s`, ratio, { atLeast: 0.8 })
  fact('number of actions', String(median(ours.map(({ actions }) => actions))))
  const lost = theirs.filter((run) => run.length !== length).length
  fact('runs in which the bare pty lost the end', `${lost} of ${rounds}`)
  return (await flood(terminals)) && met
}

interface Run {
  readonly ms: number
  readonly length: number
  readonly actions: number
}

function runThroughAdapter(terminals: ReturnType<typeof ptyTerminals>): Promise<Run> {
  const began = performance.now()
  let received = 0
  let actions = 0
  return new Promise((resolve, reject) => {
    const start = { ...size, cwd: '/', command: line }
    terminals
      .start(start, (output) => {
        actions++
        if (output.type === 'terminal/data') received += output.data.length
        if (output.type === 'terminal/exited')
          resolve({ ms: performance.now() - began, length: received, actions })
      })
      .catch(reject)
  })
}

function runBare(): Promise<Run> {
  const began = performance.now()
  let received = 0
  let actions = 0
  return new Promise((resolve) => {
    const pty = spawn('/bin/sh', ['-c', line], { ...size, cwd: '/' })
    pty.onData((data) => {
      actions++
      received += data.length
    })
    pty.onExit(() => resolve({ ms: performance.now() - began, length: received, actions }))
  })
}

/** Runs `yes` for some seconds. Checks how much memory its output takes, and how soon Ctrl-C stops it. */
async function flood(terminals: ReturnType<typeof ptyTerminals>): Promise<boolean> {
  const before = process.memoryUsage().rss
  let received = 0
  let onExit: (at: number) => void
  const end = new Promise<number>((resolve) => (onExit = resolve))
  const shell = await terminals.start({ ...size, cwd: '/', command: 'exec yes' }, (output) => {
    if (output.type === 'terminal/data') received += output.data.length
    if (output.type === 'terminal/exited') onExit(performance.now())
  })
  let most = 0
  for (const until = performance.now() + floodMs; performance.now() < until; await sleep(100))
    most = Math.max(most, process.memoryUsage().rss)
  const asked = performance.now()
  shell.input('\x03')
  const stopped = (await end) - asked
  const grown = (most - before) / 1e6
  fact(`characters in ${floodMs / 1000} s of yes`, `${(received / 1e6).toFixed(0)}M`)
  const small = check('added RSS, goal at most 64 MB', `${grown.toFixed(0)} MB`, grown <= 64)
  return check('Ctrl-C to the end, goal at most 250 ms', `${stopped.toFixed(0)} ms`, stopped <= 250) && small
}
