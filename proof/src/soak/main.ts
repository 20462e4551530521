import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { argumentsOf } from '../arguments.ts'
import { Chance } from '../chance.ts'
import { HostProcess } from '../chaos/host.ts'
import type { Address } from '../chaos/host.ts'
import { Tally } from '../chaos/tally.ts'
import { attacks, runAttacks } from './attacks.ts'
import { Rounds } from './round.ts'
import { sample } from './sample.ts'
import type { Sample } from './sample.ts'
import { table, trendsOf } from './trends.ts'

const usage = 'usage: npm run soak -- [--minutes N] [--clients N] [--seed N]'
const { values } = argumentsOf(
  {
    options: {
      minutes: { type: 'string', default: '10' },
      clients: { type: 'string', default: '24' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  },
  usage,
)
const [minutes, clients, seed] = [Number(values.minutes), Number(values.clients), Number(values.seed)]
if (!(minutes > 0 && clients > 0 && Number.isSafeInteger(seed))) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
process.exit((await soak()) ? 0 : 1)

/**
 * Runs `atrium serve` under mixed load, attacks and slow readers for some minutes. The judge of chaos must find nothing, and no
 * resource of the host may grow.
 */
async function soak(): Promise<boolean> {
  console.log(`Node ${process.version}, ${process.arch}: ${clients} clients for ${minutes} min, seed ${seed}`)
  const folder = mkdtempSync(join(tmpdir(), 'atrium-soak-'))
  const data = join(folder, 'data')
  const probe = fileURLToPath(new URL('./probe.js', import.meta.url))
  // The probe counts objects of the host's classes, which a bundle has under no name.
  const host = new HostProcess(data, {
    node: ['--expose-gc', '--import', probe],
    env: { ATRIUM_UNBUNDLED: '1' },
  })
  const address = await host.ready
  if (!address) throw new Error(`the host does not start: ${host.stderr}`)
  const tally = new Tally(join(folder, 'histories'))
  const rounds = new Rounds({ tally, chance: new Chance(seed), host, address, data, clients })
  // Some code, threads and files of a host are loaded or opened at their first use, which is no growth.
  await rounds.run(1000, true)
  const look = (at: number): Promise<Sample> => sample(host.child, data, at)
  const before = await idle(look, ({ links }) => !links)
  const samples = await underLoad(rounds, address, tally, look)
  const kept = ({ fds = 0, handles, threads = 0, children = 0, links = 0 }: Sample) =>
    Object.entries({ fds, handles, threads, children, links }).filter(
      ([name, count]) => count > (before[name as 'handles'] ?? 0),
    )
  const afterwards = await idle(look, (now) => kept(now).length === 0)
  for (const [name, count] of kept(afterwards))
    tally.problem(`${name}: ${before[name as 'handles']} before the load, ${count} after it`)
  await rounds.run(1000)
  host.signal('SIGTERM')
  const { code } = await host.exit
  if (code !== 0) tally.problem(`the host ended with ${code}: ${host.stderr}`)
  if (tally.problems.length === 0) rmSync(folder, { recursive: true, force: true })
  return report(tally, samples, before, afterwards)
}

async function underLoad(
  rounds: Rounds,
  address: Address,
  tally: Tally,
  look: (at: number) => Promise<Sample>,
): Promise<readonly Sample[]> {
  const samples: Sample[] = []
  const began = performance.now()
  const left = () => minutes * 60_000 - (performance.now() - began)
  const over = new AbortController()
  const attacking = runAttacks(address, new Chance(seed + 1), over.signal, {
    problem: (problem) => tally.problem(problem),
    done: () => tally.outcome('attacks'),
  })
  const sampling = (async () => {
    while (!over.signal.aborted) {
      const at = performance.now() - began
      samples.push(await look(at / 1000))
      // A sample collects garbage, which must not take more than a tenth of the host's time.
      await sleep(Math.max(minutes < 5 ? 1000 : 5000, 10 * (performance.now() - began - at)), undefined, {
        signal: over.signal,
      }).catch(() => {})
    }
  })()
  while (left() > 0) await rounds.run(Math.min(30_000, left()))
  over.abort()
  await Promise.all([attacking, sampling])
  return samples
}

/** Samples the host until it has what is wanted, for at most ten seconds. Returns the last sample. */
async function idle(
  look: (at: number) => Promise<Sample>,
  done: (sample: Sample) => boolean,
): Promise<Sample> {
  for (let tries = 0; ; tries++) {
    const now = await look(0)
    if (tries === 50 || done(now)) return now
    await sleep(200)
  }
}

function report(tally: Tally, samples: readonly Sample[], before: Sample, afterwards: Sample): boolean {
  const all = trendsOf(samples)
  const growing = all.filter(({ verdict }) => verdict === 'grows')
  console.log(`\n${table(all)}\n\n${tally.table()}`)
  const heap = ({ heap: bytes }: Sample) => `${(bytes / 1e6).toFixed(1)} MB`
  console.log(`heap before the load ${heap(before)}, after it ${heap(afterwards)}`)
  console.log(`kinds of attacks ${Object.keys(attacks).length}, growing quantities ${growing.length}`)
  const met = tally.problems.length === 0 && growing.length === 0
  if (tally.problems.length > 0) console.log(`\nhistories ${tally.folder}\n\n${tally.problems.join('\n')}`)
  console.log(met ? 'met' : `MISSED (repeat with --seed ${seed})`)
  return met
}
