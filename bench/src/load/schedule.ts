import { random } from '../measure.ts'

/**
 * The send time of each action in milliseconds from the start. The times form a Poisson process with `rate` actions a
 * second. They do not depend on the server, so a slow server does not get fewer actions.
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

/** Yields the indexes of the actions that are due: all whose time has come since the last call. */
export class Schedule {
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

/** The latency of each action. It counts from the scheduled time, even if the action was sent late. */
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

  /** The latencies of answered actions, in the order of the schedule. */
  get values(): Float64Array {
    return this.#took.filter((took) => !Number.isNaN(took))
  }

  answered(index: number, now: number): void {
    if (Number.isNaN(this.#took[index])) this.#missing--
    this.#took[index] = now - (this.#times[index] ?? NaN)
  }
}
