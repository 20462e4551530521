import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '@atrium/proof/arguments'
import { Client } from './client.ts'
import type { Endpoint } from './client.ts'
import { serve } from './serve.ts'
import { RandomChoices } from './soak/random-choices.ts'
import { withTimeout } from './soak/timeout.ts'
import { SimulatedClient } from './soak/simulated-client.ts'
import { Progress } from './soak/progress.ts'
import { sample } from './soak/sample.ts'
import type { Sample } from './soak/sample.ts'
import { slowReaders, stopReading } from './soak/slow-readers.ts'
import { SoakRun } from './soak/soak-run.ts'
import { runAttacks } from './soak/attacks.ts'
import { trendsOf, table } from './soak/trends.ts'

const usage = 'usage: npm run soak -- [--minutes N] [--clients N] [--seed N]'
const { values } = argumentsOf(
  {
    options: {
      minutes: { type: 'string', default: '10' },
      clients: { type: 'string', default: '40' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  },
  usage,
)
const [minutes, clientCount, seed] = [Number(values.minutes), Number(values.clients), Number(values.seed)]
if (!(minutes > 0 && clientCount > 0 && Number.isSafeInteger(seed))) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
process.exit((await soak()) ? 0 : 1)

/** Runs `atrium serve` under mixed load for some minutes and checks that nothing is lost and nothing grows. */
async function soak(): Promise<boolean> {
  console.log(
    `Node ${process.version}, ${process.arch}: ${clientCount} clients for ${minutes} min, seed ${seed}`,
  )
  const data = mkdtempSync(join(tmpdir(), 'atrium-soak-'))
  const probe = new URL('./soak/probe.js', import.meta.url)
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning', '--import', fileURLToPath(probe)]
  const host = await serve(data, flags)
  const progress = new Progress(minutes * 60)
  const run = new SoakRun(host, (problem) => progress.problem(problem))
  void host.exit.then((why) => run.over || run.problem(`the host ended with ${why}`))
  // Warm-up: some files and some code are opened only once. This must happen before the first sample, or it would
  // look like growth.
  await useAsNewClient(host, 'warm')
  await openIndex(host)
  await stopReading(run, 0)
  const before = await sample(host.child, data, { at: 0, sessions: 0 })
  const samples = await underLoad(run, progress, (at) =>
    sample(host.child, data, { at, sessions: run.sessionCount }),
  )
  const afterwards = await idleSample(before, () => sample(host.child, data, { at: 0, sessions: 0 }))
  await useAsNewClient(host, 'fresh').catch((error: unknown) => run.problem(`a new client: ${String(error)}`))
  host.child.kill('SIGTERM')
  const exit = await host.exit
  rmSync(data, { recursive: true, force: true })
  run.problem(exit === 0 ? undefined : `the host ended with ${exit}`)
  return report(run, samples, { before, afterwards })
}

async function underLoad(
  run: SoakRun,
  progress: Progress,
  look: (at: number) => Promise<Sample>,
): Promise<readonly Sample[]> {
  const began = performance.now()
  const seconds = () => (performance.now() - began) / 1000
  const load = [
    run.replaceSessions(new RandomChoices(seed)),
    slowReaders(run, new RandomChoices(seed + 1)),
    runAttacks(run, new RandomChoices(seed + 2)),
    ...Array.from({ length: clientCount }, (_, i) =>
      new SimulatedClient(run, new RandomChoices(seed + 10 + i), `p${i}`).act(),
    ),
  ]
  const ended = Promise.all(
    load.map((part) => part.catch((error: unknown) => run.problem(`a part of the load: ${String(error)}`))),
  )
  const intervalMs = minutes < 5 ? 1000 : 5000
  const samples: Sample[] = []
  while (seconds() < minutes * 60) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, intervalMs)), ended])
    samples.push(await look(seconds()))
    progress.show(samples, run)
  }
  run.over = true
  await withTimeout('the end of the load', ended)
    .then(() => run.closeAll())
    .catch((error: unknown) => run.problem(String(error)))
  return samples
}

/** Searches, because the host opens its search index, with a thread and files, at the first use. */
async function openIndex(endpoint: Endpoint): Promise<void> {
  const client = new Client('index')
  await client.initialize(endpoint, ['ahp-root://'])
  await client.ask('x-atrium/search', { channel: 'ahp-root://', query: 'warm' })
  await client.leave()
}

/**
 * Checks that a new client can connect, create a session and change it, as I11 demands after a time of faults.
 * Rejects if it cannot.
 */
async function useAsNewClient(endpoint: Endpoint, clientId: string): Promise<void> {
  const client = new Client(clientId)
  const channel = `ahp-session:/${clientId}`
  await client.initialize(endpoint, ['ahp-root://'])
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

/**
 * Samples the host until it has released all resources of the clients, for at most 10 seconds. Returns the last
 * sample.
 */
async function idleSample(before: Sample, look: () => Promise<Sample>): Promise<Sample> {
  for (let tries = 0; ; tries++) {
    const now = await look()
    if (tries === 50 || unreleased(before, now).length === 0) return now
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** The resources that the host has not released after all clients have left. */
function unreleased(before: Sample, after: Sample): readonly string[] {
  const names = ['fds', 'handles', 'threads', 'children', 'links'] as const
  return names
    .filter((name) => (after[name] ?? 0) > (before[name] ?? 0))
    .map((name) => `${name}: ${before[name]} before the load, ${after[name]} after it`)
}

function report(
  run: SoakRun,
  samples: readonly Sample[],
  { before, afterwards }: { readonly before: Sample; readonly afterwards: Sample },
): boolean {
  const all = trendsOf(samples)
  const growing = all.filter(({ verdict }) => verdict === 'grows')
  const kept = unreleased(before, afterwards)
  const problems = [...run.problems, ...kept]
  console.log(`\n${table(all)}\n`)
  const heap = ({ heap: bytes }: Sample) => `${(bytes / 1e6).toFixed(1)} MB`
  console.log(`  heap before the load ${heap(before)}, after it ${heap(afterwards)}`)
  const counts = Object.entries(run.counts).map(([what, count]) => `${count} ${what}`)
  console.log(`  ${counts.join(', ')}`)
  console.log(`  problems: ${problems.length}; growing quantities: ${growing.length}`)
  for (const problem of kept) console.log(`    ${problem}`)
  const met = problems.length === 0 && growing.length === 0
  console.log(`  ${met ? 'met' : `MISSED (repeat with --seed ${seed})`}`)
  return met
}
