import { randomBytes } from 'node:crypto'
import type { World } from '@atrium/host/ports/world'

/** Returns the real clock, random numbers and scheduler. A delayed task does not keep the process alive. */
export function nodeWorld(report: World['report']): World {
  return {
    now: Date.now,
    // Ids need 128 random bits (S-26); a random UUID has 122.
    id: () => randomBytes(16).toString('hex'),
    soon: queueMicrotask,
    later(ms, task) {
      // `setTimeout(0)` takes a millisecond, but an immediate runs right after pending I/O. The immediate is not unref'd,
      // because the event loop would then wait for I/O before it runs the immediate.
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
