import type { NotifyWatch } from './notify-backend.ts'

/** A directory of a watched tree: its known entries, and its events since it was last read. */
export class WatchedDirectory {
  readonly parent: WatchedDirectory | undefined
  readonly name: string
  /** Names of all entries that are not directories. Links count here: they are never followed. */
  readonly files = new Set<string>()
  readonly directories = new Map<string, WatchedDirectory>()
  /** Whether its entries are left out, because the request does not ask for them. */
  readonly skipped: boolean
  ino = 0
  watch: NotifyWatch | undefined
  /** Change times of its files, only kept while the directory is polled. */
  changeTimes: Map<string, number> | undefined
  /**
   * The names of entries with events. True: the entry may have been created, removed or replaced. False: only its content
   * changed.
   */
  events: Map<string, boolean> | undefined
  /** Whether the next read must list all entries. */
  unread = true
  /** Whether its watch may belong to another directory than the one that is at the path now. */
  stale = false
  removed = false

  constructor(parent: WatchedDirectory | undefined, name: string, skipped: boolean) {
    this.parent = parent
    this.name = name
    this.skipped = skipped
  }

  /** The path relative to the root of the watch. The path of the root is empty. */
  get path(): string {
    return this.parent ? this.parent.pathOf(this.name) : ''
  }

  pathOf(name: string): string {
    const own = this.path
    return own === '' ? name : `${own}/${name}`
  }

  get entryCount(): number {
    return this.files.size + this.directories.size
  }
}
