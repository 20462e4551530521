import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Client } from './client.ts'
import type { Place } from './client.ts'
import { serve } from './served.ts'
import { Chance } from './soak/chance.ts'
import { patiently } from './soak/patience.ts'
import { Person } from './soak/person.ts'
import { Progress } from './soak/progress.ts'
import { sample } from './soak/sample.ts'
import type { Sample } from './soak/sample.ts'
import { slowReaders, standStill } from './soak/slow.ts'
import { Town } from './soak/town.ts'
import { vandal } from './soak/vandal.ts'
import { courses, table } from './soak/verdict.ts'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '40' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const [minutes, people, seed] = [Number(values.minutes), Number(values.clients), Number(values.seed)]
if (!(minutes > 0 && people > 0 && Number.isSafeInteger(seed))) {
  process.stderr.write('usage: npm run soak -- [--minutes N] [--clients N] [--seed N]\n')
  process.exit(2)
}
process.exit((await soak()) ? 0 : 1)

/** The real command under everything that people and others do to it, for as long as one likes to wait. */
async function soak(): Promise<boolean> {
  console.log(`Node ${process.version}, ${process.arch}: ${people} clients for ${minutes} min, seed ${seed}`)
  const data = mkdtempSync(join(tmpdir(), 'atrium-soak-'))
  const probe = new URL('./soak/probe.js', import.meta.url)
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning', '--import', fileURLToPath(probe)]
  const host = await serve(data, flags)
  const town = new Town(host)
  void host.exit.then((why) => town.over || town.problem(`the host ended with ${why}`))
  // One of each first: what is opened, loaded and compiled once is there before anybody counts.
  await freshClient(host, 'warm')
  await standStill(town, 0)
  const before = await sample(host.child, data, { at: 0, sessions: 0 })
  const samples = await underLoad(town, (at) => sample(host.child, data, { at, sessions: town.sessions }))
  const atRest = await restful(before, () => sample(host.child, data, { at: 0, sessions: 0 }))
  await freshClient(host, 'fresh').catch((error: unknown) => town.problem(`a fresh client: ${String(error)}`))
  host.child.kill('SIGTERM')
  const exit = await host.exit
  rmSync(data, { recursive: true, force: true })
  town.problem(exit === 0 ? undefined : `the host ended with ${exit}`)
  return report(town, samples, before, atRest)
}

async function underLoad(town: Town, look: (at: number) => Promise<Sample>): Promise<readonly Sample[]> {
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1000
  const everybody = [
    town.live(new Chance(seed)),
    slowReaders(town, new Chance(seed + 1)),
    vandal(town, new Chance(seed + 2)),
    ...Array.from({ length: people }, (_, i) => new Person(town, new Chance(seed + 10 + i), `p${i}`).live()),
  ]
  const ended = Promise.all(everybody)
  const every = minutes < 5 ? 1000 : 5000
  const samples: Sample[] = []
  const progress = new Progress(minutes * 60)
  while (seconds() < minutes * 60) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, every)), ended])
    samples.push(await look(seconds()))
    progress.show(samples, town)
  }
  town.over = true
  await patiently('somebody who does not leave', ended)
    .then(() => town.closeAll())
    .catch((error: unknown) => town.problem(String(error)))
  return samples
}

/** I11: whoever comes new can enter, make a session and change it. */
async function freshClient(place: Place, clientId: string): Promise<void> {
  const client = new Client(clientId)
  const channel = `ahp-session:/${clientId}`
  await client.initialize(place, ['ahp-root://'])
  await client.ask('createSession', { channel })
  await client.subscribe(channel)
  const title = { type: 'session/titleChanged', title: 'works' }
  const { rejectionReason } = await client.dispatch(channel, title)
  if (rejectionReason !== undefined) throw new Error(rejectionReason)
  await client.compare(channel)
  await client.ask('disposeSession', { channel })
  await client.leave()
  if (client.problems.length > 0) throw new Error(client.problems.join())
}

/** When everybody has left, everything that was theirs is gone: sockets take a moment. */
async function restful(before: Sample, look: () => Promise<Sample>): Promise<Sample> {
  for (let tries = 0; ; tries++) {
    const now = await look()
    if (tries === 50 || left(before, now).length === 0) return now
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** What is still there of those who left. */
function left(before: Sample, after: Sample): readonly string[] {
  const names = ['fds', 'handles', 'threads', 'children', 'links'] as const
  return names
    .filter((name) => (after[name] ?? 0) > (before[name] ?? 0))
    .map((name) => `${name}: ${before[name]} before anybody came, ${after[name]} when all had left`)
}

function report(town: Town, samples: readonly Sample[], before: Sample, atRest: Sample): boolean {
  const all = courses(samples)
  const growing = all.filter(({ verdict }) => verdict === 'grows')
  const problems = [...town.problems, ...left(before, atRest)]
  console.log(`\n${table(all)}\n`)
  const heap = (it: Sample) => `${(it.heap / 1e6).toFixed(1)} MB`
  console.log(`  heap before anybody came ${heap(before)}, when all had left ${heap(atRest)}`)
  const done = Object.entries(town.done).map(([what, count]) => `${count} ${what}`)
  console.log(`  ${done.join(', ')}`)
  console.log(`  lost, differing or wrong: ${problems.length}; growing: ${growing.length}`)
  for (const problem of problems.slice(0, 20)) console.log(`    ${problem}`)
  const met = problems.length === 0 && growing.length === 0
  console.log(`  ${met ? 'met' : `MISSED (again with --seed ${seed})`}`)
  return met
}
