/**
 * How often runs met what they are about: a simulation in which that never happens finds nothing, and looks as sound as
 * one that does. One process, one tally.
 */
export type Tally = { readonly [what: string]: number }

const counts = new Map<string, number>()

export function met(what: string): void {
  counts.set(what, (counts.get(what) ?? 0) + 1)
}

export function tally(): Tally {
  return Object.fromEntries(counts)
}

/** All of it together. */
export function sum(tallies: readonly Tally[]): Tally {
  const total = new Map<string, number>()
  for (const each of tallies)
    for (const [what, count] of Object.entries(each)) total.set(what, (total.get(what) ?? 0) + count)
  return Object.fromEntries([...total].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
