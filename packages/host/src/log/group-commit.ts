import { limits } from '@atrium/protocol/limits'
import type { StepRecords } from './step-records.ts'
import type { ChannelCreation, Head, LogStore, RowChange, Step, StoredEnvelope } from '../ports/log.ts'
import { DiskFull } from '../ports/log.ts'
import type { World } from '../ports/world.ts'

/** How far numbers may run ahead of what the disk knows of them. */
export const numbersAhead = 1_000_000

/** How long until a flush that found no space is tried again. */
const retryMs = 1000

interface CommitEvents {
  /** More is durable, or there is room again. */
  moved(): void
  /** There is no space: whoever waits for room waits in vain. */
  filled(): void
  /** The store cannot be trusted any more. */
  fatal(error: unknown): void
}

/** Group commit: what is appended in one synchronous step goes together, and one flush at a time takes all there is. */
export class GroupCommit {
  readonly #store: LogStore
  readonly #records: StepRecords
  readonly #world: World
  readonly #events: CommitEvents
  #step = emptyStep()
  #bytes = 0
  /** The last number of the steps given to the store, and of those that are durable. */
  #given: number
  #durable: number
  #upTo: number
  #flushing: Promise<void> | undefined
  #full = false
  #ended = false
  /** How many times something was given to the store, and how many of these are durable. */
  #writes = 0
  #safe = 0

  constructor(store: LogStore, beside: StepRecords, world: World, events: CommitEvents, first: number) {
    this.#records = beside
    this.#store = store
    this.#world = world
    this.#events = events
    this.#given = first - 1
    this.#durable = first - 1
    this.#upTo = first - 1 + numbersAhead
  }

  /** Says durably how far the numbers of this life may run. */
  async begin(): Promise<void> {
    this.#store.append({ ...emptyStep(), upTo: this.#upTo })
    await this.#store.flush()
  }

  /** Everything up to this number is on the disk. */
  get durable(): number {
    return this.#durable
  }

  /** Stands for what the present step gives to the store. */
  get mark(): number {
    return this.#writes + 1
  }

  /** Whether what a mark stands for is on the disk. */
  safe(mark: number): boolean {
    return this.#safe >= mark
  }

  /** The highest number that may be handed out now. */
  get upTo(): number {
    return this.#upTo
  }

  /** The disk has no space: nothing that changes a state may be accepted. */
  get full(): boolean {
    return this.#full
  }

  /** More waits for the disk than may. Without space nothing more is accepted, and nobody waits to learn so. */
  get congested(): boolean {
    return this.#bytes > limits.unflushedBytes && !this.#full
  }

  create(born: ChannelCreation): void {
    this.#step.created.push(born)
    this.#bytes += born.state.length
  }

  envelope(envelope: StoredEnvelope): void {
    this.#step.envelopes.push(envelope)
    this.#bytes += envelope.action.length
  }

  rows(rows: readonly RowChange[]): void {
    // One by one: a long chat may be emptied, and so many are too many for one call.
    for (const row of rows) this.#step.rows.push(row)
  }

  head(head: Head): void {
    this.#step.heads.push(head)
  }

  drop(channel: string, seq: number): void {
    this.#step.dropped.push({ channel, seq })
  }

  /** The synchronous step is over: it goes to the store as one, and a flush begins unless one is under way. */
  seal(last: number): void {
    if (this.#ended) return
    const step = this.#step
    const lists = [step.created, step.envelopes, step.rows, step.heads, step.dropped]
    // Refusals use numbers and need no disk, until they have used up what the disk allows.
    // Where records are written anyway, how far the numbers have come is written with them.
    const moved = last > this.#given + (this.#records.size > 0 ? 0 : numbersAhead / 2)
    const stepped = moved || lists.some((list) => list.length > 0)
    if (stepped) {
      this.#step = emptyStep()
      this.#given = last
      this.#store.append({ ...step, upTo: last + numbersAhead })
    }
    if (stepped || this.#records.size > 0) this.#writes++
    this.#records.addTo()
    this.#flush()
  }

  /** Resolves when all that was given until now is durable: with false where that cannot be said to happen soon. */
  async settled(): Promise<boolean> {
    const goal = this.#writes
    while (this.#safe < goal && this.#flushing && !this.#full) await this.#flushing
    return this.#safe >= goal
  }

  end(): void {
    this.#ended = true
  }

  #flush(again = false): void {
    if (this.#flushing || this.#ended || (this.#full && !again)) return
    if (this.#safe === this.#writes) return
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
    this.#safe = writes
    this.#upTo = upTo + numbersAhead
    this.#bytes -= bytes
    this.#events.moved()
    this.#flush()
  }

  /** For lack of space: all of it is tried again, and nothing is taken back. Anything else ends the host. */
  #failed(error: unknown): void {
    this.#flushing = undefined
    if (!(error instanceof DiskFull)) {
      this.#ended = true
      return this.#events.fatal(error)
    }
    if (!this.#full) this.#world.report('disk full', error)
    this.#full = true
    this.#world.later(retryMs, () => this.#flush(true))
    this.#events.filled()
  }
}

type Open<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? I[] : T[K] }

function emptyStep(): Open<Omit<Step, 'upTo'>> {
  return { created: [], envelopes: [], rows: [], heads: [], dropped: [] }
}
