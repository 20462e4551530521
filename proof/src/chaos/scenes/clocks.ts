import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Patch } from '../../plant/patch.ts'
import { progress } from '../tally.ts'
import { withTrial } from '../trial.ts'
import type { Scene } from './scene.ts'

/**
 * Gives the host a wall clock that can be moved: the number of milliseconds in the file that `ATRIUM_CLOCK` names is
 * added to it.
 */
export const ownClock: readonly Patch[] = [
  {
    file: 'adapters/dist/process/world.js',
    find: 'export function nodeWorld(',
    put: `import { readFileSync } from 'node:fs'; export function nodeWorld(`,
  },
  {
    file: 'adapters/dist/process/world.js',
    find: 'now: Date.now,',
    put: `now: () => Date.now() + Number(readFileSync(process.env.ATRIUM_CLOCK, 'utf8')),`,
  },
]

const hour = 3_600_000
const year = 365.25 * 24 * hour

/** Offsets of the clock in milliseconds, one per host run: forward and back, also far behind the previous run. */
const jumps = [0, -hour, 0, year, year - hour, 0, -year]

/** Tests F-13: the clock jumps between host runs and within them. Sequence numbers only rise, and no link ends. */
export const clocks: Scene = async ({ tally, chance, quick }) => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-clock-'))
  const path = join(folder, 'offset')
  const set = (offset: number): void => writeFileSync(path, String(offset))
  const options = { patches: ownClock, env: { ATRIUM_CLOCK: path } }
  const clients = ['ann', 'ben', 'cid']
  await withTrial({ tally, name: 'clocks', chance, clients }, async (trial) => {
    for (const jump of quick ? jumps.slice(0, 4) : jumps) {
      set(jump)
      await trial.mustStart(options)
      await trial.converge()
      for (const inside of quick ? [-hour] : [-hour, year, 0]) {
        await trial.work(quick ? 10 : 30)
        await trial.converge()
        const before = trial.clients.map(({ link }) => link.lost)
        set(jump + inside)
        for (const client of trial.clients) client.dispatch('ahp-root://', config(client.id, jump + inside))
        await trial.converge()
        const dropped = trial.clients.filter(({ link }, i) => link.lost !== before[i])
        if (dropped.length > 0)
          tally.problem(`F-13: a clock jump by ${inside} ms ended ${dropped.length} links`)
        tally.outcome('clock jumps within a host run')
      }
      trial.host.signal(jump < 0 ? 'SIGTERM' : 'SIGKILL')
      await trial.host.exit
      for (const client of trial.clients) client.cut()
      tally.outcome('clock jumps between host runs')
    }
    set(0)
    await trial.finish(options)
    progress(`${jumps.length} host runs with moved clocks`)
  }).finally(() => rmSync(folder, { recursive: true, force: true }))
}

function config(id: string, value: number) {
  return { type: 'root/configChanged', config: { [`chaos.clock.${id}`]: value } }
}
