import type { Chance } from '../../chance.ts'
import type { Tally } from '../tally.ts'

export interface Stage {
  readonly tally: Tally
  readonly chance: Chance
  /** For every push: a minute at most. */
  readonly quick: boolean
  /** Every byte instead of some. */
  readonly exhaustive: boolean
  readonly rounds: number | undefined
}

/** One family of faults. It throws for what keeps it from going on; what was violated goes to the tally. */
export type Scene = (stage: Stage) => Promise<void>

/** Each task once, two of them at any time: a host needs about one core while it starts. */
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
