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
      // A timer of nothing takes a millisecond; this comes as soon as all who wait to be heard were. Not unref'd: the event
      // loop would sleep before it.
      if (ms === 0) {
        const next = setImmediate(task)
        return () => clearImmediate(next)
      }
      const timer = setTimeout(task, ms).unref()
      return () => clearTimeout(timer)
    },
    report,
  }
}
