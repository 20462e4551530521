import type { Kit } from './kit.ts'

/** One requirement that AHP makes of every host, with its test. */
export interface Rule {
  readonly id: string
  readonly title: string
  /** The part of AHP that contains the requirement, in our own words. */
  readonly source: string
  /** A condition on the host without which the rule is skipped. */
  readonly needs?: 'session'
  /** Resolves if the host keeps the rule. Throws Failed if it does not, and Skipped if the rule cannot be judged. */
  run(kit: Kit): Promise<void>
}

export interface Topic {
  readonly name: string
  /** Present if the rules of the topic hold in every version of AHP, and not only in the versions that the kit knows. */
  readonly everyVersion?: true
  readonly rules: readonly Rule[]
}
