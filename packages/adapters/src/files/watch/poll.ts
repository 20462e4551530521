import type { ChangeWindow } from './change-window.ts'
import type { OpenDirectory } from './open-directory.ts'
import type { WatchedDirectory } from './watched-directory.ts'

/** Directories without events from the system. They are read at intervals, so their changes are reported late. */
export class PolledDirectories {
  readonly #directories = new Set<WatchedDirectory>()
  readonly #intervalMs: number
  #roundBegan = 0
  #nextRound = 0

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs
  }

  /** Adds a directory. Returns true if no directory was polled before. */
  add(directory: WatchedDirectory): boolean {
    const first = this.#directories.size === 0
    this.#directories.add(directory)
    return first
  }

  has(directory: WatchedDirectory): boolean {
    return this.#directories.has(directory)
  }

  delete(directory: WatchedDirectory): void {
    directory.changeTimes = undefined
    this.#directories.delete(directory)
  }

  /** Begins a round if it is due. Returns the directories to read now: all polled directories, or none. */
  beginRound(): readonly WatchedDirectory[] {
    this.#roundBegan = performance.now()
    return this.#roundBegan < this.#nextRound ? [] : [...this.#directories]
  }

  /**
   * Schedules the next round. The pause is at least 20 times as long as this round, so polling takes at most 5 % of the
   * time.
   */
  endRound(): void {
    const now = performance.now()
    this.#nextRound = now + Math.max(this.#intervalMs * 0.9, (now - this.#roundBegan) * 20)
  }

  /** Finds files whose content changed, by their change times. The list of names does not show such a change. */
  async compareFiles(
    directory: WatchedDirectory,
    opened: OpenDirectory,
    changes?: ChangeWindow,
  ): Promise<void> {
    const { changeTimes: before } = directory
    const changeTimes = new Map<string, number>()
    for (const name of directory.files) {
      const now = await opened.changeTime(name)
      const then = before?.get(name)
      if (now !== undefined) changeTimes.set(name, now)
      if (now !== undefined && then !== undefined && now !== then)
        changes?.add(directory.pathOf(name), 'updated')
    }
    directory.changeTimes = changeTimes
  }
}
