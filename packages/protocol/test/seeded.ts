/** Random numbers from 0 up to, but not including, 1. The same seed gives the same numbers in every run. */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A random seed. Tests print it in their names. */
export const newSeed = (): number => Math.floor(Math.random() * 2 ** 31)
