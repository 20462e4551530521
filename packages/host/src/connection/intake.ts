import { AhpError } from '@atrium/protocol/errors'
import type { LimitValues } from '@atrium/protocol/limits'
import { hasLossyNumber } from '@atrium/protocol/rpc/frame-check'
import type { FrameLimits } from '@atrium/protocol/rpc/frame-check'
import { decode } from '@atrium/protocol/schema'
import type { Decoded, Schema } from '@atrium/protocol/schema'
import { RateLimit, rateExceeded } from './rate-limit.ts'
import { responseOf } from '../kernel/deferred-response.ts'
import { RequestQueue } from './queues/request-queue.ts'
import type { World } from '../ports/world.ts'
import type { Lane } from './queues/lane.ts'

/** The incoming frames of one connection: counted, bounded, and processed one after the other. No frame is dropped silently. */
export class Intake implements FrameLimits {
  readonly #world: World
  readonly #limits: LimitValues
  readonly close: (code: number, reason: string) => void
  readonly #rate: RateLimit
  readonly #queue = new RequestQueue(() => this.lane?.wake())
  /** The frames that wait for their turn. */
  lane: Lane | undefined
  /** Whether the client has requested a handshake. From then on longer messages are admitted. */
  handshakeRequested = false
  /** The length of the frame that is being processed, in characters. */
  #length = 0
  /** The number of requests without a response. */
  #pending = 0
  #ended = false

  constructor(world: World, limits: LimitValues, close: (code: number, reason: string) => void) {
    this.#world = world
    this.#limits = limits
    this.close = close
    this.#rate = new RateLimit(world, limits)
  }

  /** Whether no further frame may be processed for now, because earlier ones wait for the disk. */
  get busy(): boolean {
    return this.#queue.length > busyLength
  }

  /** Counts work that a message has caused, such as the deliveries of an action. */
  charge(cost: number): void {
    this.lane?.charge(cost)
  }

  get size(): number {
    return this.handshakeRequested ? this.#limits.messageBytes : this.#limits.openingLength
  }

  get depth(): number {
    return this.#limits.depth
  }

  get keys(): number {
    return this.#limits.keys
  }

  /**
   * Returns whether a frame may be processed. After the end of the connection no frame may, not even one that arrived before
   * the end.
   */
  admits(frame: string): boolean {
    if (this.#ended) return false
    this.#length = frame.length
    this.#rate.count(frame.length)
    if (this.#rate.exhausted) this.close(1008, rateExceeded)
    return !this.#ended
  }

  ping(): null {
    this.#rate.countPing()
    if (this.#rate.exhausted) this.close(1008, rateExceeded)
    if (this.#rate.pingsExceeded) throw AhpError.permissionDenied(rateExceeded)
    return null
  }

  request(task: () => unknown): unknown {
    // The protocol has no error code for an exceeded rate. The nearest code is that for a valid request which the host refuses.
    if (this.#rate.exceeded) throw AhpError.permissionDenied(rateExceeded)
    if (this.#pending >= this.#limits.requests)
      throw AhpError.permissionDenied(
        `at most ${this.#limits.requests} requests at once: wait for a response`,
      )
    const outcome = this.#enqueue(task)
    const response = outcome instanceof Promise ? outcome.then(responseOf) : responseOf(outcome)
    if (response instanceof Promise) this.#countPending(response)
    return response
  }

  /** Runs the task of a notification when it is its turn. If the rate is exceeded, the task gets the reason for a refusal. */
  notification(task: (refusal: string | undefined) => unknown): unknown {
    const refusal = this.#rate.exceeded ? rateExceeded : undefined
    return this.#enqueue(() => task(refusal))
  }

  /** Holds the queue until the returned function is called, so that no task runs before a pending response is sent. */
  hold(): () => void {
    return this.#queue.hold()
  }

  report(event: string, detail: unknown): void {
    if (this.#rate.mayReport()) this.#world.report(event, detail)
  }

  /**
   * Closes the connection if too much waits: the queued requests, and the frames behind them, whose length is
   * `frames`. That happens if the disk takes no writes for a long time and the transport cannot pause. After a
   * reconnect the client repeats every message that was not answered.
   */
  checkLine(frames: number): void {
    if (this.#queue.length + frames > this.#limits.lineLength)
      this.close(1013, 'too many requests wait; reconnect')
  }

  end(): void {
    this.#ended = true
    this.lane?.end()
    this.#rate.reset()
    this.#queue.clear()
  }

  #enqueue(task: () => unknown): unknown {
    const outcome = this.#queue.run(task, this.#length)
    this.checkLine(this.lane?.length ?? 0)
    return outcome
  }

  #countPending(response: Promise<unknown>): void {
    const done = () => void this.#pending--
    this.#pending++
    response.then(done, done)
  }
}

/** If the waiting requests are longer than this, in characters, the frames behind them are not even parsed. */
const busyLength = 16 * 1024

/** Checks the shape of params, and that JSON can represent the numbers in them (S-19). */
export function checkParams(schema: Schema<unknown>, given: unknown): Decoded<unknown> {
  if (hasLossyNumber(given)) return { ok: false, problem: 'a number that JSON cannot keep: too large, or -0' }
  return decode(schema, given ?? {})
}
