import type { LimitValues } from '@atrium/protocol/limits'
import type { World } from '../ports/world.ts'

/** The error or rejection for a client that sends more than the rate limit allows. */
export const rateExceeded =
  'too fast: this connection has sent more than the rate limit allows; try again in a few seconds'

/**
 * The rate limit of one connection (S-22). Messages are counted in windows of `windowMs` milliseconds. A window
 * begins with its first message, and a timer ends it. So the clock is never read, and a silent connection needs no
 * timer.
 */
export class RateLimit {
  readonly #world: World
  readonly #limits: LimitValues
  #messages = 0
  #length = 0
  #pings = 0
  #reports = 0
  #cancelTimer: (() => void) | undefined

  constructor(world: World, limits: LimitValues) {
    this.#world = world
    this.#limits = limits
  }

  count(length: number): void {
    this.#cancelTimer ??= this.#world.later(this.#limits.windowMs, () => this.reset())
    this.#messages++
    this.#length += length
  }

  /** Counts the last message as a ping. Pings have their own limit: a client over its message rate must not be taken for dead. */
  countPing(): void {
    this.#messages--
    this.#pings++
  }

  /** Whether the last message must be refused. */
  get exceeded(): boolean {
    return this.#exceeds(1)
  }

  get pingsExceeded(): boolean {
    return this.#pings > this.#limits.pings
  }

  /** Whether the connection must be closed, because the client went on sending in spite of refusals. */
  get exhausted(): boolean {
    return this.#exceeds(2) || this.#pings > 2 * this.#limits.pings
  }

  /** Counts a report about this connection. Returns whether the report may be made: reports are limited like messages. */
  mayReport(): boolean {
    return ++this.#reports <= this.#limits.reports
  }

  /** Ends the window. */
  reset(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#messages = 0
    this.#length = 0
    this.#pings = 0
    this.#reports = 0
  }

  #exceeds(times: number): boolean {
    const { messages, messageLength } = this.#limits
    return this.#messages > times * messages || this.#length > times * messageLength
  }
}
