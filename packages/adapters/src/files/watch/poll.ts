import type { Changes } from './change-window.ts'
import type { Folder } from './watched-directory.ts'
import type { Entered } from './notify-backend.ts'

/** Directories that the system does not tell of. They are read again from time to time, so that changes are seen late, but seen. */
export class Poll {
  readonly #folders = new Set<Folder>()
  readonly #everyMs: number
  #began = 0
  #next = 0

  constructor(everyMs: number) {
    this.#everyMs = everyMs
  }

  /** Whether it is the first. */
  add(folder: Folder): boolean {
    const first = this.#folders.size === 0
    this.#folders.add(folder)
    return first
  }

  has(folder: Folder): boolean {
    return this.#folders.has(folder)
  }

  delete(folder: Folder): void {
    folder.stamps = undefined
    this.#folders.delete(folder)
  }

  /** Those to be read now. */
  due(): readonly Folder[] {
    this.#began = performance.now()
    return this.#began < this.#next ? [] : [...this.#folders]
  }

  /** They were read. However many there are, that takes a small part of the time. */
  done(): void {
    const now = performance.now()
    this.#next = now + Math.max(this.#everyMs * 0.9, (now - this.#began) * 20)
  }

  /** Names do not tell whether what is in a file has changed. */
  async compare(folder: Folder, entered: Entered, changes?: Changes): Promise<void> {
    const { stamps: before } = folder
    const stamps = new Map<string, number>()
    for (const name of folder.files) {
      const now = await entered.stamp(name)
      const then = before?.get(name)
      if (now !== undefined) stamps.set(name, now)
      if (now !== undefined && then !== undefined && now !== then)
        changes?.add(folder.pathOf(name), 'updated')
    }
    folder.stamps = stamps
  }
}
