import type { Kit } from './kit.ts'

/** One thing that AHP asks of every host, and how to find out. */
export interface Rule {
  readonly id: string
  readonly title: string
  /** Where it comes from, in our own words. */
  readonly source: string
  /** What the host must offer for the rule to be judged. */
  readonly needs?: 'session'
  /** Resolves when the host keeps the rule; throws Failed or Skipped when it does not, or cannot be judged. */
  run(kit: Kit): Promise<void>
}

export interface Topic {
  readonly name: string
  /** Whether its rules mean the same in every generation of the protocol, or only in those that the kit knows. */
  readonly everyVersion?: true
  readonly rules: readonly Rule[]
}
