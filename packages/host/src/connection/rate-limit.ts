import type { LimitValues } from '@atrium/protocol/limits'
import type { World } from '../ports/world.ts'

/** Said to whoever asked or dispatched more than a link may in one window. */
export const rateExceeded =
  'too fast: this link has said more than it may for now; say it again in a few seconds'

/**
 * What one link may say in a window (S-22). The window begins with its first message and is ended by the world's timer:
 * no clock is read, and a silent link has none.
 */
export class RateLimit {
  readonly #world: World
  readonly #limits: LimitValues
  #messages = 0
  #length = 0
  #pings = 0
  #reports = 0
  #undo: (() => void) | undefined

  constructor(world: World, limits: LimitValues) {
    this.#world = world
    this.#limits = limits
  }

  spend(length: number): void {
    this.#undo ??= this.#world.later(this.#limits.windowMs, () => this.end())
    this.#messages++
    this.#length += length
  }

  /** What was spent was a ping: they have a budget of their own, so that who is too fast is still seen to live. */
  ping(): void {
    this.#messages--
    this.#pings++
  }

  /** What came last is to be refused. */
  get over(): boolean {
    return this.#beyond(1)
  }

  get overPings(): boolean {
    return this.#pings > this.#limits.pings
  }

  /** Refusals did not help. */
  get spent(): boolean {
    return this.#beyond(2) || this.#pings > 2 * this.#limits.pings
  }

  /** Whether one more line about this link goes to the log, which can be flooded too. */
  report(): boolean {
    return ++this.#reports <= this.#limits.reports
  }

  end(): void {
    this.#undo?.()
    this.#undo = undefined
    this.#messages = 0
    this.#length = 0
    this.#pings = 0
    this.#reports = 0
  }

  #beyond(times: number): boolean {
    const { messages, messageLength } = this.#limits
    return this.#messages > times * messages || this.#length > times * messageLength
  }
}
