import type { WatchRequest } from '@atrium/host/ports/files'
import type { ChangeWindow } from './change-window.ts'
import { DirectoryWatches } from './directory-watches.ts'
import { KnownEntries } from './known-entries.ts'
import { isAccessDenied, isOutOfResources } from './notify-backend.ts'
import type { OpenDirectory } from './open-directory.ts'
import type { WatchOptions, WatchTarget } from './options.ts'
import { PendingEvents } from './pending-events.ts'
import { PolledDirectories } from './poll.ts'
import type { WatchedDirectory } from './watched-directory.ts'

export interface TreeContext extends WatchOptions {
  readonly path: string
  readonly request: WatchRequest
  /** Called when there are changes to collect. */
  readonly onEvent: () => void
}

/**
 * A directory and all directories below it. Each is watched first and read afterwards, so that a new entry is found
 * either by an event or by the read, also in a directory that was filled before it could be watched. Events only say
 * where to look: a change is the difference between the known entries and a new read.
 */
export class WatchedTree implements WatchTarget {
  readonly #context: TreeContext
  readonly #known: KnownEntries
  readonly #events: PendingEvents
  readonly #polled: PolledDirectories
  readonly #watches: DirectoryWatches
  readonly #offOverflow: () => void
  #queue: WatchedDirectory[] = []
  #removed = false

  /**
   * Starts watching a tree. Returns undefined if there is no directory. Without `changes`, the entries found are not
   * reported as new.
   */
  static async open(context: TreeContext, changes?: ChangeWindow): Promise<WatchedTree | undefined> {
    const tree = new WatchedTree(context)
    await tree.#readAll([tree.#known.root], changes)
    if (tree.#removed) {
      tree.close()
      return undefined
    }
    // Some directories cannot be watched. The event makes the caller collect at once, and so report this.
    if (tree.#watches.degraded) context.onEvent()
    return tree
  }

  private constructor(context: TreeContext) {
    const { request, backend, limits, timing, onEvent } = context
    this.#context = context
    this.#known = new KnownEntries(request, (directory) => this.#watches.stop(directory))
    this.#events = new PendingEvents(this.#known, {
      perDirectory: backend.perDirectory,
      maxNames: limits.watchChanges,
      onEvent,
    })
    this.#polled = new PolledDirectories(timing.pollMs)
    this.#watches = new DirectoryWatches(backend, limits.watchDirectories, {
      polled: this.#polled,
      events: this.#events,
    })
    this.#offOverflow = backend.queue.onOverflow(() => this.#events.overflow())
  }

  async collect(changes: ChangeWindow): Promise<boolean> {
    const { directories, lost } = this.#events.take()
    if (!(await this.#isInPlace())) return false
    const polled = this.#polled.beginRound()
    for (const directory of polled) {
      directory.unread = true
      directories.add(directory)
    }
    await this.#readAll([...directories], changes)
    if (polled.length > 0) this.#polled.endRound()
    // A loss is noted after the reads. A client that then reads everything again misses nothing, because later
    // changes send events.
    if (lost || this.#watches.degraded) changes.markLost()
    this.#watches.resetDegraded()
    return !this.#removed
  }

  close(): void {
    this.#offOverflow()
    this.#known.clear(this.#known.root)
    this.#watches.stop(this.#known.root)
  }

  /** Whether the path still leads to the same directory. */
  async #isInPlace(): Promise<boolean> {
    try {
      const opened = await this.#context.backend.openDirectory(this.#context.path)
      await opened.close()
      return opened.ino === this.#known.root.ino || this.#known.root.ino === 0
    } catch (error) {
      return isOutOfResources(error) || isAccessDenied(error)
    }
  }

  /** Reads directories, and then the directories that these reads add to the queue. */
  async #readAll(directories: readonly WatchedDirectory[], changes?: ChangeWindow): Promise<void> {
    this.#queue = [...directories]
    const readQueued = async (): Promise<void> => {
      for (let directory; (directory = this.#queue.pop());) await this.#read(directory, changes)
    }
    while (this.#queue.length > 0) {
      const readers = Math.min(concurrentReads, this.#queue.length)
      await Promise.all(Array.from({ length: readers }, readQueued))
    }
  }

  async #read(directory: WatchedDirectory, changes?: ChangeWindow): Promise<void> {
    if (directory.removed || directory.skipped) return
    const { events = new Map<string, boolean>(), unread, stale } = directory
    directory.events = undefined
    directory.unread = directory.stale = false
    if (!unread && !stale && onlyKnownFiles(directory, events)) {
      for (const name of events.keys()) changes?.add(directory.pathOf(name), 'updated')
      return
    }
    const opened = await this.#open(directory, changes)
    if (!opened) return
    try {
      const replaced = opened.ino !== directory.ino
      if (replaced) this.#known.clear(directory, changes)
      directory.ino = opened.ino
      if (replaced || stale || !directory.watch) this.#watches.start(directory, opened)
      const complete = unread || stale || replaced || needsList(events)
      const room = this.#context.limits.watchNames - this.#known.count + directory.entryCount
      const entries = complete ? await opened.list(room) : await opened.lookUp(events.keys())
      if (directory.removed) return
      if (!entries) return this.#watches.poll(directory)
      this.#queue.push(...this.#known.update(directory, { entries, complete, events }, changes))
      if (this.#polled.has(directory)) await this.#polled.compareFiles(directory, opened, changes)
    } catch (error) {
      this.#readFailed(directory, error, changes)
    } finally {
      await opened.close()
    }
  }

  async #open(directory: WatchedDirectory, changes?: ChangeWindow): Promise<OpenDirectory | undefined> {
    const { backend, path: root } = this.#context
    const { path } = directory
    try {
      const opened = await backend.openDirectory(path === '' ? root : `${root}/${path}`)
      if (!directory.removed) return opened
      await opened.close()
    } catch (error) {
      if (!directory.removed) this.#readFailed(directory, error, changes)
    }
    return undefined
  }

  #readFailed(directory: WatchedDirectory, error: unknown, changes?: ChangeWindow): void {
    if (isOutOfResources(error)) return this.#watches.poll(directory)
    this.#watches.stop(directory)
    directory.unread = true
    // A directory that may not be read counts as empty. When it becomes readable, its parent receives an event.
    if (isAccessDenied(error)) return this.#known.clear(directory, changes)
    if (!directory.parent) this.#removed = true
    else this.#events.add(directory.parent, directory.name, true)
  }
}

/** Number of directories read at the same time. It is larger than Node's thread pool, so that the pool is never idle. */
const concurrentReads = 8

/** Number of names that are looked up one by one; for more, the whole directory is listed. */
const maxLookUps = 16

function onlyKnownFiles(directory: WatchedDirectory, events: ReadonlyMap<string, boolean>): boolean {
  return [...events].every(([name, structural]) => !structural && directory.files.has(name))
}

function needsList(events: ReadonlyMap<string, boolean>): boolean {
  return events.size > maxLookUps || [...events.keys()].some(isInvalidText)
}

/** Whether a name contains U+FFFD, which replaces invalid UTF-8. No system call finds a file by such a name. */
const isInvalidText = (name: string): boolean => name.includes('\ufffd')
