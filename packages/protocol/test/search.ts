/** Whether searches run in full, as in `.ci/run`. Otherwise they take a sample, so that `npm test` is quick. */
export const searchesInFull = process.env['ATRIUM_SEARCH'] === 'full'

/** How many trials a search makes. */
export const trials = (all: number, sample: number): number => (searchesInFull ? all : sample)
