/** A bound on something that would otherwise grow with time, or that a peer could make as large as it likes. */
export interface Limit {
  readonly value: number
  readonly unit: string
  /** The rule of the spec that the limit belongs to. */
  readonly rule: string
  /** What happens beyond the limit. */
  readonly past: string
}

export const KiB = 1024
export const MiB = 1024 * KiB

/** A row of the table of limits. */
export function row(value: number, unit: string, rule: string, past: string): Limit {
  return { value, unit, rule, past }
}
