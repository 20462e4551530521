/**
 * A place in the history of a channel: after the action with this sequence number, and after this many shown
 * envelopes.
 */
export interface Moment {
  readonly seq: number
  readonly position: number
}

export interface PastState extends Moment {
  readonly state: unknown
}

/** The maximum number of states of one channel in memory. States share what has not changed between them. */
const maxStates = 64
const firstStride = 128

/**
 * States of one channel at some moments of its past, from which other states are made. If there are too many, every
 * second one is dropped, so that those which are left stay spread over the whole history.
 */
export class SavedStates {
  #states: PastState[]
  #stride = firstStride
  #count = 0
  #length: number

  /** `length`: the number of characters of the first state. */
  constructor(first: PastState, length: number) {
    this.#states = [first]
    this.#length = length
  }

  /** An upper bound of the characters of all these states: the characters that were read to make them. */
  get length(): number {
    return this.#length
  }

  get count(): number {
    return this.#states.length
  }

  /** Notes that an action of so many characters was applied. */
  read(length: number): void {
    this.#length += length
  }

  /** Keeps the state if it is its turn: one of every `#stride` offered states is kept. */
  offer(state: PastState): void {
    this.#count++
    if (this.#count % this.#stride === 0) this.insert(state)
  }

  insert(state: PastState): void {
    const at = this.#states.findIndex(({ seq }) => seq >= state.seq)
    if (this.#states[at]?.seq === state.seq) return
    if (at < 0) this.#states.push(state)
    else this.#states.splice(at, 0, state)
    if (this.#states.length <= maxStates) return
    this.#states = this.#states.filter((_, i) => i % 2 === 0)
    this.#stride *= 2
  }

  /** The newest kept state up to a sequence number. */
  before(seq: number): PastState | undefined {
    return nearest(this.#states, 'seq', seq)
  }

  /** Drops all states after a sequence number. */
  cut(seq: number): void {
    this.#states = this.#states.filter((each) => each.seq <= seq)
  }

  beginAt(state: PastState): void {
    this.#states = [state]
  }

  /** Keeps the first state alone, because the others need too much memory. `length`: its characters, and those of the last state. */
  shrink(length: number): void {
    this.#states.splice(1)
    this.#length = length
  }
}

/** The last of some ordered moments that is not after a value. */
export function nearest<M extends Moment>(
  moments: readonly M[],
  by: 'seq' | 'position',
  value: number,
): M | undefined {
  let low = 0
  let high = moments.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((moments[middle]?.[by] ?? Infinity) <= value) low = middle + 1
    else high = middle
  }
  return moments[low - 1]
}
