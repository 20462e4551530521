import type { Version } from '@atrium/protocol/versions/negotiate'

/**
 * `absent`: the version does not have the feature. `skip`: the host or the command line does not offer what the feature needs.
 * `refused`: the host does not speak the version.
 */
export type Outcome = 'yes' | 'absent' | 'failed' | 'skip' | 'refused'

export interface Cell {
  readonly feature: string
  readonly version: Version
  readonly outcome: Outcome
  /** For a failure, what each check found; for a skip or a refusal, the reason. */
  readonly reasons: readonly string[]
}

/** The matrix of features and versions while it is filled in. */
export class Board {
  readonly #cells = new Map<string, Cell>()

  /** Notes an outcome. A failure stays, whatever else is noted. */
  note(feature: string, version: Version, outcome: Outcome, reason?: string): void {
    const before = this.of(feature, version)
    const reasons = reason === undefined ? [] : [reason]
    const kept = before?.outcome === 'failed'
    this.#cells.set(`${feature} ${version}`, {
      feature,
      version,
      outcome: kept ? 'failed' : outcome,
      reasons: kept ? [...before.reasons, ...(outcome === 'failed' ? reasons : [])] : reasons,
    })
  }

  of(feature: string, version: Version): Cell | undefined {
    return this.#cells.get(`${feature} ${version}`)
  }

  /** Whether the version has failed in this feature. */
  hasFailed(feature: string, version: Version): boolean {
    return this.of(feature, version)?.outcome === 'failed'
  }

  get cells(): readonly Cell[] {
    return [...this.#cells.values()]
  }
}
