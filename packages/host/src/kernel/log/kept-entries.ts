import type { Uri } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import type { StoredEnvelope } from '../../ports/log.ts'
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

/** The cost of an envelope in memory, in characters, in addition to the characters of its action. */
const envelopeCost = 128

/**
 * The newest stored actions of all channels. They are kept in memory, so that a client that was away for a short time can be
 * answered without reading the store.
 */
export class RecentEnvelopes {
  readonly #most: number
  #envelopes: StoredEnvelope[] = []
  /** The number of envelopes at the beginning of the list that were removed, although the list still contains them. */
  #removed = 0
  #cost = 0
  /** Every envelope above this sequence number is in memory. */
  #from: number

  /**
   * `first`: the first sequence number of this run of the host. `most`: the maximum cost of the envelopes in memory,
   * which is about their length in characters.
   */
  constructor(first: number, most: number) {
    this.#from = first - 1
    this.#most = most
  }

  add(envelope: StoredEnvelope): void {
    this.#envelopes.push(envelope)
    this.#cost += costOf(envelope)
    while (this.#cost > this.#most) this.#removeOldest()
  }

  /** The envelopes above a sequence number; undefined if some of these envelopes are not in memory. */
  since(after: number): readonly StoredEnvelope[] | undefined {
    if (after < this.#from) return undefined
    // A client that reconnects has usually missed only the newest envelopes, so the search begins at the end.
    return this.#envelopes.slice(
      Math.max(this.#removed, this.#envelopes.findLastIndex(({ seq }) => seq <= after) + 1),
    )
  }

  /** Removes the envelopes up to a sequence number, because the store has forgotten some of them. */
  forget(upTo: number): void {
    while ((this.#envelopes[this.#removed]?.seq ?? Infinity) <= upTo) this.#removeOldest()
    this.#from = Math.max(this.#from, upTo)
  }

  /** Removes the envelopes of a channel that no longer exists. */
  drop(channel: Uri): void {
    this.#envelopes = this.#envelopes.filter((one, at) => at >= this.#removed && one.channel !== channel)
    this.#removed = 0
    this.#cost = this.#envelopes.reduce((sum, one) => sum + costOf(one), 0)
  }

  #removeOldest(): void {
    const oldest = this.#envelopes[this.#removed++]
    if (!oldest) return
    this.#cost -= costOf(oldest)
    this.#from = oldest.seq
    // The list is copied only when half of its envelopes were removed, so that the removal of one envelope costs little.
    if (2 * this.#removed <= this.#envelopes.length) return
    this.#envelopes.splice(0, this.#removed)
    this.#removed = 0
  }
}

const costOf = ({ action }: StoredEnvelope) => action.length + envelopeCost
