/** A piece of code to time. `run` repeats it `count` times. */
export interface Variant {
  readonly name: string
  readonly count: number
  readonly run: () => void
}

/**
 * Returns the nanoseconds that one repetition of each variant takes, in the best of several rounds. The variants take
 * turns, so that other load on the machine affects all of them alike.
 */
export function measure(variants: readonly Variant[], rounds = 15): ReadonlyMap<string, number> {
  const best = new Map<string, number>()
  for (let round = 0; round < rounds + 2; round++)
    for (const { name, count, run } of variants) {
      const start = process.hrtime.bigint()
      run()
      const each = Number(process.hrtime.bigint() - start) / count
      // The first two rounds are a warm-up.
      if (round >= 2) best.set(name, Math.min(best.get(name) ?? Infinity, each))
    }
  return best
}

/** A pseudo-random generator. The same seed gives the same numbers. */
export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
