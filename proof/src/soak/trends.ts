import { slopeOf } from './slope.ts'
import type { Sample } from './sample.ts'

/**
 * Slopes are judged over the second half of a run. If this half is shorter than this many seconds, no slope is
 * judged.
 */
const leastSeconds = 300
/**
 * A quantity grows if its slope exceeds the allowed slope by this many standard errors. This gives about one false
 * alarm in a thousand.
 */
const errors = 3

/** A quantity of the host. It is either judged, and must not grow, or only shown. */
interface Quantity {
  readonly name: string
  readonly of: (sample: Sample) => number | undefined
  readonly unit: number
  /** The allowed growth in an hour, in multiples of `unit`. Absent: the quantity is shown but not judged. */
  readonly allowed?: number
}

const mb = 1e6

const quantities: readonly Quantity[] = [
  { name: 'heap after a collection, MB', of: ({ heap }) => heap, unit: mb, allowed: 1 },
  { name: 'RSS, MB', of: ({ rss }) => rss, unit: mb },
  { name: 'file descriptors', of: ({ fds }) => fds, unit: 1, allowed: 2 },
  { name: 'handles', of: ({ handles }) => handles, unit: 1, allowed: 2 },
  { name: 'threads', of: ({ threads }) => threads, unit: 1, allowed: 1 },
  { name: 'children', of: ({ children }) => children, unit: 1, allowed: 1 },
  { name: 'links in memory', of: ({ links }) => links, unit: 1, allowed: 2 },
  { name: 'channels in memory', of: ({ channels }) => channels, unit: 1, allowed: 2 },
  // The database is not judged. It grows, because the host keeps the URI of every disposed session to prevent its
  // reuse.
  { name: 'database, MB', of: ({ database }) => database, unit: mb },
]

/** The course of one quantity over a run. */
export interface Trend {
  readonly name: string
  readonly first: number
  readonly last: number
  readonly median: number
  /**
   * Growth in an hour, over the second half of the run. The first half is left out, because growth during the warm-up
   * is no leak.
   */
  readonly slope: number
  readonly error: number
  readonly verdict: 'grows' | 'steady' | 'too short' | 'not judged'
}

export function trendsOf(samples: readonly Sample[]): readonly Trend[] {
  return quantities.flatMap((quantity) => trendOf(quantity, samples) ?? [])
}

function trendOf({ name, of, unit, allowed }: Quantity, samples: readonly Sample[]): Trend | undefined {
  const points = samples.flatMap((sample) => {
    const value = of(sample)
    return value === undefined ? [] : [[sample.at / 3600, value / unit] as const]
  })
  const [first, last] = [points[0], points.at(-1)]
  if (!first || !last) return undefined
  const half = points.filter(([at]) => at >= (first[0] + last[0]) / 2)
  const { slope, error } = slopeOf(half)
  const long = ((last[0] - first[0]) / 2) * 3600 >= leastSeconds
  const grows = slope - errors * error > (allowed ?? Infinity)
  const verdict = allowed === undefined ? 'not judged' : !long ? 'too short' : grows ? 'grows' : 'steady'
  return {
    name,
    first: first[1],
    last: last[1],
    median: points.map(([, value]) => value).toSorted((a, b) => a - b)[points.length >> 1] ?? NaN,
    slope,
    error,
    verdict,
  }
}

export function table(all: readonly Trend[]): string {
  const head = ['', 'first', 'last', 'median', 'per hour, ± 2 standard errors', 'verdict']
  const rows = all.map((it) => [
    it.name,
    ...[it.first, it.last, it.median].map((value) => value.toFixed(1)),
    `${it.slope.toFixed(1)} ± ${(2 * it.error).toFixed(1)}`,
    it.verdict,
  ])
  const widths = head.map((_, i) => Math.max(...[head, ...rows].map((row) => (row[i] ?? '').length)))
  return [head, ...rows]
    .map((row) =>
      row.map((cell, i) => (i === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[i] ?? 0))),
    )
    .map((cells) => `  ${cells.join('  ')}`)
    .join('\n')
}
