/** How a measured quantity was spread. */
export interface Spread {
  readonly count: number
  readonly p50: number
  readonly p90: number
  readonly p99: number
  readonly p999: number
  readonly max: number
}

export function spread(values: Iterable<number>): Spread {
  const sorted = Float64Array.from(values).toSorted()
  return {
    count: sorted.length,
    p50: percentile(sorted, 50),
    p90: percentile(sorted, 90),
    p99: percentile(sorted, 99),
    p999: percentile(sorted, 99.9),
    max: sorted.at(-1) ?? NaN,
  }
}

/** The nearest rank: a value that was measured, never one between two. */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  // A hair less: 99.9 % of 1,000 is a little over 999 in binary.
  const rank = Math.ceil((percent / 100) * sorted.length - 1e-9)
  return sorted[Math.max(1, rank) - 1] ?? NaN
}

export function median(values: Iterable<number>): number {
  return spread(values).p50
}
