import type { LimitValues } from '@atrium/protocol/limits'
import type { World } from '../../ports/world.ts'
import { Lane } from './lane.ts'
import type { LaneOwner, Rounds } from './lane.ts'

/** The actions that wait for the disk. */
export interface Backlog {
  /** The length of these actions in characters, plus a constant for each action. */
  readonly backlog: number
  /** Resolves when more is committed, or when nothing waits. */
  progress(): Promise<void>
}

/**
 * A fair queue for the frames of all links (I13, S-22): deficit round robin. In each round a link gets an allowance.
 * A frame within the allowance is processed at once. Any other frame waits in the queue of its link. The links with
 * waiting frames are served one after the other, and other events of the event loop come in between. So a link that
 * sends much delays only itself. No round begins while much waits for the disk, so that a flush stays short. The host
 * stops reading from a link that has many waiting frames. Each principal has an equal part of a round. If most, but
 * not all, links of a principal had to be stopped, they share one half of this part, and the principal's other links
 * share the other half.
 */
export class FairQueue implements Rounds {
  readonly #world: World
  readonly #limits: LimitValues
  readonly #log: Backlog
  /** The links that have used a part of their allowance. */
  readonly #charged = new Set<Lane>()
  /** The links with waiting frames that can be processed, in the order in which they are served. */
  readonly #circle = new Set<Lane>()
  /**
   * The paused links (the host does not read from them) whose waiting frames are shorter than half of the limit. Each round
   * reads from one of them again.
   */
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

  /**
   * Called when a link has used a part of its allowance. Schedules a round only when more than half of the allowance
   * is used, because most links use little.
   */
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

  /** Notes which link has sent a frame, in order to find out whether several links send at the same time. */
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
      if (lane.allowance * 2 < roundLength) this.#schedule()
      else if (!lane.waiting) lane.bulk = false
      if (lane.allowance >= roundLength) this.#charged.delete(lane)
    }
    let left = roundLength
    const waiting = [...this.#circle]
    for (const lane of waiting) {
      if (left <= 0) break
      // A link that was served goes to the end of the circle. It leaves the circle when it has no frame that can be processed.
      this.#circle.delete(lane)
      lane.refill(quantumOf(lane), roundLength)
      left -= lane.serve()
      if (lane.ready) this.#circle.add(lane)
    }
    this.#resume()
    if (this.#circle.size > 0) this.#schedule()
  }

  /**
   * Reads from one paused link again, and not from several. The socket of a link may deliver many frames at once, and
   * those of two links together would delay all others.
   */
  #resume(): void {
    const [lane] = this.#drained
    if (!lane) return
    this.#drained.delete(lane)
    lane.resume()
    if (this.#drained.size > 0) this.#schedule()
  }

  /**
   * Whether several links send at the same time. If so, rounds and flushes are kept shorter, because all of these links wait
   * for each round and each flush.
   */
  get #shared(): boolean {
    return this.#inARow < sharedFrames
  }

  /** The maximum cost of the frames of one round. It is smaller while several links send at the same time. */
  get #roundLength(): number {
    return this.#shared ? this.#limits.sharedRoundLength : this.#limits.roundLength
  }

  /** The backlog above which no round begins. */
  get #most(): number {
    return this.#shared ? this.#limits.sharedAheadLength : this.#limits.aheadLength
  }

  /**
   * Divides a round into equal parts for the active principals, and each part equally among the links of the principal. If more
   * than half of these links had to be stopped, but not all, the stopped ones share only one half of the part.
   */
  #quanta(roundLength: number): (lane: Lane) => number {
    const active = this.#circle.size === 0 ? this.#charged : new Set([...this.#charged, ...this.#circle])
    const principals = new Map<string, { bulk: number; quiet: number }>()
    for (const { principal, bulk } of active) {
      const counts = principals.get(principal) ?? { bulk: 0, quiet: 0 }
      counts[bulk ? 'bulk' : 'quiet']++
      principals.set(principal, counts)
    }
    return (lane) => {
      const { bulk, quiet } = principals.get(lane.principal) ?? { bulk: 0, quiet: 0 }
      const isDivided = bulk > quiet && quiet > 0
      const links = isDivided ? 2 * (lane.bulk ? bulk : quiet) : bulk + quiet
      return Math.max(leastQuantum, roundLength / principals.size / Math.max(1, links))
    }
  }
}

/** The least part of a round that a link gets. A link whose part is shorter than a frame is served every few rounds. */
const leastQuantum = 64
/** Links count as sending at the same time until one of them has sent this number of frames in a row. */
const sharedFrames = 512
