/** A head is due when the text stored since the last head is longer than this, in characters. */
const headLength = 4 * 1024 * 1024
/** A head is due when this number of rows changed since the last head: fewer rows than a channel wakes with. */
const headRows = 25

/** The record of what the store was given of one channel: since the channel's last head, and in which write. */
export class ChannelWrites {
  #actions = 0
  #length = 0
  #rows = 0
  #changed = false
  #last = 0

  /** Whether an action was reduced that no stored head contains. */
  get changed(): boolean {
    return this.#changed
  }

  /** The newest write that holds a part of the channel, as `GroupCommit.nextWrite` numbers it. */
  get last(): number {
    return this.#last
  }

  reduced(): void {
    this.#changed = true
  }

  actionStored(length: number, write: number): void {
    this.#actions++
    this.#length += length
    this.#last = write
  }

  rowsStored(count: number): void {
    this.#rows += count
  }

  headStored(write: number): void {
    this.#actions = 0
    this.#length = 0
    this.#rows = 0
    this.#changed = false
    this.#last = write
  }

  /** Sets the counts of a channel that was loaded: its actions and rows that are newer than its stored head. */
  loaded(actions: number, rows: number): void {
    this.#actions = actions
    this.#rows = rows
  }

  /** Whether a head should be written: after `every` actions, after much text, or after many rows. */
  headDue(every: number): boolean {
    return this.#actions >= every || this.#length > headLength || this.#rows >= headRows
  }
}
