import type { Chance } from '../../chance.ts'
import type { Tally } from '../tally.ts'

export interface SceneContext {
  readonly tally: Tally
  readonly chance: Chance
  /** Whether the run is a short one, as for every push. It then takes at most a minute. */
  readonly quick: boolean
  readonly rounds: number | undefined
}

/** A test of one family of faults. It throws if it cannot go on. It adds violations to the tally. */
export type Scene = (context: SceneContext) => Promise<void>

/** Runs every task once, two at a time: a host needs about one core while it starts. */
export async function twoAtATime<T>(
  tasks: readonly T[],
  run: (task: T, at: number) => Promise<void>,
): Promise<void> {
  const waiting = [...tasks.entries()]
  const lane = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) await run(next[1], next[0])
  }
  await Promise.all([lane(), lane()])
}
