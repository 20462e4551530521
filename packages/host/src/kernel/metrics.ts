import type { Entry } from './log/entry.ts'
import type { World } from '../ports/world.ts'

/** The upper bounds of the classes of echo times, in milliseconds. */
export const echoBounds = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 10_000] as const

/** How long clients waited for the echoes of their actions. */
export interface EchoTimes {
  /** The number of echoes up to each of `echoBounds`. */
  readonly upTo: readonly number[]
  readonly count: number
  readonly sumMs: number
}

/** The numbers that tell people how a host does. None of them identifies a session or a person. */
export interface HostMetrics {
  /** The number of actions that were committed since the host started. */
  readonly actions: number
  readonly echo: EchoTimes
  /** The number of characters that were appended and are not durable yet. */
  readonly backlog: number
  readonly committedSeq: number
  readonly links: number
  readonly sessions: number
}

/** Counts actions and times echoes. */
export class Metrics {
  readonly #world: World
  readonly #upTo: number[] = echoBounds.map(() => 0)
  /** Actions of clients that wait for their commit, ordered by sequence number. */
  #waiting: { readonly seq: number; readonly at: number }[] = []
  #actions = 0
  #count = 0
  #sumMs = 0

  constructor(world: World) {
    this.#world = world
  }

  get actions(): number {
    return this.#actions
  }

  get echo(): EchoTimes {
    return { upTo: [...this.#upTo], count: this.#count, sumMs: this.#sumMs }
  }

  /** Called when an action of a client gets its number. */
  dispatched(seq: number): void {
    this.#waiting.push({ seq, at: this.#world.now() })
  }

  committed({ seq, origin }: Entry): void {
    this.#actions++
    if (!origin) return
    const next = this.#waiting.findIndex((each) => each.seq > seq)
    const done = this.#waiting.splice(0, next < 0 ? this.#waiting.length : next)
    for (const { at } of done) this.#observe(Math.max(0, this.#world.now() - at))
  }

  #observe(ms: number): void {
    this.#count++
    this.#sumMs += ms
    echoBounds.forEach((bound, at) => {
      if (ms <= bound) this.#upTo[at] = (this.#upTo[at] ?? 0) + 1
    })
  }
}
