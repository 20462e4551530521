import { cpSync } from 'node:fs'
import type { Chance } from '../../chance.ts'
import { busier, failpoints, killing, migrations, newerSchema } from '../failpoint.ts'
import type { Failpoint } from '../failpoint.ts'
import type { HostOptions } from '../host.ts'
import { progress } from '../tally.ts'
import { Trial, newData } from '../trial.ts'
import { twoAtATime } from './scene.ts'
import type { Scene } from './scene.ts'

/** So many steps of each client reach every place more often than its `most`. */
const steps = 150
const stepsBeforeStop = 10
const tries = 4
const quickPoints = 8

/** Kills the host at every place in turn, round after round, each on a folder that lives through all of them. */
export const killsAtFailpoints: Scene = async ({ tally, chance, rounds, quick }) => {
  const every = rounds ?? (quick ? 1 : 5)
  const points = chance.shuffled(failpoints).slice(0, quick ? quickPoints : Infinity)
  const chances = Array.from({ length: every }, () => chance.branch())
  await twoAtATime(chances, async (own, at) => {
    const trial = new Trial(tally, `failpoints-${at + 1}`, own)
    for (const id of ['ann', 'ben', 'cid', 'dee']) trial.client(id)
    try {
      const others = points.filter(({ during }) => during !== 'migration')
      // In the order of the table: the last one lets the migration through.
      const migrating = failpoints.filter((point) => point.during === 'migration' && points.includes(point))
      for (const point of own.shuffled(others)) await reach(trial, point, at)
      await trial.finish({ patches: busier })
      if (migrating.length > 0) await migrate(trial, migrating, at)
    } finally {
      await trial.end()
    }
    progress(`round ${at + 1} of ${every}: ${points.length} failpoints`)
  })
}

/** Lives until the place has killed one. */
async function reach(trial: Trial, point: Failpoint, round: number): Promise<void> {
  let nth = nthOf(point, round, trial.chance)
  for (let time = 1; time <= tries; time++) {
    const killed = await live(trial, { patches: [...busier, killing(point, nth)] }, point)
    if (killed) return trial.tally.hit(point.name)
    // Not reached so often: the life ends otherwise, and the next tries again.
    await trial.host.kill()
    nth = Math.ceil(nth / 3)
  }
  trial.tally.problem(`${point.name} was never reached`)
}

async function live(trial: Trial, options: HostOptions, { during }: Failpoint): Promise<boolean> {
  if (await trial.begin(options)) {
    if (during === 'load') return trial.live(steps)
    await trial.live(stepsBeforeStop)
    trial.host.signal('SIGTERM')
  }
  const { signal } = await trial.host.exit
  if (signal !== 'SIGKILL' && during !== 'stop')
    throw new Error(`the host does not start: ${trial.host.said}`)
  return signal === 'SIGKILL'
}

/**
 * On a copy of what the round has left: killed in the middle, one place after another, until one let it through; and then
 * everything must be there.
 */
async function migrate(from: Trial, points: readonly Failpoint[], round: number): Promise<void> {
  const data = newData()
  cpSync(from.data, data, { recursive: true })
  const trial = new Trial(from.tally, `migration-${round + 1}`, from.chance.branch(), data)
  try {
    cpSync(from.folder, trial.folder, { recursive: true })
    trial.sessions.live.push(...from.sessions.live)
    for (const point of points) {
      if (await trial.begin({ patches: [newerSchema, killing(point, 1)] })) {
        await trial.host.kill()
        from.tally.problem(`${point.name} was never reached`)
        continue
      }
      const { signal } = await trial.host.exit
      if (signal !== 'SIGKILL') throw new Error(`the host does not start: ${trial.host.said}`)
      from.tally.hit(point.name)
    }
    await trial.finish({ patches: [newerSchema], migrations })
  } finally {
    await trial.end()
  }
}

/** Different in each round: early, late, and in between. */
function nthOf({ most }: Failpoint, round: number, chance: Chance): number {
  const share = Math.max(1, Math.floor(most / 5))
  return most <= 5 ? (round % most) + 1 : (round % 5) * share + chance.between(1, share)
}
