import type { Uri } from '@atrium/protocol/channel'
import type { Channel } from '../log/channel.ts'
import type { Log } from '../log/log.ts'
import type { LogStore } from '../../ports/log.ts'
import { DiskFull } from '../../ports/log.ts'
import type { World } from '../../ports/world.ts'

/** The minimum length of a segment's text, in characters. Compressing less would save little. */
const worthwhile = 16 * 1024
/** The pause between two slices of work, in milliseconds. During it, flushes have the store for themselves. */
const pauseMs = 50
/** The time in milliseconds after a start before anything is sealed, so that clients can reconnect first. */
const startMs = 30_000
/** Milliseconds until the host looks again at channels with a job, or tries again to write to a full disk. */
const retryMs = 60_000

interface SealingParts {
  readonly store: LogStore
  readonly log: Log
  /** Tells whether a job runs for a channel. */
  readonly jobs: { has(uri: Uri): boolean }
  readonly world: World
  /** The minimum length of a segment's text, in characters. The default is 16 Ki. */
  readonly least?: number | undefined
}

/**
 * Seals, which means compresses, the envelopes that are out of daily use, in the background and one slice at a time.
 * These are all envelopes of a channel that has left memory, and those before the last but one head of a channel in
 * memory. A channel with a job waits until the job has ended. When nothing is left to seal, deletes what large
 * dropped channels have left, and gives unused space back to the file system.
 */
export class Sealing {
  readonly #parts: SealingParts
  /** The channels that may have something to seal. */
  readonly #waiting = new Set<Uri>()
  #earlier: (() => Iterable<Uri>) | undefined
  #cancelTimer: (() => void) | undefined
  /** Whether the file may have dropped data or unused space. An earlier run of the host may have left some. */
  #freed = true
  #working = false
  #ended = false

  constructor(parts: SealingParts) {
    this.#parts = parts
  }

  /**
   * Adds the channels of earlier runs of the host to those that wait. The channels are listed when the first slice
   * begins, some time after the start.
   */
  start(channels: () => Iterable<Uri>): void {
    this.#earlier = channels
    this.#schedule(startMs)
  }

  /** Adds a channel that has left memory to those that wait. */
  slept({ uri }: Channel): void {
    this.#add(uri)
  }

  /** Adds a channel to those that wait if it has got a new head. Called when an action is committed. */
  committed({ uri, writes }: Channel): void {
    if (writes.takeCold()) this.#add(uri)
  }

  /** Schedules a `shrink` of the store, once the present step, which deletes data, is committed. */
  freed(): void {
    const { log } = this.#parts
    void log.reached(log.last).then(() => {
      this.#freed = true
      this.#schedule(pauseMs)
    })
  }

  end(): void {
    this.#ended = true
    this.#cancelTimer?.()
  }

  #add(uri: Uri): void {
    this.#waiting.add(uri)
    this.#schedule(pauseMs)
  }

  #schedule(ms: number): void {
    if (this.#working || this.#ended || (this.#waiting.size === 0 && !this.#freed)) return
    this.#cancelTimer ??= this.#parts.world.later(ms, () => {
      this.#cancelTimer = undefined
      void this.#next()
    })
  }

  async #next(): Promise<void> {
    for (const uri of this.#earlier?.() ?? []) this.#waiting.add(uri)
    this.#earlier = undefined
    const uri = this.#idle()
    if (uri === undefined && !this.#freed) return this.#schedule(retryMs)
    this.#working = true
    const pause = await this.#attempt(() => (uri === undefined ? this.#shrink() : this.#seal(uri)))
    this.#working = false
    this.#schedule(pause)
  }

  async #shrink(): Promise<void> {
    this.#freed = false
    // `#freed` was reset before the call, because another step may delete data during it. If the call fails, it must
    // be tried again.
    const more = await this.#parts.store.shrink().catch((error: unknown) => {
      this.#freed = true
      throw error
    })
    if (more) this.#freed = true
  }

  /** Returns the channel that has waited longest and has no job. */
  #idle(): Uri | undefined {
    for (const uri of this.#waiting) if (!this.#parts.jobs.has(uri)) return uri
    return undefined
  }

  async #seal(uri: Uri): Promise<void> {
    const { store, log, world, least = worthwhile } = this.#parts
    const upTo = log.channel(uri)?.writes.coldTo ?? log.committedSeq
    const { envelopes, more, damaged } = await store.seal(uri, upTo, least)
    this.#waiting.delete(uri)
    if (more) this.#waiting.add(uri)
    if (envelopes > 0) this.#freed = true
    if (damaged !== undefined)
      world.report('damaged channel', `the stored history of ${uri} is damaged: ${damaged}`)
  }

  /** Does one slice of work. Returns the time until the next slice. */
  async #attempt(slice: () => Promise<void>): Promise<number> {
    try {
      await slice()
      return pauseMs
    } catch (error) {
      if (error instanceof DiskFull) return retryMs
      // After any other error the store writes nothing more. The next flush ends the host.
      if (!this.#ended) this.#parts.world.report('sealing failed', error)
      this.end()
      return retryMs
    }
  }
}
