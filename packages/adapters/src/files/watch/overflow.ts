import { readFileSync } from 'node:fs'

/**
 * The system keeps only so many events that nobody has read yet. Whatever comes then it drops, and Node does not pass on
 * that it did. But all those that were kept are read in one turn of the event loop: so many in one turn, and it may have
 * happened. All watches of a process share one queue.
 */
export class EventQueue {
  readonly #most: number
  readonly #readers = new Set<() => void>()
  #count = 0

  constructor(most = systemMost()) {
    // Some of what was kept is never passed on: it is about watches that have ended since.
    this.#most = most / 2
  }

  /** `overflowed` is called each time that events may have been dropped, until the reader leaves. */
  join(overflowed: () => void): () => void {
    this.#readers.add(overflowed)
    return () => this.#readers.delete(overflowed)
  }

  /** Called for each event. */
  count(): void {
    if (this.#count++ === 0) setImmediate(() => this.#turn())
  }

  #turn(): void {
    const many = this.#count >= this.#most
    this.#count = 0
    if (many) for (const overflowed of this.#readers) overflowed()
  }
}

export const systemQueue = new EventQueue()

function systemMost(): number {
  try {
    return Number(readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')) || usual
  } catch {
    return usual
  }
}

const usual = 16_384
