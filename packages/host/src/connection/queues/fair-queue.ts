import type { LimitValues } from '@atrium/protocol/limits'
import type { World } from '../../ports/world.ts'

/** The part of a connection that frames are processed for. */
export interface LaneOwner {
  readonly principal: string
  process(frame: string): void
  /** Whether the connection can take no frame now, because its earlier requests wait for the disk. */
  readonly busy: boolean
  /** Stops reading from the socket. Undefined if the transport cannot. */
  readonly pause?: (() => void) | undefined
  readonly resume?: (() => void) | undefined
  /** Called when more waits than before: the connection of a client whose frames cannot be stopped is closed. */
  checkLine(waiting: number): void
}

/** The actions that wait for the disk. */
export interface Backlog {
  /** The length of these actions, and a constant for each. */
  readonly backlog: number
  /** Resolves when more is committed, or when nothing waits. */
  progress(): Promise<void>
}

/**
 * A fair queue for the frames of all links (I13, S-22): deficit round robin. In each round a link has an allowance. A frame
 * within the allowance is processed at once. Any other frame waits in the queue of its link. The links with waiting frames are
 * served one after the other, and other events of the event loop come in between. No round begins while much waits for the
 * disk, so that a flush stays short. So a link that sends much delays only itself. The host stops reading from a link that has
 * many waiting frames.
 */
export class FairQueue {
  readonly #world: World
  readonly #limits: LimitValues
  readonly #log: Backlog
  /** The links that have used a part of their allowance. */
  readonly #charged = new Set<Lane>()
  /** The links with waiting frames that can be processed, in the order in which they are served. */
  readonly #circle = new Set<Lane>()
  /** The links that the host does not read, and of which little waits. Each round reads from one of them again. */
  readonly #drained = new Set<Lane>()
  #scheduled = false
  /** The link that sent the last frame, and the number of frames that it has sent in a row. */
  #sender: Lane | undefined
  #inARow = sharedFrames

  constructor(world: World, limits: LimitValues, log: Backlog) {
    this.#world = world
    this.#limits = limits
    this.#log = log
  }

  lane(owner: LaneOwner): Lane {
    return new Lane(owner, this.#limits, this)
  }

  /** A link has used a part of its allowance. Most links use little, so a new round is due only when half of it is used. */
  charged(lane: Lane): void {
    this.#charged.add(lane)
    if (lane.allowance * 2 < this.#roundLength) this.#schedule()
  }

  waits(lane: Lane): void {
    this.#circle.add(lane)
    this.#schedule()
  }

  drained(lane: Lane): void {
    this.#drained.add(lane)
    this.#schedule()
  }

  leave(lane: Lane): void {
    this.#charged.delete(lane)
    this.#circle.delete(lane)
    this.#drained.delete(lane)
    if (this.#sender === lane) this.#sender = undefined
  }

  /** Notes who has sent a frame. */
  sent(lane: Lane): void {
    if (this.#sender === lane) return void this.#inARow++
    if (this.#sender) this.#inARow = 0
    this.#sender = lane
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#world.later(0, () => this.#round())
  }

  #round(): void {
    if (this.#log.backlog > this.#most) return void this.#log.progress().then(() => this.#round())
    this.#scheduled = false
    const roundLength = this.#roundLength
    const quantumOf = this.#quanta(roundLength)
    for (const lane of this.#charged) {
      if (!this.#circle.has(lane)) lane.refill(quantumOf(lane), roundLength)
      if (lane.allowance >= roundLength) this.#charged.delete(lane)
      else if (lane.allowance * 2 < roundLength) this.#schedule()
    }
    let left = roundLength
    const waiting = [...this.#circle]
    for (const lane of waiting) {
      if (left <= 0) break
      // A link that was served goes to the end of the circle. It leaves the circle when nothing of it waits.
      this.#circle.delete(lane)
      lane.refill(quantumOf(lane), roundLength)
      left -= lane.serve()
      if (lane.ready) this.#circle.add(lane)
    }
    this.#resume()
    if (this.#circle.size > 0) this.#schedule()
  }

  /** Reads from one link again. Its socket may have many frames at once, so that two links would delay all others. */
  #resume(): void {
    const [lane] = this.#drained
    if (!lane) return
    this.#drained.delete(lane)
    lane.resume()
    if (this.#drained.size > 0) this.#schedule()
  }

  /** Whether several links send at the same time. Then rounds and flushes are kept shorter, because all of them wait for each. */
  get #shared(): boolean {
    return this.#inARow < sharedFrames
  }

  /** The cost of the frames in a round. */
  get #roundLength(): number {
    return this.#shared ? this.#limits.sharedRoundLength : this.#limits.roundLength
  }

  /** The backlog above which no round begins. */
  get #most(): number {
    return this.#shared ? this.#limits.sharedAheadLength : this.#limits.aheadLength
  }

  /** Divides a round between the active principals, and the part of a principal between its active links. */
  #quanta(roundLength: number): (lane: Lane) => number {
    const lanes = new Map<string, number>()
    const active = this.#circle.size === 0 ? this.#charged : new Set([...this.#charged, ...this.#circle])
    for (const { principal } of active) lanes.set(principal, (lanes.get(principal) ?? 0) + 1)
    return ({ principal }) => Math.max(leastQuantum, roundLength / lanes.size / (lanes.get(principal) ?? 1))
  }
}

/** The frames of one link that wait for their turn, in order (R6). */
export class Lane {
  readonly #owner: LaneOwner
  readonly #limits: LimitValues
  readonly #queue: FairQueue
  #frames: string[] = []
  /** The index of the first waiting frame. */
  #first = 0
  #length = 0
  #paused = false
  /** What the link may still cost in this round. It is negative if the last frame cost more than was left. */
  allowance: number

  constructor(owner: LaneOwner, limits: LimitValues, queue: FairQueue) {
    this.#owner = owner
    this.#limits = limits
    this.#queue = queue
    this.allowance = limits.sharedRoundLength
  }

  get principal(): string {
    return this.#owner.principal
  }

  /** The length of the waiting frames. */
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
    this.#queue.sent(this)
    if ((!this.waiting && this.allowance > 0 && !this.#owner.busy) || isPing(frame))
      return this.#process(frame)
    this.#frames.push(frame)
    this.#length += lengthOf(frame)
    if (this.#length > this.#limits.waitingLength && !this.#paused) this.#pause()
    this.#owner.checkLine(this.#length)
    if (this.ready) this.#queue.waits(this)
  }

  /** Takes a part of the allowance for work that a frame has caused. */
  charge(cost: number): void {
    this.allowance -= cost
    this.#queue.charged(this)
  }

  /** Goes on after the connection was busy. */
  wake(): void {
    if (this.ready) this.#queue.waits(this)
  }

  /** Begins a round. A link keeps its debts, and saves at most a whole round, so that one with little to say never waits. */
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
    // The array is shortened only when more than half of its frames are processed, because that is cheap.
    if (this.#first > 1000 && this.#first * 2 > this.#frames.length) {
      this.#frames = this.#frames.slice(this.#first)
      this.#first = 0
    }
    if (this.#paused && this.#length * 2 < this.#limits.waitingLength) this.#queue.drained(this)
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
    this.#queue.leave(this)
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
    this.#owner.pause?.()
  }
}

/** The cost of a frame: mostly a constant, because many short frames cost more than a long one. */
function costOf(frame: string): number {
  return frameCost + frame.length / lengthDiscount
}

/** The length of a waiting frame, and a constant, so that many short frames count, too. */
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
/** The least part of a round that a link gets. A link whose part is shorter than a frame is served every few rounds. */
const leastQuantum = 64
/** Links count as sending at the same time until one of them has sent this number of frames in a row. */
const sharedFrames = 512
