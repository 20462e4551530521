/**
 * So many numbers are left free before an action that others may have to wait behind: if it waits for space on the
 * disk, refusals can still be given, in order, below it.
 */
const reserved = 64

/** The log's numbers: each is handed out once, upwards. */
export class Sequence {
  #last: number

  constructor(first: number) {
    this.#last = first - 1
  }

  get last(): number {
    return this.#last
  }

  /** The first of so many numbers in a row. */
  next(count = 1): number {
    const first = this.#last + 1
    this.#last += count
    return first
  }

  /** Leaves some free. */
  skip(): void {
    this.#last += reserved
  }
}
