import type { Chance } from '../chance.ts'
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
