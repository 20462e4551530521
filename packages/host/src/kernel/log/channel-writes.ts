/** A head (the channel's state) is stored when more characters than this were stored since the last head. */
const headLength = 4 * 1024 * 1024
/**
 * A head is stored when this number of rows has changed since the last head. The number is lower than the number of
 * newest rows that a load reads. So a load usually reads every row that is newer than the head.
 */
const headRows = 25

/**
 * The writes of one channel to the store since its last head (the last state that was stored of it): the numbers of
 * actions, characters and rows, which decide when the next head is stored, and the newest write.
 */
export class ChannelWrites {
  #actions = 0
  #length = 0
  #rows = 0
  #changed = false
  #last = 0
  #appended = 0
  #headSeq = 0
  #coldTo = 0
  #coldSeen = 0

  /** Whether the state has changed since the last head was stored. */
  get changed(): boolean {
    return this.#changed
  }

  /** The number of the newest write that contains a part of the channel. `GroupCommit.nextWrite` numbers the writes. */
  get last(): number {
    return this.#last
  }

  /** The length of all actions that were stored since the channel was loaded. In characters. */
  get appended(): number {
    return this.#appended
  }

  /**
   * The sequence number of the last but one stored head. No load of the channel needs the envelopes up to this
   * number, so they may be sealed (compressed). Newer envelopes are not sealed, so that they stay quick to replay.
   */
  get coldTo(): number {
    return this.#coldTo
  }

  /** Returns whether `coldTo` has changed since the last call. */
  takeCold(): boolean {
    if (this.#coldTo === this.#coldSeen) return false
    this.#coldSeen = this.#coldTo
    return true
  }

  reduced(): void {
    this.#changed = true
  }

  actionStored(length: number, write: number): void {
    this.#actions++
    this.#length += length
    this.#appended += length
    this.#last = write
  }

  rowsStored(count: number): void {
    this.#rows += count
  }

  headStored(write: number, seq: number): void {
    this.#coldTo = this.#headSeq
    this.#headSeq = seq
    this.#actions = 0
    this.#length = 0
    this.#rows = 0
    this.#changed = false
    this.#last = write
  }

  /**
   * Sets the counts of a channel that was just loaded: the numbers of its actions and rows that are newer than its stored
   * head, and the sequence number of the head.
   */
  loaded(actions: number, rows: number, headSeq: number): void {
    this.#actions = actions
    this.#rows = rows
    this.#headSeq = headSeq
    this.#coldTo = headSeq
    this.#coldSeen = headSeq
  }

  /** Whether a head should be written: after `every` actions, after much text, or after many rows. */
  headDue(every: number): boolean {
    return this.#actions >= every || this.#length > headLength || this.#rows >= headRows
  }
}
