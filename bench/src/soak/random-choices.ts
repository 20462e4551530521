import { random } from '../measure.ts'

/** Random choices. The same seed gives the same choices. */
export class RandomChoices {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = random(seed)
  }

  /** A random integer. `least` is possible, `most` is not. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least))
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.between(0, list.length)]
  }

  /** Picks a name. The probability of a name is proportional to its weight. */
  weighted<K extends string>(weights: { readonly [name in K]: number }): K {
    const entries = Object.entries(weights) as [K, number][]
    let left = this.#next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) if ((left -= weight) < 0) return name
    // Reached only if rounding errors leave a small rest after the last weight.
    return entries[0]?.[0] as K
  }

  /** Waits for a random time in milliseconds. */
  pause(least: number, most: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.between(least, most)))
  }
}
