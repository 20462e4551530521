import type { KnownEntries } from './known-entries.ts'
import type { WatchedDirectory } from './watched-directory.ts'

export interface PendingEventsOptions {
  /** Whether the name in an event is relative to the watched directory. If not, it is relative to the root. */
  readonly perDirectory: boolean
  /** Number of names that are kept; more events count as lost. */
  readonly maxNames: number
  readonly onEvent: () => void
}

/**
 * The events since the last call of `take`. An event only says where to look. Each directory keeps the names of its
 * events.
 */
export class PendingEvents {
  readonly #known: KnownEntries
  readonly #options: PendingEventsOptions
  #directories = new Set<WatchedDirectory>()
  #names = 0
  #lost = false

  constructor(known: KnownEntries, options: PendingEventsOptions) {
    this.#known = known
    this.#options = options
  }

  /** Takes an event as the system sends it. */
  receive(directory: WatchedDirectory, type: string, name: string | null): void {
    if (name === null) return this.overflow()
    if (name === '.') {
      directory.stale = true
      this.#mark(directory)
    } else if (this.#options.perDirectory) this.add(directory, name, type === 'rename')
    else this.#addByPath(name.replaceAll('\\', '/').split('/'), type === 'rename')
  }

  /**
   * Adds an event. `structural`: the entry may have been created, removed or replaced. Otherwise only its content
   * changed.
   */
  add(directory: WatchedDirectory, name: string, structural: boolean): void {
    const before = directory.events?.get(name)
    if (before === undefined && this.#names++ >= this.#options.maxNames) {
      this.#lost = true
      directory.events = undefined
      directory.unread = true
    } else (directory.events ??= new Map()).set(name, structural || before === true)
    this.#mark(directory)
  }

  /**
   * Handles dropped events: marks every directory to be read again, and every watch as one that may be on a replaced
   * directory.
   */
  overflow(): void {
    this.#lost = true
    for (const directory of this.#known.directories()) {
      directory.stale = true
      this.#directories.add(directory)
    }
    this.#options.onEvent()
  }

  /** Returns the directories with events, and whether events were lost. Then forgets both. */
  take(): { readonly directories: Set<WatchedDirectory>; readonly lost: boolean } {
    const taken = { directories: this.#directories, lost: this.#lost }
    this.#directories = new Set()
    this.#names = 0
    this.#lost = false
    return taken
  }

  /** Adds an event to the deepest known directory of its path. */
  #addByPath(names: readonly string[], structural: boolean): void {
    let directory = this.#known.root
    for (const [i, name] of names.entries()) {
      const next = i < names.length - 1 ? directory.directories.get(name) : undefined
      if (!next) return this.add(directory, name, structural)
      directory = next
    }
  }

  #mark(directory: WatchedDirectory): void {
    this.#directories.add(directory)
    this.#options.onEvent()
  }
}
