import type { Channel } from './channel.ts'
import type { Entry, Listener } from './entry.ts'

/** An action that waits to be told: whether for the disk, the channel's state after it, and who sent it. */
export interface QueuedEntry {
  readonly entry: Entry
  readonly channel: Channel
  /** So that rows which come into memory later can be put into it, nothing else. */
  state: unknown
  /** How many rows of the state are not in memory. */
  olderRows: number
  readonly strict: boolean
  /** The newest link of the client that dispatched it. */
  sender: Listener | undefined
}

/** What was appended and not told, in number order; and `told`, the number up to which everyone has been. */
export class DeliveryQueue {
  readonly #waiting: QueuedEntry[] = []
  #committedSeq: number
  #strict = 0
  #directLength = 0
  /** The highest number given to an answer that went before what waits. */
  #overtaken = 0
  #delivering = false

  constructor(told: number) {
    this.#committedSeq = told
  }

  get committedSeq(): number {
    return this.#committedSeq
  }

  /** A strict action waits, and others behind it. */
  get blocked(): boolean {
    return this.#strict > 0
  }

  /** How much is meant for one alone: refusals and the like, which no disk makes anybody wait for. */
  get directLength(): number {
    return this.#directLength
  }

  add(queued: QueuedEntry): void {
    const { seq } = queued.entry
    // Only an answer that goes before what waits has a lower number than the last.
    if ((this.#waiting.at(-1)?.entry.seq ?? 0) < seq) this.#waiting.push(queued)
    else this.#waiting.splice(this.#waiting.findLastIndex(({ entry }) => entry.seq < seq) + 1, 0, queued)
    if (queued.strict) this.#strict++
    if (queued.entry.only) this.#directLength += queued.entry.text.length
    queued.channel.uncommitted++
  }

  /** Nobody waits before this number, which is nobody's: from now on it is the one that everyone has been told. */
  skip(seq: number): void {
    this.#committedSeq = seq
  }

  get empty(): boolean {
    return this.#waiting.length === 0
  }

  /** What a client has in it. */
  of(clientId: string): readonly QueuedEntry[] {
    return this.#waiting.filter(({ entry }) => entry.origin?.clientId === clientId)
  }

  /** Rows of a channel came into memory: its states that wait have them, too. */
  prepend(to: Channel, prepending: (state: unknown) => unknown): void {
    for (const queued of this.#waiting) {
      if (queued.channel !== to) continue
      queued.state = prepending(queued.state)
      queued.olderRows = to.olderRows
    }
  }

  /** Those who dispatched what waits are reached by another link from now on. */
  redirect(clientId: string, sender: Listener): void {
    for (const queued of this.of(clientId)) if (queued.sender) queued.sender = sender
  }

  /** A number for an answer that may go before what waits: if nothing of the same client waits and one is free. */
  overtaking(clientId: string): number | undefined {
    const first = this.#waiting.find(({ strict }) => strict)
    const seq = Math.max(this.#committedSeq, this.#overtaken) + 1
    if (!first || seq >= first.entry.seq || this.of(clientId).length > 0) return undefined
    this.#overtaken = seq
    return seq
  }

  /** In number order, as far as the disk allows. What is added meanwhile waits, so that all see one order. */
  deliver(durable: number, last: number, one: (queued: QueuedEntry) => void): void {
    if (this.#delivering) return
    this.#delivering = true
    let count = 0
    for (const queued of this.#waiting) {
      if (queued.strict && queued.entry.seq > durable) break
      count++
      this.#committedSeq = queued.entry.last
      if (queued.strict) this.#strict--
      if (queued.entry.only) this.#directLength -= queued.entry.text.length
      queued.channel.uncommitted--
      one(queued)
    }
    this.#waiting.splice(0, count)
    if (this.#waiting.length === 0) this.#committedSeq = Math.max(this.#committedSeq, Math.min(last, durable))
    this.#delivering = false
  }
}
