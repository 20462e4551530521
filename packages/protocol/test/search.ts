const asked = process.env['ATRIUM_SEARCH']

/** The share of all cases that a search takes: 1 for `full`, 20 for twenty times as many. Absent: each search takes its sample. */
export const share = asked === 'full' ? 1 : Number(asked ?? 0)

/** Whether searches run in full. Otherwise they take a sample, so that `npm test` is quick. */
export const searchesInFull = share >= 1

/** How many trials a search makes. */
export const trials = (all: number, sample: number): number => Math.max(sample, Math.ceil(all * share))

/** Returns all cases in a full search, otherwise a random sample of this size. The names of the tests show the chosen cases. */
export const someOf = <T>(all: readonly T[], sample: number): readonly T[] => {
  if (searchesInFull) return all
  const drawn = all.map((value) => ({ value, at: Math.random() })).toSorted((a, b) => a.at - b.at)
  return drawn.slice(0, trials(all.length, sample)).map(({ value }) => value)
}
