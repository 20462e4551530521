const asked = process.env['ATRIUM_SEARCH']

/** Whether searches run in full, as in `.ci/run`. Otherwise they take a sample, so that `npm test` is quick. */
export const searchesInFull = asked !== undefined

/** How many trials a search makes. `ATRIUM_SEARCH=20` makes twenty times as many as `ATRIUM_SEARCH=full`. */
export const trials = (all: number, sample: number): number => {
  if (!searchesInFull) return sample
  return asked === 'full' ? all : all * Number(asked)
}

/** Returns all cases in a full search, otherwise a random sample of this size. The names of the tests show the chosen cases. */
export const someOf = <T>(all: readonly T[], sample: number): readonly T[] => {
  if (searchesInFull) return all
  const drawn = all.map((value) => ({ value, at: Math.random() })).toSorted((a, b) => a.at - b.at)
  return drawn.slice(0, sample).map(({ value }) => value)
}
