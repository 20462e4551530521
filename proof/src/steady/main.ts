import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { argumentsOf } from '../arguments.ts'
import { Chance } from '../chance.ts'
import { Descendants } from './processes.ts'

const usage = `usage: npm run steady -- [--rounds N] [--seed N] FILE...

  Runs each test file alone, and stops and continues its processes at random: each stop takes 50 to 2,000 ms.
  It prints what fails. A test that fails so depends on how a busy machine divides its time.

  --rounds N    how often each file runs (5)
  --seed N      the seed of the choices`

const { values, positionals } = argumentsOf(
  { allowPositionals: true, options: { rounds: { type: 'string' }, seed: { type: 'string' } } },
  usage,
)
const rounds = Number(values.rounds ?? 5)
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
if (positionals.length === 0 || !(rounds > 0) || !Number.isSafeInteger(seed)) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}

/** The stop of one process. It is at most 2 s, because a person notices that, and no limit of the product is shorter for all. */
const stopMs = { least: 50, most: 2000 }
/** The time between two stops. It is short, so that a file of few seconds is stopped often. */
const pauseMs = { least: 10, most: 300 }

/** The process that is stopped now. It goes on also if this program is ended. */
let held: number | undefined
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => process.exit(130))
process.on('exit', goOn)

process.stdout.write(`steady: ${rounds} rounds, seed ${seed}\n`)
const chance = new Chance(seed)
const failed: string[] = []
for (const file of positionals) {
  const results = []
  for (let round = 1; round <= rounds; round++) {
    const result = await run(file, chance.branch())
    results.push(result)
    if (result.status !== 0) process.stdout.write(`${result.output}\nround ${round} of ${file} failed\n`)
  }
  const bad = results.filter(({ status }) => status !== 0).length
  const stops = results.reduce((sum, each) => sum + each.stops, 0)
  if (bad > 0) failed.push(file)
  process.stdout.write(`${bad === 0 ? 'steady' : `FAILED ${bad} of ${rounds}`}  ${stops} stops  ${file}\n`)
}
if (failed.length > 0)
  process.stdout.write(
    `\nagain: npm run steady -- --seed ${seed} --rounds ${rounds} ${positionals.join(' ')}\n`,
  )
process.exit(failed.length > 0 ? 1 : 0)

interface Result {
  readonly status: number
  readonly output: string
  readonly stops: number
}

/** Runs a test file while its processes are stopped and continued. */
async function run(file: string, choices: Chance): Promise<Result> {
  const child = spawn('vitest', ['run', file, '--maxWorkers=1'], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => void (output += data.toString()))
  const stopped = disturb(child, choices)
  // The exit code is a number, or null after a signal.
  const [code] = (await once(child, 'close')) as [number | null]
  return { status: code ?? 1, output, stops: await stopped }
}

/** Stops one process after the other until the run has ended. Returns how many were stopped. The runner itself is not stopped. */
async function disturb(runner: ChildProcess, choices: Chance): Promise<number> {
  const descendants = new Descendants(runner.pid ?? 0)
  const ended = once(runner, 'exit').then(() => true)
  let stops = 0
  for (;;) {
    const over = sleep(choices.between(pauseMs.least, pauseMs.most), false)
    if (await Promise.race([ended, over])) return stops
    const pid = choices.pick(descendants.now())
    if (pid === undefined || !signal(pid, 'SIGSTOP')) continue
    stops++
    held = pid
    await Promise.race([ended, sleep(choices.between(stopMs.least, stopMs.most))])
    goOn()
  }
}

function goOn(): void {
  if (held !== undefined) signal(held, 'SIGCONT')
  held = undefined
}

/** Sends a signal. Returns whether the process was still there. */
function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}
