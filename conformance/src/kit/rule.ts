import type { Kit } from './kit.ts'
import type { Needed } from './version.ts'

/** One requirement or recommendation that AHP has for every host, with its test. */
export interface Rule extends Needed {
  readonly id: string
  readonly title: string
  /** The part of AHP that contains the requirement, in our own words. */
  readonly source: string
  /** Present if AHP only recommends the behaviour. A host that behaves otherwise gets a note and no failure. */
  readonly recommended?: true
  /** Present if the rule creates no session. The others are skipped if the host creates none. */
  readonly sessionless?: true
  /** Resolves if the host keeps the rule. Throws Failed if it does not, and Skipped if the rule cannot be judged. */
  run(kit: Kit): Promise<void>
}

export interface Topic extends Needed {
  readonly name: string
  /** Present if the rules of the topic hold in every version of AHP, and not only in the versions that the kit can judge. */
  readonly everyVersion?: true
  readonly sessionless?: true
  readonly rules: readonly Rule[]
}

/** Returns how to write a test that begins with what `open` makes. */
export function beginningWith<T>(open: (kit: Kit) => Promise<T>) {
  return (test: (opened: T, kit: Kit) => Promise<void>): Rule['run'] =>
    async (kit) =>
      test(await open(kit), kit)
}
