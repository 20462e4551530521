import { limits } from '@atrium/protocol/limits'
import type { Entry } from './entry.ts'

/** The newest ephemeral entries of a channel. They are not stored; they are kept in memory for clients that reconnect. */
export class EphemeralEntries {
  readonly #entries: Entry[] = []
  #length = 0
  /** Every ephemeral entry above this sequence number is still in memory. */
  #from: number

  constructor(from: number) {
    this.#from = from
  }

  add(entry: Entry): void {
    this.#entries.push(entry)
    this.#length += entry.text.length
    while (this.#length > limits.passingBytes) {
      const removed = this.#entries.shift()
      if (!removed) return
      this.#length -= removed.text.length
      this.#from = removed.last
    }
  }

  /** The entries above a sequence number; undefined if some of these entries are no longer in memory. */
  since(after: number): readonly Entry[] | undefined {
    return after < this.#from ? undefined : this.#entries.filter((entry) => entry.seq > after)
  }

  dispatchedBy(clientId: string): readonly Entry[] {
    return this.#entries.filter(({ origin }) => origin?.clientId === clientId)
  }
}
