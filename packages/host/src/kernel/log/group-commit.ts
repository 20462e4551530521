import { limits } from '@atrium/protocol/limits'
import type { RecentEnvelopes } from './kept-entries.ts'
import type { StepRecords } from './step-records.ts'
import type { ChannelCreation, Head, LogStore, RowChange, Step, StoredEnvelope } from '../../ports/log.ts'
import { DiskFull } from '../../ports/log.ts'
import type { World } from '../../ports/world.ts'

/** The maximum distance between an assigned sequence number and the last durable one. */
export const numbersAhead = 1_000_000

/** The number of characters that each waiting action adds to `backlog`, in addition to its own. */
const envelopeLength = 512
/**
 * The number of characters that each channel with waiting actions adds to `backlog`. Each such channel costs writes
 * of its own, because its actions are in other pages of the database file.
 */
const channelLength = 2048

/** The delay in milliseconds before a flush that found the disk full is tried again. */
const retryMs = 1000

interface Waiting {
  readonly bytes: number
  readonly length: number
}

interface CommitEvents {
  /** Called after a flush: more is durable, and less waits for the disk. */
  flushed(): void
  /**
   * Called when a flush has found the disk full. Code that waits until more may be appended goes on: on a full disk
   * actions are refused, so that none waits.
   */
  diskFull(): void
  /** Called when the disk becomes full, and when it has space again. */
  fullChanged(full: boolean): void
  /** Called when the store cannot be trusted any more. */
  fatal(error: unknown): void
}

interface CommitParts {
  readonly store: LogStore
  readonly records: StepRecords
  readonly recent: RecentEnvelopes
  readonly world: World
  readonly events: CommitEvents
  /** The first sequence number of this run of the host. */
  readonly first: number
}

/** Group commit. The writes of one synchronous step are one unit, and each flush makes all waiting steps durable. */
export class GroupCommit {
  readonly #store: LogStore
  readonly #records: StepRecords
  readonly #recent: RecentEnvelopes
  readonly #world: World
  readonly #events: CommitEvents
  #step = emptyStep()
  #bytes = 0
  /** The characters of the actions that wait for the disk, plus a constant for each action and for each channel. */
  #length = 0
  /** The channels with actions for the next flush. */
  readonly #channels = new Set<string>()
  /** The last sequence number of the steps that were given to the store. */
  #given: number
  /** The last sequence number of the steps that are durable. */
  #durable: number
  #upTo: number
  #flushing: Promise<void> | undefined
  #full = false
  #ended = false
  /** The number of writes that were given to the store. */
  #writes = 0
  /** The number of writes that are durable. */
  #durableWrites = 0

  constructor({ store, records, recent, world, events, first }: CommitParts) {
    this.#store = store
    this.#records = records
    this.#recent = recent
    this.#world = world
    this.#events = events
    this.#given = first - 1
    this.#durable = first - 1
    this.#upTo = first - 1 + numbersAhead
  }

  /** Stores the highest sequence number that may be assigned for now, and resolves when it is durable. */
  async begin(): Promise<void> {
    this.#store.append({ ...emptyStep(), upTo: this.#upTo })
    await this.#store.flush()
  }

  /** The sequence number up to which everything is on the disk. */
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

  /**
   * Whether the disk is full. On a full disk the host accepts actions only from clients that already have actions which wait for
   * space.
   */
  get full(): boolean {
    return this.#full
  }

  /** Whether too many bytes wait for the disk. False on a full disk, where actions are refused at once instead of waiting. */
  get congested(): boolean {
    return this.#bytes > limits.unflushedBytes && !this.#full
  }

  /** Whether the disk is full, and more may wait for space. The echoes are sent all at once, and must not close the link. */
  get mayWaitForSpace(): boolean {
    return this.#full && this.#bytes <= limits.unreadBytes / 2
  }

  /**
   * The number of characters of the actions that wait for the disk, plus a constant for each action and for each
   * channel, divided by how much more than usual the store lets wait. Zero on a full disk, where nothing waits.
   */
  get backlog(): number {
    return this.#full ? 0 : this.#length / (this.#store.ahead ?? 1)
  }

  create(creation: ChannelCreation): void {
    this.#step.created.push(creation)
    this.#bytes += creation.state.length
  }

  envelope(envelope: StoredEnvelope): void {
    this.#step.envelopes.push(envelope)
    this.#recent.add(envelope)
    this.#bytes += envelope.action.length
    this.#length += envelope.action.length + envelopeLength
    if (this.#channels.has(envelope.channel)) return
    this.#channels.add(envelope.channel)
    this.#length += channelLength
  }

  rows(rows: readonly RowChange[]): void {
    // Each row is pushed by a call of its own: a long chat that is emptied has more rows than one call can have arguments.
    for (const row of rows) this.#step.rows.push(row)
  }

  head(head: Head): void {
    this.#step.heads.push(head)
  }

  drop(channel: string, seq: number): void {
    this.#step.dropped.push({ channel, seq })
    this.#recent.drop(channel)
  }

  /** Ends the present step. Gives the step to the store as one unit, and begins a flush unless one is running. */
  endStep(last: number): void {
    if (this.#ended) return
    const step = this.#step
    const lists = [step.created, step.envelopes, step.rows, step.heads, step.dropped]
    // A step with nothing but refusals need not be written: the store already has `upTo`, an upper bound for all
    // numbers. A new bound is written when half of the numbers below the old one are used. A step with records always
    // writes its last number, too.
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

  /** Resolves with true when every write up to now is durable. Resolves with false when the disk is full or the host ends. */
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
    const waiting = { bytes: this.#bytes, length: this.#length }
    const writes = this.#writes
    this.#channels.clear()
    this.#flushing = this.#store.flush().then(
      () => this.#flushed(upTo, waiting, writes),
      (error: unknown) => this.#failed(error),
    )
  }

  #flushed(upTo: number, { bytes, length }: Waiting, writes: number): void {
    this.#flushing = undefined
    this.#durable = upTo
    this.#durableWrites = writes
    this.#upTo = upTo + numbersAhead
    this.#bytes -= bytes
    this.#length -= length
    this.#setFull(false)
    this.#events.flushed()
    this.#flush()
  }

  /**
   * Handles a failed flush. On a full disk the whole flush is tried again, and no write is lost. Any other failure ends the
   * host.
   */
  #failed(error: unknown): void {
    this.#flushing = undefined
    // A host that was abandoned has closed its store.
    if (this.#ended) return
    if (!(error instanceof DiskFull)) {
      this.#ended = true
      return this.#events.fatal(error)
    }
    this.#setFull(true, error)
    this.#world.later(retryMs, () => this.#flush(true))
    this.#events.diskFull()
  }

  #setFull(full: boolean, error?: unknown): void {
    if (this.#full === full) return
    this.#full = full
    this.#world.report(full ? 'disk full' : 'disk has space again', error)
    this.#events.fullChanged(full)
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? I[] : T[K] }

function emptyStep(): Mutable<Omit<Step, 'upTo'>> {
  return { created: [], envelopes: [], rows: [], heads: [], dropped: [] }
}
