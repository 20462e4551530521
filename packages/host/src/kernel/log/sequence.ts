/**
 * How many sequence numbers are left free before a strict action, which must be on the disk before its delivery.
 * While the action waits for space on the disk, refusals take the free numbers and are delivered before it, in order.
 */
const reserved = 64

/** The sequence numbers of the log: each is assigned once, in ascending order. */
export class Sequence {
  #last: number

  constructor(first: number) {
    this.#last = first - 1
  }

  get last(): number {
    return this.#last
  }

  /** Assigns `count` numbers in a row and returns the first. */
  next(count = 1): number {
    const first = this.#last + 1
    this.#last += count
    return first
  }

  /** Leaves numbers free for refusals. */
  reserve(): void {
    this.#last += reserved
  }
}
