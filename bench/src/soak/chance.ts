import { random } from '../measure.ts'

/** Decisions from a seed. */
export class Chance {
  readonly #next: () => number

  constructor(seed: number) {
    this.#next = random(seed)
  }

  /** A whole number from `least`, below `most`. */
  between(least: number, most: number): number {
    return least + Math.floor(this.#next() * (most - least))
  }

  pick<T>(list: readonly T[]): T | undefined {
    return list[this.between(0, list.length)]
  }

  /** A name, as often as its weight says. */
  weighted<K extends string>(weights: { readonly [name in K]: number }): K {
    const entries = Object.entries(weights) as [K, number][]
    let left = this.#next() * entries.reduce((sum, [, weight]) => sum + weight, 0)
    for (const [name, weight] of entries) if ((left -= weight) < 0) return name
    return entries[0]?.[0] as K
  }

  /** Nobody does things at the same pace. */
  pause(least: number, most: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, this.between(least, most)))
  }
}
