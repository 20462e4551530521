import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../../process/sync-folder.ts'
import type { Version } from './present.ts'

/** A group of edits, as it is written down before the first file changes. */
export interface Entry {
  readonly id: string
  readonly folders: readonly FolderSteps[]
}

export interface FolderSteps {
  readonly directory: string
  readonly steps: readonly Step[]
}

export interface Step {
  readonly path: string
  /** The name of the store that has the wanted content. Empty if no store has it. */
  readonly store: string
  readonly expected?: Version
  readonly wanted?: Version
  /** The path of the temporary file with the wanted content, until it is renamed to `path`. */
  readonly temp?: string
}

/** An entry in the form that an earlier version of the host wrote. It has one folder. */
interface EarlierEntry extends FolderSteps {
  readonly id: string
}

/**
 * The journal of edits. It has a file for each group that is being applied. While the new contents are written next
 * to their files, the name of the group's file ends with `.staging`. After a crash in this phase the new contents are
 * deleted. When all new contents are written, the group's file is renamed to `.json`. From this moment it is decided
 * that the group will be applied. After a crash, the next start of the host does so.
 */
export class Journal {
  readonly #folder: string

  constructor(folder: string) {
    this.#folder = folder
  }

  async stage(entry: Entry): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 })
    const file = await open(this.#path(entry, 'staging'), 'wx', 0o600)
    try {
      await file.writeFile(JSON.stringify(entry))
      await file.sync()
    } finally {
      await file.close()
    }
    await syncFolder(this.#folder)
  }

  /** Decides that the group will be applied, even after a crash. */
  async decide(entry: Entry): Promise<void> {
    await rename(this.#path(entry, 'staging'), this.#path(entry, 'json'))
    await syncFolder(this.#folder)
  }

  async forget(entry: Entry): Promise<void> {
    for (const state of ['staging', 'json']) await rm(this.#path(entry, state), { force: true })
    await syncFolder(this.#folder)
  }

  /** Returns the groups that a previous run left in the journal. `decided`: whether the group must be applied. */
  async left(): Promise<readonly { readonly entry: Entry; readonly decided: boolean }[]> {
    const names = await readdir(this.#folder).catch((): string[] => [])
    const found = await Promise.all(
      names.toSorted().map(async (name) => {
        const [, state] = /\.(staging|json)$/.exec(name) ?? []
        const entry = state === undefined ? undefined : await this.#read(name)
        return entry && { entry, decided: state === 'json' }
      }),
    )
    return found.flatMap((each) => (each ? [each] : []))
  }

  /**
   * Reads an entry. An incomplete entry is deleted: an entry is complete before the first of its files is changed, so no
   * file was changed.
   */
  async #read(name: string): Promise<Entry | undefined> {
    const path = join(this.#folder, name)
    const text = await readFile(path, 'utf8')
    try {
      // This class has written the file itself, in a folder that only this user can write to.
      const entry = JSON.parse(text) as Entry | EarlierEntry
      return 'folders' in entry ? entry : { id: entry.id, folders: [entry] }
    } catch {
      await rm(path, { force: true })
      return undefined
    }
  }

  #path({ id }: Entry, state: string): string {
    return join(this.#folder, `${id}.${state}`)
  }
}
