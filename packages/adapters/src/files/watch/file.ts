import { lstat } from 'node:fs/promises'
import type { Changes } from './change-window.ts'
import type { Ear, Means } from './notify-backend.ts'
import type { Watched } from './options.ts'

/**
 * One file that is watched for itself. Programs like to put a new file in the place of one they change, and the system
 * watches files, not places: so whatever is heard, the place is looked at, and also when nothing is.
 */
export class WatchedFile implements Watched {
  readonly #path: string
  readonly #means: Means
  readonly #heard: () => void
  #ear: Ear | undefined
  #stamp = ''

  static async open(path: string, means: Means, heard: () => void): Promise<WatchedFile | undefined> {
    const file = new WatchedFile(path, means, heard)
    return (await file.#look()) === undefined ? undefined : file
  }

  private constructor(path: string, means: Means, heard: () => void) {
    this.#path = path
    this.#means = means
    this.#heard = heard
  }

  async settle(changes: Changes): Promise<boolean> {
    const before = this.#stamp
    if ((await this.#look()) === undefined) return false
    if (this.#stamp !== before) changes.add('', 'updated')
    return true
  }

  end(): void {
    this.#ear?.close()
    this.#ear = undefined
  }

  async #look(): Promise<string | undefined> {
    this.#listen()
    const facts = await lstat(this.#path, { bigint: true }).catch(() => undefined)
    if (!facts || facts.isDirectory()) return undefined
    this.#stamp = `${facts.dev} ${facts.ino} ${facts.size} ${facts.ctimeNs} ${facts.mtimeNs}`
    return this.#stamp
  }

  #listen(): void {
    if (this.#ear) return
    try {
      this.#ear = this.#means.watchFile(this.#path, (type) => {
        // Another file may be there now, which has to be watched before it is looked at.
        if (type === 'rename') this.end()
        this.#heard()
      })
    } catch {
      // Then it is looked at from time to time.
    }
  }
}
