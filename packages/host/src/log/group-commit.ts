import { limits } from '@atrium/protocol/limits'
import type { StepRecords } from './step-records.ts'
import type { ChannelCreation, Head, LogStore, RowChange, Step, StoredEnvelope } from '../ports/log.ts'
import { DiskFull } from '../ports/log.ts'
import type { World } from '../ports/world.ts'

/** The maximum distance between an assigned number and the last durable one. */
export const numbersAhead = 1_000_000

/** The delay before a flush on a full disk is tried again. */
const retryMs = 1000

interface CommitEvents {
  /** More is durable, and less waits for the disk. */
  flushed(): void
  /** The disk is full: waiting for room is over, because nothing more is accepted. */
  diskFull(): void
  /** The store cannot be trusted any more. */
  fatal(error: unknown): void
}

interface CommitParts {
  readonly store: LogStore
  readonly records: StepRecords
  readonly world: World
  readonly events: CommitEvents
  /** The first sequence number of this epoch. */
  readonly first: number
}

/** Group commit: the writes of one synchronous step are one unit, and each flush takes all steps that wait. */
export class GroupCommit {
  readonly #store: LogStore
  readonly #records: StepRecords
  readonly #world: World
  readonly #events: CommitEvents
  #step = emptyStep()
  #bytes = 0
  /** The last number of the steps that the store was given. */
  #given: number
  /** The last number of the steps that are durable. */
  #durable: number
  #upTo: number
  #flushing: Promise<void> | undefined
  #full = false
  #ended = false
  /** The count of writes to the store. */
  #writes = 0
  /** The count of writes that are durable. */
  #durableWrites = 0

  constructor({ store, records, world, events, first }: CommitParts) {
    this.#store = store
    this.#records = records
    this.#world = world
    this.#events = events
    this.#given = first - 1
    this.#durable = first - 1
    this.#upTo = first - 1 + numbersAhead
  }

  /** Makes durable how far the numbers of this epoch may run. */
  async begin(): Promise<void> {
    this.#store.append({ ...emptyStep(), upTo: this.#upTo })
    await this.#store.flush()
  }

  /** The number up to which everything is on the disk. */
  get durable(): number {
    return this.#durable
  }

  /** The number of the write that will contain the present step. */
  get nextWrite(): number {
    return this.#writes + 1
  }

  isDurable(write: number): boolean {
    return this.#durableWrites >= write
  }

  /** The highest sequence number that may be assigned now. */
  get upTo(): number {
    return this.#upTo
  }

  /** Whether the disk has no space. No action that changes a state may be accepted then. */
  get full(): boolean {
    return this.#full
  }

  /** Whether more waits for the disk than may. False on a full disk, where actions are refused at once instead of waiting. */
  get congested(): boolean {
    return this.#bytes > limits.unflushedBytes && !this.#full
  }

  create(creation: ChannelCreation): void {
    this.#step.created.push(creation)
    this.#bytes += creation.state.length
  }

  envelope(envelope: StoredEnvelope): void {
    this.#step.envelopes.push(envelope)
    this.#bytes += envelope.action.length
  }

  rows(rows: readonly RowChange[]): void {
    // One push for each row: emptying a long chat has more rows than a call may have arguments.
    for (const row of rows) this.#step.rows.push(row)
  }

  head(head: Head): void {
    this.#step.heads.push(head)
  }

  drop(channel: string, seq: number): void {
    this.#step.dropped.push({ channel, seq })
  }

  /** Ends the present step: gives it to the store as one unit, and begins a flush unless one is under way. */
  endStep(last: number): void {
    if (this.#ended) return
    const step = this.#step
    const lists = [step.created, step.envelopes, step.rows, step.heads, step.dropped]
    // Refusals take numbers without a write until half of the allowed distance is used up.
    // A step that writes records writes the last number with them.
    const numbersDue = last > this.#given + (this.#records.size > 0 ? 0 : numbersAhead / 2)
    const stepped = numbersDue || lists.some((list) => list.length > 0)
    if (stepped) {
      this.#step = emptyStep()
      this.#given = last
      this.#store.append({ ...step, upTo: last + numbersAhead })
    }
    if (stepped || this.#records.size > 0) this.#writes++
    this.#records.writeToStore()
    this.#flush()
  }

  /** Resolves with true when every write until now is durable, and with false when the disk is full or the host ends. */
  async settled(): Promise<boolean> {
    const goal = this.#writes
    while (this.#durableWrites < goal && this.#flushing && !this.#full) await this.#flushing
    return this.#durableWrites >= goal
  }

  end(): void {
    this.#ended = true
  }

  #flush(retry = false): void {
    if (this.#flushing || this.#ended || (this.#full && !retry)) return
    if (this.#durableWrites === this.#writes) return
    const upTo = this.#given
    const bytes = this.#bytes
    const writes = this.#writes
    this.#flushing = this.#store.flush().then(
      () => this.#flushed(upTo, bytes, writes),
      (error: unknown) => this.#failed(error),
    )
  }

  #flushed(upTo: number, bytes: number, writes: number): void {
    this.#flushing = undefined
    if (this.#full) this.#world.report('disk has space again')
    this.#full = false
    this.#durable = upTo
    this.#durableWrites = writes
    this.#upTo = upTo + numbersAhead
    this.#bytes -= bytes
    this.#events.flushed()
    this.#flush()
  }

  /** Retries the flush of everything when the disk is full: no write is undone. Any other failure ends the host. */
  #failed(error: unknown): void {
    this.#flushing = undefined
    if (!(error instanceof DiskFull)) {
      this.#ended = true
      return this.#events.fatal(error)
    }
    if (!this.#full) this.#world.report('disk full', error)
    this.#full = true
    this.#world.later(retryMs, () => this.#flush(true))
    this.#events.diskFull()
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? I[] : T[K] }

function emptyStep(): Mutable<Omit<Step, 'upTo'>> {
  return { created: [], envelopes: [], rows: [], heads: [], dropped: [] }
}
