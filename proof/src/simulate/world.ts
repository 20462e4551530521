import type { World } from '@atrium/host/ports/world'

/** The simulated time. It moves only on request, and the wall clock can jump independently. */
export class Clock {
  /** The time that has passed, in milliseconds. It never decreases. */
  elapsed = 0
  wall = Date.parse('2026-01-01T00:00:00Z')
  readonly #timers = new Set<{ readonly at: number; readonly task: () => void }>()

  later(ms: number, task: () => void): () => void {
    const timer = { at: this.elapsed + ms, task }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** Advances the time. Returns the tasks that became due, the earliest first. */
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

/** The time, ids, timers and reports of one host run. After the end of the run, none of its tasks runs. */
export class HostRunWorld implements World {
  readonly #clock: Clock
  readonly #onReport: (event: string, detail: unknown) => void
  readonly #names: () => number
  alive = true

  constructor(clock: Clock, names: () => number, onReport: (event: string, detail: unknown) => void) {
    this.#clock = clock
    this.#names = names
    this.#onReport = onReport
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
    if (this.alive) this.#onReport(event, detail)
  }
}
