import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import {
  copyFile,
  link,
  mkdir,
  readFile,
  readdir,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { CommitFailed } from '@atrium/host/ports/commits'
import { codeOf } from '../../process/error-code.ts'
import { syncFolder } from '../../process/sync-folder.ts'
import type { Repository } from '../repository.ts'
import { locked } from './settings.ts'

/** The copy that a killed host may leave in a git directory. A note about the copy is written before the copy is created. */
interface Leftover {
  readonly gitDir: string
  readonly name: string
}

/**
 * A copy of the index of a repository. When the copy is ready, it takes the place of the index. The lock of the index
 * (`index.lock`) exists only during this replacement, and has the whole content of the copy from the beginning. By
 * this content, a lock that a killed host has left is told from a lock of the user.
 */
export class IndexCopy {
  /** The file that git works on. */
  readonly path: string
  readonly #gitDir: string
  readonly #before: BigIntStats | undefined

  private constructor(path: string, gitDir: string, before: BigIntStats | undefined) {
    this.path = path
    this.#gitDir = gitDir
    this.#before = before
  }

  /**
   * Runs a task with a copy, and removes the copy afterwards. `journal` is the host's own folder for notes about
   * copies.
   */
  static async with<T>(
    journal: string,
    { gitDir }: Repository,
    task: (copy: IndexCopy) => Promise<T>,
  ): Promise<T> {
    const id = randomBytes(8).toString('hex')
    const leftover: Leftover = { gitDir, name: `atrium-index-${id}` }
    const note = join(journal, `${id}.json`)
    await mkdir(journal, { recursive: true, mode: 0o700 })
    await writeFile(note, JSON.stringify(leftover), { mode: 0o600 })
    const path = join(gitDir, leftover.name)
    try {
      const index = join(gitDir, 'index')
      const before = await statOf(index)
      if (before) {
        await copyFile(index, path, constants.COPYFILE_EXCL)
        // Git compares files by content if they are not older than the index. A copy with a later time would hide
        // changes. So the copy gets the time of the index, rounded down to a whole second.
        const seconds = Number(before.mtimeNs / 1_000_000_000n)
        await utimes(path, seconds, seconds)
      }
      return await task(new IndexCopy(path, gitDir, before))
    } finally {
      await clear(leftover)
      await rm(note, { force: true })
    }
  }

  /** Puts the copy in the place of the index. Returns a function that puts the index back that was there before. */
  async install(): Promise<() => Promise<void>> {
    // Before the first file is staged there is no index, and git makes none without an entry.
    if (!(await statOf(this.path))) return async () => {}
    const saved = `${this.path}-before`
    if (this.#before) await copyFile(join(this.#gitDir, 'index'), saved)
    await this.#replace(this.path, this.#before)
    const installed = await statOf(join(this.#gitDir, 'index'))
    return async () => {
      if (this.#before) await this.#replace(saved, installed)
    }
  }

  /** Replaces the index by the content of a file. Throws if the index is no longer the known one. */
  async #replace(file: string, known: BigIntStats | undefined): Promise<void> {
    const [index, lock] = [join(this.#gitDir, 'index'), join(this.#gitDir, 'index.lock')]
    await take(file, lock)
    try {
      if (!isSame(known, await statOf(index)))
        throw new CommitFailed('The index of the repository was changed meanwhile. Nothing was changed.')
      await rename(lock, index)
    } catch (error) {
      await rm(lock, { force: true })
      throw error
    }
    await syncFolder(this.#gitDir)
  }
}

/** Removes what killed hosts have left in git directories: copies, and locks with the content of a copy. */
export async function removeLeftovers(journal: string): Promise<void> {
  for (const note of await readdir(journal).catch(() => [])) {
    const path = join(journal, note)
    const leftover = leftoverIn(await readFile(path, 'utf8').catch(() => ''))
    if (leftover) {
      const lock = join(leftover.gitDir, 'index.lock')
      const copies = ['', '-before'].map((end) => join(leftover.gitDir, leftover.name + end))
      for (const copy of copies) if (await isCopy(lock, copy)) await rm(lock, { force: true })
      await clear(leftover)
    }
    await rm(path, { force: true })
  }
}

/**
 * Creates the lock as a hard link to a file, so that the lock has its whole content from the beginning. A file system without
 * hard links gets a copy, which can be left incomplete by a crash.
 */
async function take(file: string, lock: string): Promise<void> {
  try {
    await link(file, lock).catch((error: unknown) => {
      if (codeOf(error) === 'EEXIST') throw error
      return copyFile(file, lock, constants.COPYFILE_EXCL)
    })
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new CommitFailed(locked)
    throw error
  }
}

async function isCopy(lock: string, copy: string): Promise<boolean> {
  const [a, b] = await Promise.all([lock, copy].map((path) => readFile(path).catch(() => undefined)))
  return a !== undefined && b?.equals(a) === true
}

/** Parses a note. Only a name that this module gives to copies is accepted, so that a wrong note removes no other file. */
function leftoverIn(text: string): Leftover | undefined {
  try {
    // The two members that are used are checked below.
    const { gitDir, name } = JSON.parse(text) as Partial<Leftover>
    return typeof gitDir === 'string' && /^atrium-index-[\da-f]{16}$/.test(name ?? '')
      ? { gitDir, name: name ?? '' }
      : undefined
  } catch {
    return undefined
  }
}

async function clear({ gitDir, name }: Leftover): Promise<void> {
  for (const end of ['', '.lock', '-before']) await rm(join(gitDir, name + end), { force: true })
}

async function statOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined)
}

function isSame(a: BigIntStats | undefined, b: BigIntStats | undefined): boolean {
  if (!a || !b) return a === b
  return (['ino', 'size', 'mtimeNs'] as const).every((key) => a[key] === b[key])
}
