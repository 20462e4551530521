import type { Channel } from './channel.ts'
import type { Entry, Listener } from './entry.ts'

/** An entry that waits for its delivery. */
export interface QueuedEntry {
  readonly entry: Entry
  readonly channel: Channel
  /** The head of the channel after the entry. Mutable only because rows that are loaded later are added to it. */
  state: unknown
  /** The number of rows of the state that are not in memory. */
  olderRows: number
  /** Whether the entry must be durable before its delivery. */
  readonly strict: boolean
  /** The newest connection of the client that dispatched the entry. */
  sender: Listener | undefined
}

/** The appended and undelivered entries in the order of their numbers. */
export class DeliveryQueue {
  readonly #entries: QueuedEntry[] = []
  #committedSeq: number
  #strict = 0
  #directLength = 0
  /** The highest number of a refusal that overtook the entries that wait. */
  #overtaken = 0
  #delivering = false

  constructor(committedSeq: number) {
    this.#committedSeq = committedSeq
  }

  /** The number up to which everything is delivered. */
  get committedSeq(): number {
    return this.#committedSeq
  }

  /** Whether a strict entry waits for the disk. All entries behind it wait, too. */
  get blocked(): boolean {
    return this.#strict > 0
  }

  /** The total length of entries for one listener, such as refusals. They are not stored, so the disk does not bound them. */
  get directLength(): number {
    return this.#directLength
  }

  add(queued: QueuedEntry): void {
    const { seq } = queued.entry
    // Only a refusal that overtakes has a lower number than the last entry.
    if ((this.#entries.at(-1)?.entry.seq ?? 0) < seq) this.#entries.push(queued)
    else this.#entries.splice(this.#entries.findLastIndex(({ entry }) => entry.seq < seq) + 1, 0, queued)
    if (queued.strict) this.#strict++
    if (queued.entry.only) this.#directLength += queued.entry.text.length
    queued.channel.entryQueued()
  }

  /** Commits a number that belongs to no entry. The queue must be empty. */
  skip(seq: number): void {
    this.#committedSeq = seq
  }

  get empty(): boolean {
    return this.#entries.length === 0
  }

  /** The entries that a client dispatched. */
  of(clientId: string): readonly QueuedEntry[] {
    return this.#entries.filter(({ entry }) => entry.origin?.clientId === clientId)
  }

  /** Adds loaded rows to the queued states of a channel. */
  prepend(to: Channel, prepending: (state: unknown) => unknown): void {
    for (const queued of this.#entries) {
      if (queued.channel !== to) continue
      queued.state = prepending(queued.state)
      queued.olderRows = to.olderRows
    }
  }

  /** Sends the echoes of a client's entries to its new connection. */
  redirect(clientId: string, sender: Listener): void {
    for (const queued of this.of(clientId)) if (queued.sender) queued.sender = sender
  }

  /** A number for a refusal below the entries that wait: only if one is free and no entry of the same client waits. */
  overtakingSeq(clientId: string): number | undefined {
    const first = this.#entries.find(({ strict }) => strict)
    const seq = Math.max(this.#committedSeq, this.#overtaken) + 1
    if (!first || seq >= first.entry.seq || this.of(clientId).length > 0) return undefined
    this.#overtaken = seq
    return seq
  }

  /**
   * Delivers in the order of numbers, up to the first strict entry above `durable`. A nested call does nothing: entries that
   * are added during a delivery come after it, so that all listeners see one order.
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
