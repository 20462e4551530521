import { AhpError } from '@atrium/protocol/errors'
import type { LimitValues } from '@atrium/protocol/limits'
import type { FrameLimits } from '@atrium/protocol/rpc/frame-check'
import { RateLimit, rateExceeded } from './rate-limit.ts'
import { answered } from './commands.ts'
import { RequestQueue } from './request-queue.ts'
import type { World } from '../ports/world.ts'

/** What one link says: counted, bounded, and done one after the other. Nothing of it is passed over in silence. */
export class Intake implements FrameLimits {
  readonly #world: World
  readonly #limits: LimitValues
  readonly #close: (code: number, reason: string) => void
  readonly #budget: RateLimit
  readonly #line = new RequestQueue()
  /** Somebody has asked to open the link: from then on messages may be long. */
  greeted = false
  /** The length of the frame that is being looked at. */
  #length = 0
  #asked = 0
  #ended = false

  constructor(world: World, limits: LimitValues, close: (code: number, reason: string) => void) {
    this.#world = world
    this.#limits = limits
    this.#close = close
    this.#budget = new RateLimit(world, limits)
  }

  get size(): number {
    return this.greeted ? this.#limits.messageBytes : this.#limits.openingLength
  }

  get depth(): number {
    return this.#limits.depth
  }

  get keys(): number {
    return this.#limits.keys
  }

  /** Whether a frame is looked at. After the end none is, also if it was on its way before. */
  admits(frame: string): boolean {
    if (this.#ended) return false
    this.#length = frame.length
    this.#budget.spend(frame.length)
    if (this.#budget.spent) this.#close(1008, rateExceeded)
    return !this.#ended
  }

  ping(): null {
    this.#budget.ping()
    if (this.#budget.spent) this.#close(1008, rateExceeded)
    if (this.#budget.overPings) throw AhpError.permissionDenied(rateExceeded)
    return null
  }

  ask(task: () => unknown): unknown {
    // No code of the protocol means this. The one for what the host will not do, whoever asks rightly, is the nearest.
    if (this.#budget.over) throw AhpError.permissionDenied(rateExceeded)
    if (this.#asked >= this.#limits.requests)
      throw AhpError.permissionDenied(`at most ${this.#limits.requests} requests at once: wait for an answer`)
    const outcome = this.#inTurn(task)
    const answer = outcome instanceof Promise ? outcome.then(answered) : answered(outcome)
    if (answer instanceof Promise) this.#count(answer)
    return answer
  }

  /** The task learns why it is to refuse, if it is: its refusal comes in its turn, like everything. */
  say(task: (reason: string | undefined) => unknown): unknown {
    const reason = this.#budget.over ? rateExceeded : undefined
    return this.#inTurn(() => task(reason))
  }

  /** Nothing goes before an answer that is on its way, until the end that is given back is called. */
  hold(): () => void {
    return this.#line.hold()
  }

  report(event: string, detail: unknown): void {
    if (this.#budget.report()) this.#world.report(event, detail)
  }

  end(): void {
    this.#ended = true
    this.#budget.end()
    this.#line.clear()
  }

  #inTurn(task: () => unknown): unknown {
    const outcome = this.#line.run(task, this.#length)
    // A disk that takes nothing for long: what is not answered here is said again by a client that comes back.
    if (this.#line.length > this.#limits.lineLength)
      this.#close(1013, 'too much waits for its turn; reconnect')
    return outcome
  }

  #count(answer: Promise<unknown>): void {
    const done = () => void this.#asked--
    this.#asked++
    answer.then(done, done)
  }
}
