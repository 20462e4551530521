import type { World } from '../src/ports/world.ts'

/** A world for tests. Time stands still until `advance`, ids count upwards, and timers run during `advance`. */
export interface TestWorld extends World {
  /** Moves the clock and runs the due timers in order. */
  advance(ms: number): void
  readonly reports: { readonly event: string; readonly detail: unknown }[]
}

export function testWorld(start = Date.parse('2026-01-01T00:00:00Z')): TestWorld {
  let now = start
  let ids = 0
  const timers = new Set<{ readonly at: number; readonly task: () => void }>()
  const reports: { event: string; detail: unknown }[] = []
  return {
    now: () => now,
    id: () => `id-${++ids}`,
    soon: queueMicrotask,
    later(ms, task) {
      const timer = { at: now + ms, task }
      timers.add(timer)
      // A timer of 0 ms runs without `advance`.
      if (ms === 0) setImmediate(() => timers.delete(timer) && task())
      return () => void timers.delete(timer)
    },
    report: (event, detail) => void reports.push({ event, detail }),
    advance(ms) {
      now += ms
      for (const timer of [...timers].toSorted((a, b) => a.at - b.at))
        if (timer.at <= now && timers.delete(timer)) timer.task()
    },
    reports,
  }
}
