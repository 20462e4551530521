import type { World } from '@atrium/host/ports/world'

/** The time of a simulation: it stands still until it is moved, and wall time may jump beside it. */
export class Clock {
  /** Never goes back. */
  elapsed = 0
  wall = Date.parse('2026-01-01T00:00:00Z')
  readonly #timers = new Set<{ readonly at: number; readonly task: () => void }>()

  later(ms: number, task: () => void): () => void {
    const timer = { at: this.elapsed + ms, task }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Moves on, and gives what became due, in order. */
  due(ms: number): readonly (() => void)[] {
    this.elapsed += ms
    this.wall += ms
    const due = [...this.#timers].filter(({ at }) => at <= this.elapsed).toSorted((a, b) => a.at - b.at)
    return due.map((timer) => () => {
      if (this.#timers.delete(timer)) timer.task()
    })
  }

  get waiting(): number {
    return this.#timers.size
  }
}

/** The world as one life of the host knows it: when that has ended, nothing of it happens any more. */
export class LifeWorld implements World {
  readonly #clock: Clock
  readonly #heard: (event: string, detail: unknown) => void
  readonly #names: () => number
  alive = true

  constructor(clock: Clock, names: () => number, heard: (event: string, detail: unknown) => void) {
    this.#clock = clock
    this.#names = names
    this.#heard = heard
  }

  now(): number {
    return this.#clock.wall
  }

  id(): string {
    return `id-${this.#names()}`
  }

  soon(task: () => void): void {
    queueMicrotask(() => this.alive && task())
  }

  later(ms: number, task: () => void): () => void {
    return this.#clock.later(ms, () => this.alive && task())
  }

  report(event: string, detail?: unknown): void {
    if (this.alive) this.#heard(event, detail)
  }
}
