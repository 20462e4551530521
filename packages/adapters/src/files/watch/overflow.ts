import { readFileSync } from 'node:fs'

/**
 * Detects overflows of the inotify event queue. The kernel drops events when its queue is full, and Node does not pass
 * the overflow event on. But Node reads all queued events in one turn of the event loop, so a turn with nearly as many
 * events as the queue holds means that some may have been dropped. All watches of a process share one queue.
 */
export class EventQueue {
  readonly #threshold: number
  readonly #listeners = new Set<() => void>()
  #count = 0

  constructor(capacity = kernelCapacity()) {
    // The threshold is half of the capacity: events of watches that have ended fill the queue too, but Node does not pass
    // them on.
    this.#threshold = capacity / 2
  }

  /** Calls the listener each time events may have been dropped. Returns a function that removes the listener. */
  onOverflow(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Must be called for each event. */
  countEvent(): void {
    if (this.#count++ === 0) setImmediate(() => this.#endTurn())
  }

  #endTurn(): void {
    const overflowed = this.#count >= this.#threshold
    this.#count = 0
    if (overflowed) for (const listener of this.#listeners) listener()
  }
}

/** The queue of this process. */
export const processQueue = new EventQueue()

function kernelCapacity(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || defaultCapacity
  } catch {
    return defaultCapacity
  }
}

/** The kernel's default of `max_queued_events`. */
const defaultCapacity = 16_384
