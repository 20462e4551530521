/** Seeded chance: the same seed gives the same choices, whatever the machine. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1))
  }

  one<T>(of: readonly T[]): T | undefined {
    return of[this.between(0, of.length - 1)]
  }

  /** A source of its own, so that one more choice here does not change those there. */
  branch(): Chance {
    return new Chance(this.between(0, 2 ** 32 - 1))
  }

  shuffled<T>(of: readonly T[]): readonly T[] {
    return of
      .map((value) => ({ value, at: this.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ value }) => value)
  }
}
