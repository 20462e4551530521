import { random } from '../measure.ts'

/**
 * When each of so many actions a second shall be sent, in milliseconds from the start. Chance decides, as with people
 * who do not know of each other, and nothing else does: a server that answers late is not asked less often.
 */
export function arrivals(rate: number, seconds: number, seed: number): Float64Array {
  const next = random(seed)
  const times: number[] = []
  for (let at = gap(next, rate); at < seconds * 1000; at += gap(next, rate)) times.push(at)
  return Float64Array.from(times)
}

function gap(next: () => number, rate: number): number {
  return (-Math.log(1 - next()) * 1000) / rate
}

/** Which actions are due: also those that should have been sent while nobody looked. */
export class Pace {
  readonly #times: Float64Array
  #next = 0

  constructor(times: Float64Array) {
    this.#times = times
  }

  get done(): boolean {
    return this.#next === this.#times.length
  }

  *due(now: number): Iterable<number> {
    while (!this.done && (this.#times[this.#next] ?? Infinity) <= now) yield this.#next++
  }
}

/** How long each action took from the moment it should have been sent, however late it was. */
export class Latencies {
  readonly #times: Float64Array
  readonly #took: Float64Array
  #missing: number

  constructor(times: Float64Array) {
    this.#times = times
    this.#took = new Float64Array(times.length).fill(NaN)
    this.#missing = times.length
  }

  get missing(): number {
    return this.#missing
  }

  /** Those that were answered, in the order they were due. */
  get values(): Float64Array {
    return this.#took.filter((took) => !Number.isNaN(took))
  }

  answered(index: number, now: number): void {
    if (Number.isNaN(this.#took[index])) this.#missing--
    this.#took[index] = now - (this.#times[index] ?? NaN)
  }
}
