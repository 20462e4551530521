/** A seeded random source: the same seed gives the same choices on every machine. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** Returns 32 random bits. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return (mixed ^ (mixed >>> 16)) >>> 0
  }

  /** Returns a whole number from 0 up to, but not including, `count`. */
  below(count: number): number {
    return count <= 0 ? 0 : this.next() % count
  }

  /** Returns true in one of `count` cases. */
  oneIn(count: number): boolean {
    return this.below(count) === 0
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.below(list.length)]
  }

  /** Returns a whole number from `least` to `most`. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  shuffled<T>(list: readonly T[]): readonly T[] {
    const placed = list.map((value) => ({ value, at: this.next() }))
    return placed.toSorted((a, b) => a.at - b.at).map(({ value }) => value)
  }

  /** Returns an independent source: an additional draw from it does not change the draws from this one. */
  branch(): Chance {
    return new Chance(this.next())
  }
}
