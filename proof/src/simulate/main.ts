import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { clientBugs } from '../clients/bugs.ts'
import { bugs as coreBugs } from './bugs.ts'
import type { Bug } from './bug.ts'
import { remember, remembered } from './remembered.ts'
import type { Report } from './seeds.ts'
import { sum as sumOf } from './tally.ts'
import type { Tally } from './tally.ts'

const usage = `usage: npm run simulate -- [--clients] [--seeds N] [--from N] [--seed N] [--planted] [--remember] [--bug NAME] [--jobs N]

  --clients     real clients of the core, instead of clients without a mind
  --seeds N     so many runs, each from a seed of its own (2000)
  --from N      the first seed (1)
  --seed N      this one alone
  --planted     plant every known bug, one after the other, and say which seed found it
  --remember    look from the first seed on, and write down which found each
  --bug NAME    the runs with this bug planted
  --jobs N      processes at once (one for each core)
`

/** A planted bug must be found within so many seeds. */
const plantedSeeds = 2000

const { values } = parseArgs({
  options: {
    clients: { type: 'boolean' },
    seeds: { type: 'string' },
    from: { type: 'string' },
    seed: { type: 'string' },
    planted: { type: 'boolean' },
    remember: { type: 'boolean' },
    bug: { type: 'string' },
    jobs: { type: 'string' },
    help: { type: 'boolean' },
  },
})
const jobs = Number(values.jobs ?? availableParallelism())
const first = Number(values.seed ?? values.from ?? 1)
const count = values.seed === undefined ? Number(values.seeds ?? 2000) : 1
const bugs = values.clients ? clientBugs : coreBugs
const which = values.clients ? ' --clients' : ''
const named = bugs.find(({ name }) => name === values.bug)

if (values.help || [jobs, first, count].some((number) => !Number.isSafeInteger(number) || number < 1)) {
  process.stderr.write(usage)
  process.exitCode = values.help ? 0 : 2
} else if (values.bug !== undefined && !named) {
  process.stderr.write(`no such bug; there are:\n${bugs.map(({ name }) => `  ${name}\n`).join('')}`)
  process.exitCode = 2
} else {
  const sound = values.planted && values.seeds === undefined ? true : await explore()
  const found = values.planted ? await plantAll() : true
  if (!sound || !found) process.exitCode = 1
}

interface Found {
  readonly seed: number
  readonly invariant: string
  readonly problem: string
  readonly trace: readonly string[]
}

async function explore(): Promise<boolean> {
  const begun = performance.now()
  const done = Array.from({ length: jobs }, () => 0)
  const mets: Tally[] = done.map(() => ({}))
  const progress = ticker(() => `${sum(done)} of ${count} seeds`)
  const found = await Promise.all(
    done.map((_, job) => {
      const share = Math.floor((count - job + jobs - 1) / jobs)
      return search(
        { first: first + job, every: jobs, count: share, explain: true, bug: named },
        (n, met) => {
          done[job] = n
          mets[job] = met
        },
      )
    }),
  )
  progress()
  const [worst] = found.flatMap((one) => one ?? []).toSorted((a, b) => a.seed - b.seed)
  const seconds = (performance.now() - begun) / 1000
  if (!worst) {
    for (const [what, times] of Object.entries(sumOf(mets)))
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

async function plantAll(): Promise<boolean> {
  const results = new Map<Bug, Found | undefined>()
  const progress = ticker(() => `${results.size} of ${bugs.length} planted bugs`)
  const table = values.clients ? 'clients' : 'core'
  const hints = values.remember ? {} : remembered(table)
  const left = [...bugs]
  const next = async (): Promise<void> => {
    const bug = left.shift()
    if (!bug) return
    const looked = { every: 1, explain: false, bug }
    const known = hints[bug.name]
    const again = known === undefined ? undefined : await search({ ...looked, first: known, count: 1 })
    results.set(bug, again ?? (await search({ ...looked, first: 1, count: plantedSeeds })))
    return next()
  }
  await Promise.all(Array.from({ length: jobs }, next))
  progress()
  const width = Math.max(...bugs.map(({ name }) => name.length))
  if (values.remember)
    remember(
      table,
      Object.fromEntries([...results].flatMap(([{ name }, found]) => (found ? [[name, found.seed]] : []))),
    )
  console.log(`${'planted bug'.padEnd(width)}        seed  violates`)
  for (const bug of bugs) {
    const found = results.get(bug)
    const what = found ? `${String(found.seed).padStart(10)}  ${found.invariant}` : '  NOT FOUND'
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

/** The first violation among these seeds, looked for in a process of its own. */
async function search(
  { first, every, count, explain, bug }: Search,
  progress: (done: number, met: Tally) => void = () => {},
): Promise<Found | undefined> {
  const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
  const child = fork(
    here('./seeds.js'),
    [first, every, count, explain ? 1 : 0, values.clients ? 1 : 0].map(String),
    {
      execArgv: bug ? ['--import', here('../plant/register.js')] : [],
      env: { ...process.env, ATRIUM_PLANT: JSON.stringify(bug?.patches ?? []) },
    },
  )
  let found: Found | undefined
  let looked = 0
  child.on('message', (report: Report) => {
    if ('done' in report) progress((looked = report.done), report.met)
    else found = { seed: report.seed, trace: [], ...report.violation, ...pick(report) }
  })
  // It may have ended before all that it said is here: only then the channel is closed.
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

/** Says how far it is: in place on a terminal, else now and then. */
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
