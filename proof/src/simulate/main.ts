import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '../arguments.ts'
import { clientBugs } from '../clients/bugs.ts'
import { bugs as coreBugs } from './bugs/bugs.ts'
import type { Bug } from './bugs/bug.ts'
import { knownSeeds, saveSeeds } from './known-seeds.ts'
import { Plants } from './plants.ts'
import type { PlantedFound } from './planted.ts'
import type { Report } from './seeds.ts'
import { sum as sumOf } from './tally.ts'
import type { Tally } from './tally.ts'

const usage = `usage: npm run simulate -- [--clients] [--twice] [--seeds N] [--from N] [--seed N] [--planted] [--remember] [--bug NAME] [--jobs N]

  --clients     run the real client library instead of minimal clients
  --twice       run each seed twice, and compare and read the messages of both runs
  --seeds N     number of seeds to run (2000)
  --from N      the first seed (1); from 1000001 on, agents and people change files
  --seed N      run this seed only
  --planted     plant each known bug in turn and print the seed that finds it
  --remember    with --planted: save the seeds that find the bugs in proof/seeds.json
  --bug NAME    run with this bug planted
  --jobs N      number of processes (one per core)`

/** Number of seeds within which a planted bug must be found. */
const plantedSeeds = 2000

const { values } = argumentsOf(
  {
    options: {
      clients: { type: 'boolean' },
      twice: { type: 'boolean' },
      seeds: { type: 'string' },
      from: { type: 'string' },
      seed: { type: 'string' },
      planted: { type: 'boolean' },
      remember: { type: 'boolean' },
      bug: { type: 'string' },
      jobs: { type: 'string' },
    },
  },
  usage,
)
const jobs = Number(values.jobs ?? availableParallelism())
const first = Number(values.seed ?? values.from ?? 1)
const count = values.seed === undefined ? Number(values.seeds ?? 2000) : 1
const bugs = values.clients ? clientBugs : coreBugs
const which = (values.clients ? ' --clients' : '') + (values.twice ? ' --twice' : '')
const named = bugs.find(({ name }) => name === values.bug)

if ([jobs, first, count].some((number) => !Number.isSafeInteger(number) || number < 1)) {
  process.stderr.write(`${usage}\n`)
  process.exitCode = 2
} else if (values.bug !== undefined && !named) {
  process.stderr.write(`no such bug; the names are:\n${bugs.map(({ name }) => `  ${name}\n`).join('')}`)
  process.exitCode = 2
} else {
  const correct = values.planted && values.seeds === undefined ? true : await explore()
  const found = values.planted ? await plantAll() : true
  if (!correct || !found) process.exitCode = 1
}

interface Found {
  readonly seed: number
  readonly invariant: string
  readonly problem: string
  readonly trace: readonly string[]
}

/** Runs the seeds, and prints the first violation. Returns whether there was none. */
async function explore(): Promise<boolean> {
  const begun = performance.now()
  const done = Array.from({ length: jobs }, () => 0)
  const countsByJob: Tally[] = done.map(() => ({}))
  const progress = ticker(() => `${sum(done)} of ${count} seeds`)
  const found = await Promise.all(
    done.map((_, job) => {
      const share = Math.floor((count - job + jobs - 1) / jobs)
      return search(
        { first: first + job, every: jobs, count: share, explain: true, bug: named },
        (n, counts) => {
          done[job] = n
          countsByJob[job] = counts
        },
      )
    }),
  )
  progress()
  const [worst] = found.flatMap((one) => one ?? []).toSorted((a, b) => a.seed - b.seed)
  const seconds = (performance.now() - begun) / 1000
  if (!worst) {
    for (const [what, times] of Object.entries(sumOf(countsByJob)))
      console.log(`${String(times).padStart(8)}  ${what}`)
    console.log(
      `simulate: ${count} seeds from ${first}, no violation (${Math.round(count / seconds)} a second)`,
    )
    return true
  }
  for (const line of worst.trace) console.log(line)
  console.log(`\nsimulate: seed ${worst.seed} violates ${worst.invariant}: ${worst.problem}`)
  const planted = named ? ` --bug '${named.name}'` : ''
  console.log(`again: npm run simulate --${which} --seed ${worst.seed}${planted}`)
  return false
}

/** Plants every known bug in turn. Returns whether each was found. */
async function plantAll(): Promise<boolean> {
  const results = new Map<Bug, PlantedFound['found']>()
  const progress = ticker(() => `${results.size} of ${bugs.length} planted bugs`)
  const table = values.clients ? 'clients' : 'core'
  const hints = knownSeeds(table)
  const left = [...bugs]
  const searchAll = async (): Promise<void> => {
    const plants = new Plants(values.clients ?? false)
    for (let bug = left.shift(); bug; bug = left.shift()) {
      const known = hints[bug.name]
      const again = known === undefined ? undefined : await plants.search(bug, known, 1)
      results.set(bug, again ?? (await plants.search(bug, bug.from ?? 1, plantedSeeds)))
    }
    plants.end()
  }
  await Promise.all(Array.from({ length: jobs }, searchAll))
  progress()
  const width = Math.max(...bugs.map(({ name }) => name.length))
  if (values.remember)
    saveSeeds(
      table,
      Object.fromEntries([...results].flatMap(([{ name }, found]) => (found ? [[name, found.seed]] : []))),
    )
  console.log(`${'planted bug'.padEnd(width)}        seed  violates`)
  for (const bug of bugs) {
    const found = results.get(bug)
    const what = found ? `${String(found.seed).padStart(10)}  ${found.violation.invariant}` : '  NOT FOUND'
    console.log(`${bug.name.padEnd(width)}  ${what}`)
  }
  const missed = bugs.filter((bug) => !results.get(bug))
  console.log(`simulate: ${bugs.length - missed.length} of ${bugs.length} planted bugs found`)
  return missed.length === 0
}

interface Search {
  readonly first: number
  readonly every: number
  readonly count: number
  readonly explain: boolean
  readonly bug: Bug | undefined
}

/** Searches these seeds in a child process. Returns the first violation. */
async function search(
  { first, every, count, explain, bug }: Search,
  progress: (done: number, counts: Tally) => void = () => {},
): Promise<Found | undefined> {
  const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const child = fork(
    here('./seeds.js'),
    [first, every, count, ...[explain, values.clients, values.twice].map((is) => (is ? 1 : 0))].map(String),
    {
      execArgv: bug ? ['--import', here('../plant/register.js')] : [],
      env: { ...process.env, ATRIUM_PLANT: JSON.stringify(bug?.patches ?? []) },
    },
  )
  let found: Found | undefined
  let looked = 0
  child.on('message', (report: Report) => {
    if ('done' in report) progress((looked = report.done), report.counts)
    else found = { seed: report.seed, trace: [], ...report.violation, ...pick(report) }
  })
  // The process may exit before all its messages have arrived. When it has disconnected, all have arrived.
  const [[code]] = await Promise.all([once(child, 'exit'), once(child, 'disconnect')])
  const which = bug ? ` (${bug.name})` : ''
  if (code !== 0) throw new Error(`a process of the simulation ended with ${code}${which}`)
  if (!found && looked < count)
    throw new Error(`a process of the simulation ended after ${looked} of ${count} seeds${which}`)
  return found
}

function pick(report: { readonly trace?: readonly string[] }): { trace?: readonly string[] } {
  return report.trace ? { trace: report.trace } : {}
}

/** Prints the progress: in place on a terminal, otherwise every 15 seconds. Returns the function that stops it. */
function ticker(text: () => string): () => void {
  const { isTTY } = process.stderr
  const timer = setInterval(
    () => process.stderr.write(isTTY ? `\r${text()}` : `${text()}\n`),
    isTTY ? 200 : 15_000,
  )
  return () => {
    clearInterval(timer)
    if (isTTY) process.stderr.write('\r\u001b[K')
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
