import { lstat } from 'node:fs/promises'
import type { ChangeWindow } from './change-window.ts'
import type { NotifyBackend, NotifyWatch } from './notify-backend.ts'
import type { WatchTarget } from './options.ts'

/**
 * One watched file. Editors replace a file by renaming a new one over it, but the system watches the file and not its
 * path. So each call of `collect` compares the file at the path with the file of the last call, with or without an
 * event.
 */
export class WatchedFile implements WatchTarget {
  readonly #path: string
  readonly #backend: NotifyBackend
  readonly #onEvent: () => void
  #watch: NotifyWatch | undefined
  /** Inode, size and times of the file when it was last compared. */
  #version = ''

  static async open(
    path: string,
    backend: NotifyBackend,
    onEvent: () => void,
  ): Promise<WatchedFile | undefined> {
    const file = new WatchedFile(path, backend, onEvent)
    if (await file.#readVersion()) return file
    // There is no file, so the watch is closed. It was started before the path was read, so that no change in between
    // is missed.
    file.close()
    return undefined
  }

  private constructor(path: string, backend: NotifyBackend, onEvent: () => void) {
    this.#path = path
    this.#backend = backend
    this.#onEvent = onEvent
  }

  async collect(changes: ChangeWindow): Promise<boolean> {
    const before = this.#version
    if (!(await this.#readVersion())) return false
    if (this.#version !== before) changes.add('', 'updated')
    return true
  }

  close(): void {
    this.#watch?.close()
    this.#watch = undefined
  }

  /**
   * Starts the watch if necessary, and reads the version of the file. Returns false if there is no file at the path.
   */
  async #readVersion(): Promise<boolean> {
    this.#startWatch()
    const stat = await lstat(this.#path, { bigint: true }).catch(() => undefined)
    if (!stat || stat.isDirectory()) return false
    this.#version = `${stat.dev} ${stat.ino} ${stat.size} ${stat.ctimeNs} ${stat.mtimeNs}`
    return true
  }

  #startWatch(): void {
    if (this.#watch) return
    try {
      this.#watch = this.#backend.watchFile(this.#path, (type) => {
        // The path may lead to another file now. The old watch ends here, so that the next call of `collect` starts a
        // watch of the new file before it reads that file.
        if (type === 'rename') this.close()
        this.#onEvent()
      })
    } catch {
      // Without a watch, the file is compared at each poll.
    }
  }
}
