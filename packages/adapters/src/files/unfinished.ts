import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { joinPath, nameOf, systemPath } from './byte-path.ts'
import type { BytePath } from './byte-path.ts'
import type { HeldFile } from './held-file.ts'

/**
 * The temporary files and folders in which new contents are written beside their places. A host that is killed leaves them behind.
 * So each one has a note in a folder of the host while it exists, and the next start deletes what the notes name. The notes are not
 * flushed: a write does not wait for the disk twice, and after a power cut a temporary file may stay.
 */
export class Unfinished {
  /** The folder of the notes. Undefined: nothing is noted. */
  readonly #folder: string | undefined

  constructor(folder: string | undefined) {
    this.#folder = folder
  }

  /** Runs a task with the name of a temporary file in a directory. The task removes or renames the file. */
  async withName<T>(dir: HeldFile, task: (name: BytePath) => Promise<T>): Promise<T> {
    const name = `.atrium-${randomBytes(8).toString('hex')}.tmp`
    if (this.#folder === undefined) return task(name)
    const note = join(this.#folder, name)
    inUse.add(name)
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      writeFileSync(note, joinPath(dir.realPath, name), { encoding: 'latin1', mode: 0o600 })
      return await task(name)
    } finally {
      rmSync(note, { force: true })
      inUse.delete(name)
    }
  }

  /** Deletes what a host that was killed has left behind. */
  async sweep(): Promise<void> {
    const folder = this.#folder
    if (folder === undefined || !existsSync(folder)) return
    // The names are read at once: the notes of this run do not count.
    const left = readdirSync(folder).filter((name) => isTemporary(name) && !inUse.has(name))
    for (const name of left) {
      const path = readFileSync(join(folder, name), 'latin1')
      // The note of a host that was killed while it wrote the note is incomplete. There is no file yet.
      if (nameOf(path) === name) await rm(systemPath(path), { force: true, recursive: true })
      rmSync(join(folder, name), { force: true })
    }
  }
}

/** The names of the temporary files that this process has now. */
const inUse = new Set<string>()

function isTemporary(name: string): boolean {
  return /^\.atrium-[\da-f]{16}\.tmp$/.test(name)
}
