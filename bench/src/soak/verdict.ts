import { median } from '../percentiles.ts'
import { slopeOf } from '../slope.ts'
import type { Sample } from './sample.ts'

/** So much of a second half is needed before a slope means anything. */
const leastSeconds = 300
/** A slope is believed when it stands so many standard errors above what is allowed: one false alarm in a thousand. */
const errors = 3

/** A quantity that should not grow, and how much of it in an hour nobody minds. */
interface Watched {
  readonly name: string
  readonly of: (sample: Sample) => number | undefined
  readonly unit: number
  /** Absent: it is shown and not judged. */
  readonly allowed?: number
}

const mb = 1e6

export const watched: readonly Watched[] = [
  { name: 'heap after a collection, MB', of: ({ heap }) => heap, unit: mb, allowed: 1 },
  { name: 'RSS, MB', of: ({ rss }) => rss, unit: mb },
  { name: 'file descriptors', of: ({ fds }) => fds, unit: 1, allowed: 2 },
  { name: 'handles', of: ({ handles }) => handles, unit: 1, allowed: 2 },
  { name: 'threads', of: ({ threads }) => threads, unit: 1, allowed: 1 },
  { name: 'children', of: ({ children }) => children, unit: 1, allowed: 1 },
  { name: 'links in memory', of: ({ links }) => links, unit: 1, allowed: 2 },
  { name: 'channels in memory', of: ({ channels }) => channels, unit: 1, allowed: 2 },
  // On the disk a host keeps what nobody may use again: a name for every session there ever was.
  { name: 'database, MB', of: ({ database }) => database, unit: mb },
  {
    name: 'database per live session, KB',
    of: ({ database, sessions }) => database / Math.max(1, sessions),
    unit: 1000,
  },
]

/** What became of one quantity. */
export interface Course {
  readonly name: string
  readonly first: number
  readonly last: number
  readonly median: number
  /** In an hour, over the second half: what a process does while it gets warm is no leak. */
  readonly slope: number
  readonly error: number
  readonly verdict: 'grows' | 'steady' | 'too short' | 'not judged'
}

export function courses(samples: readonly Sample[]): readonly Course[] {
  return watched.flatMap((quantity) => course(quantity, samples) ?? [])
}

function course({ name, of, unit, allowed }: Watched, samples: readonly Sample[]): Course | undefined {
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
    median: median(points.map(([, value]) => value)),
    slope,
    error,
    verdict,
  }
}

export function table(all: readonly Course[]): string {
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
