import type { Uri } from '@atrium/protocol/channel'
import type { NotificationMethod } from '@atrium/protocol/commands'
import type { JsonObject } from '@atrium/protocol/json'
import type { World } from '../../ports/world.ts'

/** Whoever follows a feed: a link of a client, or the collector. */
export interface Follower {
  notify(method: string, params: object): void
  readonly slow?: boolean
  drained?(): Promise<void>
}

export interface FeedForm<R> {
  readonly channel: Uri
  readonly method: NotificationMethod
  /** Makes an OTLP/JSON request of some records. `lost`: how many the follower has missed before them. */
  readonly payload: (records: readonly R[], lost: number) => JsonObject
  /** The maximum number of records in one notification. */
  readonly most: number
}

/**
 * The records of one telemetry channel, in batches. A follower that reads too slowly misses whole batches, and is told how many records
 * they had; nobody waits for it.
 */
export class Feed<R> {
  readonly #world: World
  readonly #form: FeedForm<R>
  /** The number of records that each follower has missed and was not told of. */
  readonly #missed = new Map<Follower, number>()
  #batch: R[] = []
  #cancel: (() => void) | undefined

  constructor(world: World, form: FeedForm<R>) {
    this.#world = world
    this.#form = form
  }

  get followed(): boolean {
    return this.#missed.size > 0
  }

  follow(follower: Follower): void {
    // What is older than the subscription is not sent to the new follower.
    this.flush()
    this.#missed.set(follower, 0)
  }

  leave(follower: Follower): void {
    this.#missed.delete(follower)
  }

  add(record: R): void {
    if (!this.followed) return
    this.#batch.push(record)
    if (this.#batch.length >= this.#form.most) this.flush()
    else this.#cancel ??= this.#world.later(batchMs, () => this.flush())
  }

  flush(): void {
    this.#cancel?.()
    this.#cancel = undefined
    const batch = this.#batch
    this.#batch = []
    if (batch.length === 0) return
    // One object for all followers: its JSON is made once.
    const shared = this.#params(batch, 0)
    for (const [follower, missed] of this.#missed)
      if (follower.slow) this.#miss(follower, missed, batch.length)
      else this.#send(follower, missed === 0 ? shared : this.#params(batch, missed))
  }

  #send(follower: Follower, params: object): void {
    this.#missed.set(follower, 0)
    follower.notify(this.#form.method, params)
  }

  #miss(follower: Follower, missed: number, count: number): void {
    this.#missed.set(follower, missed + count)
    // A follower that reads again is told at once, also if there is no further record.
    if (missed === 0) void follower.drained?.().then(() => this.#tell(follower))
  }

  #tell(follower: Follower): void {
    const missed = this.#missed.get(follower) ?? 0
    if (missed > 0) this.#send(follower, this.#params([], missed))
  }

  #params(records: readonly R[], lost: number): object {
    const { channel, payload } = this.#form
    const note = lost > 0 && { _meta: { 'x-atrium': { lost } } }
    return { channel, payload: payload(records, lost), ...note }
  }
}

/** The milliseconds for which a record waits for others. */
const batchMs = 200
