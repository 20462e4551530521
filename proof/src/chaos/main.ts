import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { argumentsOf } from '../arguments.ts'
import { Chance } from '../chance.ts'
import { HostProcess } from './host.ts'
import { readRun, runsBelow } from './history.ts'
import { judge } from './judge/judge.ts'
import { mutations } from './mutation.ts'
import { killsAtFailpoints } from './scenes/failpoints.ts'
import { clocks } from './scenes/clocks.ts'
import { disks } from './scenes/disks.ts'
import { kills } from './scenes/kills.ts'
import { clusters } from './scenes/nodes.ts'
import { proxies } from './scenes/proxies.ts'
import { damagedRecords } from './scenes/records.ts'
import type { Scene } from './scenes/scene.ts'
import { Tally, progress } from './tally.ts'

const scenes: Readonly<Record<string, Scene>> = {
  kills,
  failpoints: killsAtFailpoints,
  disk: disks,
  records: damagedRecords,
  proxy: proxies,
  clock: clocks,
  nodes: clusters,
}

const usage = `usage: npm run chaos [-- --quick] [--only ${Object.keys(scenes).join(',')}] [--seed N] [--rounds N] [--folder DIR]
       npm run chaos -- check FOLDER            judge histories that were written before
       npm run chaos -- --plant ${Object.keys(mutations).join('|')}   plant a bug, which must be found`

const { values, positionals } = argumentsOf(
  {
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      only: { type: 'string' },
      seed: { type: 'string' },
      rounds: { type: 'string' },
      folder: { type: 'string' },
      plant: { type: 'string' },
    },
  },
  usage,
)

const [command, folder] = positionals
process.exit(command === 'check' && folder !== undefined ? check(folder) : await run())

/** Judges the histories of earlier runs, which are in folders at or below this one. */
function check(below: string): number {
  const tally = new Tally(below)
  for (const each of runsBelow(below)) tally.judged(each, judge(readRun(each)))
  console.log(tally.table())
  return tally.problems.length > 0 || tally.runs === 0 ? 1 : 0
}

async function run(): Promise<number> {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32))
  const wanted = values.only?.split(',') ?? Object.keys(scenes)
  const unknown = wanted.filter((name) => !scenes[name])
  if (command !== undefined || unknown.length > 0 || !Number.isSafeInteger(seed)) return refuse()
  const bug = mutations[values.plant ?? '']
  if (values.plant !== undefined && !bug) return refuse()
  HostProcess.planted = bug ? [bug] : []
  // `mkdirSync` fails on an existing folder: histories of two runs must not mix.
  if (values.folder !== undefined) mkdirSync(values.folder)
  const tally = new Tally(values.folder ?? mkdtempSync(join(tmpdir(), 'atrium-chaos-histories-')))
  progress(`seed ${seed}, histories in ${tally.folder}`)
  const chance = new Chance(seed)
  const { quick } = values
  const rounds = values.rounds === undefined ? undefined : Number(values.rounds)
  for (const [name, scene] of Object.entries(scenes)) {
    const context = { tally, chance: chance.branch(), quick, rounds }
    if (!wanted.includes(name)) continue
    progress(`${name} begins`)
    await scene(context).catch((error: unknown) =>
      tally.problem(`${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`),
    )
  }
  console.log(tally.table())
  if (tally.problems.length === 0) return 0
  console.log(`\nseed ${seed}\nhistories ${tally.folder}\n\n${tally.problems.join('\n')}`)
  return 1
}

function refuse(): number {
  console.error(usage)
  return 2
}
