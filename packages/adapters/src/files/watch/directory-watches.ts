import { isOutOfResources } from './notify-backend.ts'
import type { NotifyBackend } from './notify-backend.ts'
import type { OpenDirectory } from './open-directory.ts'
import type { PendingEvents } from './pending-events.ts'
import type { PolledDirectories } from './poll.ts'
import type { WatchedDirectory } from './watched-directory.ts'

/** The system watches of a tree. A directory that cannot be watched is polled. */
export class DirectoryWatches {
  readonly #backend: NotifyBackend
  readonly #maxWatches: number
  readonly #polled: PolledDirectories
  readonly #events: PendingEvents
  #count = 0
  #degraded = false

  constructor(
    backend: NotifyBackend,
    maxWatches: number,
    parts: { readonly polled: PolledDirectories; readonly events: PendingEvents },
  ) {
    this.#backend = backend
    this.#maxWatches = maxWatches
    this.#polled = parts.polled
    this.#events = parts.events
  }

  /** Whether polling began since the last call of `resetDegraded`. */
  get degraded(): boolean {
    return this.#degraded
  }

  resetDegraded(): void {
    this.#degraded = false
  }

  start(directory: WatchedDirectory, { path }: OpenDirectory): void {
    if (!this.#backend.perDirectory && directory.parent) return
    const before = directory.watch
    directory.watch = undefined
    try {
      if (!before && this.#count >= this.#maxWatches) this.poll(directory)
      else {
        directory.watch = this.#watch(directory, path)
        this.#count++
        if (this.#backend.reliable) this.#polled.delete(directory)
        else this.poll(directory)
      }
    } catch (error) {
      if (isOutOfResources(error)) this.poll(directory)
    }
    // The old watch ends after the new one has begun, so that no event between them is missed.
    if (before) this.#count--
    before?.close()
  }

  /** Ends the watch, or the polling, of a directory that is removed or unreadable. */
  stop(directory: WatchedDirectory): void {
    if (directory.watch) this.#count--
    directory.watch?.close()
    directory.watch = undefined
    this.#polled.delete(directory)
  }

  poll(directory: WatchedDirectory): void {
    if (this.#polled.add(directory)) this.#degraded = true
  }

  #watch(directory: WatchedDirectory, path: string) {
    return this.#backend.watch(path, (type, name) => {
      this.#backend.queue.countEvent()
      this.#events.receive(directory, type, name)
    })
  }
}
