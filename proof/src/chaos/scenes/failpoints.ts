import { cpSync } from 'node:fs'
import type { Chance } from '../../chance.ts'
import { shortIntervals, failpoints, killAt, killing, migrations, newerSchema } from '../failpoint.ts'
import type { Failpoint } from '../failpoint.ts'
import type { HostOptions } from '../host.ts'
import { progress } from '../tally.ts'
import { newDataFolder, withTrial } from '../trial.ts'
import type { Trial } from '../trial.ts'
import { twoAtATime } from './scene.ts'
import type { Scene } from './scene.ts'

/** Number of steps per client. They are enough to reach every failpoint as often as its `most` says. */
const steps = 150
const stepsBeforeStop = 10
const tries = 4
const quickPoints = 8

/** All failpoints are in every host, so that there is one bundle for all of them. */
const planted = [...shortIntervals, ...failpoints.map(killing)]
const migrating = [newerSchema, ...failpoints.map(killing)]

/** Kills the host at every failpoint in turn, round after round. Each round uses one data folder for all failpoints. */
export const killsAtFailpoints: Scene = async ({ tally, chance, rounds, quick }) => {
  const every = rounds ?? (quick ? 1 : 5)
  const points = chance.shuffled(failpoints).slice(0, quick ? quickPoints : Infinity)
  const chances = Array.from({ length: every }, () => chance.branch())
  await twoAtATime(chances, async (own, at) => {
    const cast = { clients: ['ann', 'ben', 'cid', 'dee'], older: true }
    await withTrial({ tally, name: `failpoints-${at + 1}`, chance: own, ...cast }, async (trial) => {
      const others = points.filter(({ during }) => during !== 'migration')
      // The failpoints of the migration stay in the order of the table. At the last one the migration is complete, so
      // after that kill no other failpoint of the migration could be reached.
      const ofMigration = failpoints.filter((point) => point.during === 'migration' && points.includes(point))
      for (const point of own.shuffled(others)) await killedAt(trial, point, at)
      await trial.finish({ patches: planted })
      if (ofMigration.length > 0) await migrate(trial, ofMigration, at)
    })
    progress(`round ${at + 1} of ${every}: ${points.length} failpoints`)
  })
}

/** Starts one host after the other, until the failpoint has killed one. Reports a problem after too many tries. */
async function killedAt(trial: Trial, point: Failpoint, round: number): Promise<void> {
  let nth = nthOf(point, round, trial.chance)
  for (let time = 1; time <= tries; time++) {
    const killed = await runHost(trial, { patches: planted, env: killAt(point, nth) }, point)
    if (killed) return trial.tally.hit(point.name)
    // The failpoint was reached fewer times than expected: kill this host, and try again with a smaller number.
    await trial.host.kill()
    nth = Math.ceil(nth / 3)
  }
  trial.tally.problem(`${point.name} was never reached`)
}

async function runHost(trial: Trial, options: HostOptions, { during }: Failpoint): Promise<boolean> {
  if (await trial.start(options)) {
    if (during === 'load') return trial.workUntilExit(steps)
    await trial.workUntilExit(stepsBeforeStop)
    trial.host.signal('SIGTERM')
  }
  const { signal } = await trial.host.exit
  if (signal !== 'SIGKILL' && during !== 'stop')
    throw new Error(`the host does not start: ${trial.host.stderr}`)
  return signal === 'SIGKILL'
}

/**
 * Migrates a copy of the round's data: kills the host at one failpoint after another, then completes the migration,
 * and judges that nothing was lost.
 */
async function migrate(from: Trial, points: readonly Failpoint[], round: number): Promise<void> {
  const data = newDataFolder()
  cpSync(from.data, data, { recursive: true })
  const { tally } = from
  const setting = { tally, name: `migration-${round + 1}`, chance: from.chance.branch(), data }
  await withTrial(setting, async (trial) => {
    cpSync(from.folder, trial.folder, { recursive: true })
    trial.sessions.live.push(...from.sessions.live)
    for (const point of points) {
      if (await trial.start({ patches: migrating, env: killAt(point, 1) })) {
        await trial.host.kill()
        tally.problem(`${point.name} was never reached`)
        continue
      }
      const { signal } = await trial.host.exit
      if (signal !== 'SIGKILL') throw new Error(`the host does not start: ${trial.host.stderr}`)
      tally.hit(point.name)
    }
    await trial.finish({ patches: migrating, migrations })
  })
}

/**
 * Returns at which pass of the failpoint the host is killed. It differs from round to round: early, late, and in
 * between.
 */
function nthOf({ most }: Failpoint, round: number, chance: Chance): number {
  const share = Math.max(1, Math.floor(most / 5))
  return most <= 5 ? (round % most) + 1 : (round % 5) * share + chance.between(1, share)
}
