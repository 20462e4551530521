/**
 * How often runs reached the situations they are meant for. A simulation that never reaches them finds nothing and
 * still looks correct. There is one tally per process.
 */
export type Tally = { readonly [what: string]: number }

const counts = new Map<string, number>()

/** Counts one occurrence of a situation. */
export function count(what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

export function tally(): Tally {
  return Object.fromEntries(counts)
}

/** Returns the sum of several tallies. */
export function sum(tallies: readonly Tally[]): Tally {
  const total = new Map<string, number>()
  for (const each of tallies)
    for (const [what, count] of Object.entries(each)) total.set(what, (total.get(what) ?? 0) + count)
  return Object.fromEntries([...total].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
