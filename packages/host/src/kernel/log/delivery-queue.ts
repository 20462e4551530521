import type { Channel } from './channel.ts'
import type { Entry, Listener } from './entry.ts'

/** An entry that waits for its delivery. */
export interface QueuedEntry {
  readonly entry: Entry
  readonly channel: Channel
  /**
   * The head of the channel after this entry. The member is mutable only because rows that are loaded later are added to the
   * state.
   */
  state: unknown
  /** The number of rows that are not in memory and therefore not in `state`. */
  olderRows: number
  /** Whether the entry must be durable before its delivery. */
  readonly strict: boolean
  /** The newest connection of the client that dispatched the entry. The echo is sent there. */
  sender: Listener | undefined
}

/** The entries that are appended and not delivered, ordered by sequence number. */
export class DeliveryQueue {
  readonly #entries: QueuedEntry[] = []
  #committedSeq: number
  #strict = 0
  #directLength = 0
  /** The highest sequence number of a refusal that was delivered before the waiting entries. */
  #overtaken = 0
  #delivering = false

  constructor(committedSeq: number) {
    this.#committedSeq = committedSeq
  }

  /** The sequence number up to which every entry is delivered. */
  get committedSeq(): number {
    return this.#committedSeq
  }

  /** Whether a strict entry waits for the disk. All entries behind it wait, too. */
  get blocked(): boolean {
    return this.#strict > 0
  }

  /**
   * The total length, in characters, of the waiting entries for a single listener, such as refusals. They are not
   * stored, so the limit of bytes that wait for the disk does not cover them.
   */
  get directLength(): number {
    return this.#directLength
  }

  add(queued: QueuedEntry): void {
    const { seq } = queued.entry
    // Only a refusal that overtakes waiting entries has a lower number than the last entry.
    if ((this.#entries.at(-1)?.entry.seq ?? 0) < seq) this.#entries.push(queued)
    else this.#entries.splice(this.#entries.findLastIndex(({ entry }) => entry.seq < seq) + 1, 0, queued)
    if (queued.strict) this.#strict++
    if (queued.entry.only) this.#directLength += queued.entry.text.length
    queued.channel.entryQueued()
  }

  /** Commits a sequence number that belongs to no entry. The queue must be empty. */
  skip(seq: number): void {
    this.#committedSeq = seq
  }

  get empty(): boolean {
    return this.#entries.length === 0
  }

  /** The waiting entries that a client dispatched. */
  of(clientId: string): readonly QueuedEntry[] {
    return this.#entries.filter(({ entry }) => entry.origin?.clientId === clientId)
  }

  /** Whether an action that a client dispatched, and that was accepted, waits. */
  has(clientId: string): boolean {
    return this.#entries.some(({ entry }) => !entry.only && entry.origin?.clientId === clientId)
  }

  /** Adds loaded rows to the queued states of a channel. */
  prepend(to: Channel, prepending: (state: unknown) => unknown): void {
    for (const queued of this.#entries) {
      if (queued.channel !== to) continue
      queued.state = prepending(queued.state)
      queued.olderRows = to.olderRows
    }
  }

  /** Sends the echoes of a client's waiting entries to the client's new connection. */
  redirect(clientId: string, sender: Listener): void {
    for (const queued of this.of(clientId)) if (queued.sender) queued.sender = sender
  }

  /**
   * Returns a sequence number for a refusal that is delivered before the waiting entries: one of the numbers that
   * were left free before the first strict entry. Undefined if all of these are used, or if an entry of the same
   * client waits: a client gets its actions in order.
   */
  overtakingSeq(clientId: string): number | undefined {
    const first = this.#entries.find(({ strict }) => strict)
    const seq = Math.max(this.#committedSeq, this.#overtaken) + 1
    if (!first || seq >= first.entry.seq || this.of(clientId).length > 0) return undefined
    this.#overtaken = seq
    return seq
  }

  /**
   * Delivers entries ordered by sequence number, up to the first strict entry above `durable`. A nested call does nothing: an
   * entry that is added during a delivery is delivered after it, so that all listeners see the same order.
   */
  deliver(durable: number, last: number, deliverOne: (queued: QueuedEntry) => void): void {
    if (this.#delivering) return
    this.#delivering = true
    let count = 0
    for (const queued of this.#entries) {
      if (queued.strict && queued.entry.seq > durable) break
      count++
      this.#committedSeq = queued.entry.last
      if (queued.strict) this.#strict--
      if (queued.entry.only) this.#directLength -= queued.entry.text.length
      queued.channel.entryCommitted()
      deliverOne(queued)
    }
    this.#entries.splice(0, count)
    if (this.#entries.length === 0) this.#committedSeq = Math.max(this.#committedSeq, Math.min(last, durable))
    this.#delivering = false
  }
}
