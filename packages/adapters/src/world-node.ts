import { randomBytes } from 'node:crypto'
import type { World } from '@atrium/host/ports/world'

/** The real clock, chance and scheduler. A task that is due later keeps no process alive. */
export function nodeWorld(report: World['report']): World {
  return {
    now: Date.now,
    // A random UUID has six bits less (S-26).
    id: () => randomBytes(16).toString('hex'),
    soon: queueMicrotask,
    later(ms, task) {
      const timer = setTimeout(task, ms).unref()
      return () => clearTimeout(timer)
    },
    report,
  }
}
