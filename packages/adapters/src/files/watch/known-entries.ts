import type { WatchRequest } from '@atrium/host/ports/files'
import type { ChangeWindow } from './change-window.ts'
import { WatchedDirectory } from './watched-directory.ts'

/** The result of reading a directory. */
export interface DirectoryRead {
  /** Names, and whether each is a directory. */
  readonly entries: ReadonlyMap<string, boolean>
  /** True: `entries` are all entries of the directory. False: only the names in `events` were looked up. */
  readonly complete: boolean
  readonly events: ReadonlyMap<string, boolean>
}

/** The entries of a tree as they were last read. Updating them yields the changes. */
export class KnownEntries {
  readonly root = new WatchedDirectory(undefined, '', false)
  readonly #request: WatchRequest
  readonly #onRemoved: (directory: WatchedDirectory) => void
  #count = 0

  /** `onRemoved` is called with each directory that no longer exists. */
  constructor(request: WatchRequest, onRemoved: (directory: WatchedDirectory) => void) {
    this.#request = request
    this.#onRemoved = onRemoved
  }

  get count(): number {
    return this.#count
  }

  /** Takes over the result of a read; returns the subdirectories that must be read now. */
  update(
    directory: WatchedDirectory,
    { entries, complete, events }: DirectoryRead,
    changes?: ChangeWindow,
  ): readonly WatchedDirectory[] {
    const compared = complete ? [...directory.files, ...directory.directories.keys()] : events.keys()
    for (const name of compared)
      if (entries.get(name) !== directory.directories.has(name)) this.#remove(directory, name, changes)
    const unread: WatchedDirectory[] = []
    for (const [name, isDirectory] of entries) {
      const child = directory.directories.get(name)
      if (child) {
        // A directory without a watch is read again if it has an event: it may be possible to watch it now.
        if (events.has(name) && !child.watch) unread.push(child)
      } else if (!directory.files.has(name)) {
        const added = this.#add(directory, name, isDirectory, changes)
        if (added && !added.skipped) unread.push(added)
      } else if (events.has(name)) changes?.add(directory.pathOf(name), 'updated')
    }
    return unread
  }

  /** Forgets all entries of a directory, and reports them as deleted. */
  clear(directory: WatchedDirectory, changes?: ChangeWindow): void {
    for (const name of [...directory.files, ...directory.directories.keys()])
      this.#remove(directory, name, changes)
  }

  /** Yields a directory and all directories below it. */
  *directories(directory = this.root): Iterable<WatchedDirectory> {
    yield directory
    for (const child of directory.directories.values()) yield* this.directories(child)
  }

  #add(
    directory: WatchedDirectory,
    name: string,
    isDirectory: boolean,
    changes?: ChangeWindow,
  ): WatchedDirectory | undefined {
    const path = directory.pathOf(name)
    this.#count++
    changes?.add(path, 'added')
    if (!isDirectory) {
      directory.files.add(name)
      return undefined
    }
    const child = new WatchedDirectory(directory, name, !this.#request.recursive || this.#request.skips(path))
    directory.directories.set(name, child)
    return child
  }

  #remove(directory: WatchedDirectory, name: string, changes?: ChangeWindow): void {
    const child = directory.directories.get(name)
    if (!child && !directory.files.has(name)) return
    changes?.add(directory.pathOf(name), 'deleted')
    this.#count--
    directory.files.delete(name)
    if (!child) return
    this.clear(child, changes)
    directory.directories.delete(name)
    child.removed = true
    this.#onRemoved(child)
  }
}
