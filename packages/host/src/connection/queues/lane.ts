import type { LimitValues } from '@atrium/protocol/limits'

/** What a lane needs of its connection. The connection processes the frames. */
export interface LaneOwner {
  readonly principal: string
  process(frame: string): void
  /** Whether the connection can take no frame now, because its earlier requests wait for the disk. */
  readonly busy: boolean
  /** Stops reading from the socket. Undefined if the transport cannot. */
  readonly pause?: (() => void) | undefined
  readonly resume?: (() => void) | undefined
  /**
   * Called when another frame waits. `waiting` is the length of all waiting frames. If it is too long, the connection
   * is closed, because the transport could not stop reading.
   */
  checkLine(waiting: number): void
}

/** The rounds in which the links are served: `FairQueue`. */
export interface Rounds {
  /** Notes that a link has sent a frame. */
  sent(lane: Lane): void
  /** Called when a link has used a part of its allowance. */
  charged(lane: Lane): void
  /** Called when a link has a waiting frame that can be processed. */
  waits(lane: Lane): void
  /** Called when the waiting frames of a paused link have become shorter than half of the limit. */
  drained(lane: Lane): void
  /** Called when a link has ended. */
  leave(lane: Lane): void
}

/** The frames of one link that wait to be processed, in the order in which they arrived (R6). */
export class Lane {
  readonly #owner: LaneOwner
  readonly #limits: LimitValues
  readonly #rounds: Rounds
  #frames: string[] = []
  /** The index of the first waiting frame. */
  #first = 0
  #length = 0
  #paused = false
  /** What the link may still cost in this round. It is negative if the last frame cost more than was left. */
  allowance: number
  /**
   * Whether the link sends in bulk. True from when the host had to stop reading from the link, until no frame of the
   * link waits and at least half of the full allowance is left.
   */
  bulk = false

  constructor(owner: LaneOwner, limits: LimitValues, rounds: Rounds) {
    this.#owner = owner
    this.#limits = limits
    this.#rounds = rounds
    this.allowance = limits.sharedRoundLength
  }

  get principal(): string {
    return this.#owner.principal
  }

  /** The length of the waiting frames in characters, plus a constant for each frame. */
  get length(): number {
    return this.#length
  }

  /** Whether a frame waits. */
  get waiting(): boolean {
    return this.#first < this.#frames.length
  }

  /** Whether a frame waits that can be processed. */
  get ready(): boolean {
    return this.waiting && !this.#owner.busy
  }

  /** Processes a frame now, if it is the link's turn. Otherwise the frame waits. */
  arrive(frame: string): void {
    this.#rounds.sent(this)
    if ((!this.waiting && this.allowance > 0 && !this.#owner.busy) || isPing(frame))
      return this.#process(frame)
    this.#frames.push(frame)
    this.#length += lengthOf(frame)
    if (this.#length > this.#limits.waitingLength && !this.#paused) this.#pause()
    this.#owner.checkLine(this.#length)
    if (this.ready) this.#rounds.waits(this)
  }

  /** Takes a part of the allowance for work that a frame has caused. */
  charge(cost: number): void {
    this.allowance -= cost
    this.#rounds.charged(this)
  }

  /** Goes on after the connection was busy. */
  wake(): void {
    if (this.ready) this.#rounds.waits(this)
  }

  /**
   * Adds `quantum` to the allowance at the beginning of a round, up to `most`. So a link that sends little has an
   * allowance left, and never waits. A negative allowance is a debt that the link keeps.
   */
  refill(quantum: number, most: number): void {
    this.allowance = Math.min(most, this.allowance + quantum)
  }

  /** Processes waiting frames within the allowance. Returns their cost. */
  serve(): number {
    const before = this.allowance
    while (this.allowance > 0 && this.ready) {
      const frame = this.#frames[this.#first++] ?? ''
      this.#length -= lengthOf(frame)
      this.#process(frame)
    }
    if (!this.waiting) this.#forget()
    // The array is shortened only when more than half of its frames are processed, so that the cost of copying stays low.
    if (this.#first > 1000 && this.#first * 2 > this.#frames.length) {
      this.#frames = this.#frames.slice(this.#first)
      this.#first = 0
    }
    if (this.#paused && this.#length * 2 < this.#limits.waitingLength) this.#rounds.drained(this)
    return before - this.allowance
  }

  /** Reads from the link again. */
  resume(): void {
    this.#paused = false
    this.#owner.resume?.()
  }

  /** Drops the waiting frames of a link that has ended. */
  end(): void {
    this.#forget()
    this.#rounds.leave(this)
  }

  #process(frame: string): void {
    this.charge(costOf(frame))
    this.#owner.process(frame)
  }

  #forget(): void {
    this.#frames = []
    this.#first = 0
    this.#length = 0
  }

  #pause(): void {
    this.#paused = true
    this.bulk = true
    this.#owner.pause?.()
  }
}

/** The cost of a frame: mostly a constant, because many short frames cost more than a long one. */
function costOf(frame: string): number {
  return frameCost + frame.length / lengthDiscount
}

/** Returns the length of a waiting frame plus a constant, so that many short frames count, too. */
function lengthOf(frame: string): number {
  return frame.length + frameCost
}

/**
 * Whether a frame is a ping. A ping passes the frames that wait: a client whose frames wait must not take the host for dead.
 * Pings have a rate limit of their own.
 */
function isPing(frame: string): boolean {
  return frame.length < 128 && /"method"\s*:\s*"ping"/.test(frame)
}

const frameCost = 512
const lengthDiscount = 8
