/** Percentiles of a measured quantity. */
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

/** The percentile by nearest rank. It is always a measured value, never an interpolated one. */
export function percentile(sorted: ArrayLike<number>, percent: number): number {
  // A little is subtracted because 99.9 % of 1,000 is slightly more than 999 in binary floating point.
  const rank = Math.ceil((percent / 100) * sorted.length - 1e-9)
  return sorted[Math.max(1, rank) - 1] ?? NaN
}

export function median(values: Iterable<number>): number {
  return spread(values).p50
}
