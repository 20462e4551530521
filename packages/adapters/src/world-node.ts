import { randomUUID } from 'node:crypto'
import type { World } from '@atrium/host/ports/world'

/** The real clock, chance and scheduler. A task that is due later keeps no process alive. */
export function nodeWorld(report: World['report']): World {
  return {
    now: Date.now,
    id: randomUUID,
    soon: queueMicrotask,
    later(ms, task) {
      const timer = setTimeout(task, ms).unref()
      return () => clearTimeout(timer)
    },
    report,
  }
}
