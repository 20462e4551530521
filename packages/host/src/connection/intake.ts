import { AhpError } from '@atrium/protocol/errors'
import type { LimitValues } from '@atrium/protocol/limits'
import { hasLossyNumber } from '@atrium/protocol/rpc/frame-check'
import type { FrameLimits } from '@atrium/protocol/rpc/frame-check'
import { decode } from '@atrium/protocol/schema'
import type { Decoded, Schema } from '@atrium/protocol/schema'
import { RateLimit, rateExceeded } from './rate-limit.ts'
import { responseOf } from './commands.ts'
import { RequestQueue } from './request-queue.ts'
import type { World } from '../ports/world.ts'

/** The incoming frames of one connection: counted, bounded, and processed one after the other. None is dropped silently. */
export class Intake implements FrameLimits {
  readonly #world: World
  readonly #limits: LimitValues
  readonly #close: (code: number, reason: string) => void
  readonly #rate: RateLimit
  readonly #queue = new RequestQueue()
  /** Whether a handshake was requested. Longer messages are admitted from then on. */
  handshakeRequested = false
  /** The length of the frame that is being processed. */
  #length = 0
  /** The number of requests without a response. */
  #pending = 0
  #ended = false

  constructor(world: World, limits: LimitValues, close: (code: number, reason: string) => void) {
    this.#world = world
    this.#limits = limits
    this.#close = close
    this.#rate = new RateLimit(world, limits)
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

  /** Whether a frame is processed. After the end no frame is, even one that arrived before. */
  admits(frame: string): boolean {
    if (this.#ended) return false
    this.#length = frame.length
    this.#rate.count(frame.length)
    if (this.#rate.exhausted) this.#close(1008, rateExceeded)
    return !this.#ended
  }

  ping(): null {
    this.#rate.countPing()
    if (this.#rate.exhausted) this.#close(1008, rateExceeded)
    if (this.#rate.pingsExceeded) throw AhpError.permissionDenied(rateExceeded)
    return null
  }

  request(task: () => unknown): unknown {
    // The protocol has no code for this. The code for valid requests that the host refuses is the nearest.
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

  /** Runs a notification at its turn. The task is given the reason why it must be refused, if the rate is exceeded. */
  notification(task: (refusal: string | undefined) => unknown): unknown {
    const refusal = this.#rate.exceeded ? rateExceeded : undefined
    return this.#enqueue(() => task(refusal))
  }

  /** Holds the queue until the returned function is called, so that nothing goes before a response under way. */
  hold(): () => void {
    return this.#queue.hold()
  }

  report(event: string, detail: unknown): void {
    if (this.#rate.mayReport()) this.#world.report(event, detail)
  }

  end(): void {
    this.#ended = true
    this.#rate.reset()
    this.#queue.clear()
  }

  #enqueue(task: () => unknown): unknown {
    const outcome = this.#queue.run(task, this.#length)
    // A disk that takes no writes for long fills the queue. The client sends again what was not answered.
    if (this.#queue.length > this.#limits.lineLength) this.#close(1013, 'too many requests wait; reconnect')
    return outcome
  }

  #countPending(response: Promise<unknown>): void {
    const done = () => void this.#pending--
    this.#pending++
    response.then(done, done)
  }
}

/** Checks params: their shape, and that JSON can represent their numbers (S-19). */
export function checkParams(schema: Schema<unknown>, given: unknown): Decoded<unknown> {
  if (hasLossyNumber(given)) return { ok: false, problem: 'a number that JSON cannot keep: too large, or -0' }
  return decode(schema, given ?? {})
}
