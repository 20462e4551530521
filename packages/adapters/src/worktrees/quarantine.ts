import { copyFile, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Repository } from '../git/repository.ts'
import { syncFolder } from '../process/sync-folder.ts'
import { exists } from './checkout.ts'
import { syncFile } from './machine.ts'

/**
 * A git directory with the objects and branches of a repository, in which new objects go to a folder of their own. An attempt
 * that fails leaves nothing in the user's repository.
 */
export class Quarantine {
  readonly commonDir: string
  readonly #objects: string
  readonly #repository: Repository

  private constructor(commonDir: string, repository: Repository) {
    this.commonDir = commonDir
    this.#objects = join(commonDir, 'objects')
    this.#repository = repository
  }

  static async in(folder: string, repository: Repository): Promise<Quarantine> {
    const commonDir = join(folder, 'common')
    const real = repository.commonDir
    await mkdir(join(commonDir, 'objects', 'info'), { recursive: true })
    await mkdir(join(commonDir, 'info'))
    await writeFile(join(commonDir, 'objects', 'info', 'alternates'), `${join(real, 'objects')}\n`)
    for (const name of ['refs', 'packed-refs', 'shallow', 'config', join('info', 'exclude')])
      if (await exists(join(real, name))) await symlink(join(real, name), join(commonDir, name))
    return new Quarantine(commonDir, repository)
  }

  /** Moves the new objects into the repository, durably: a branch must never name an object that a power cut can destroy. */
  async release(): Promise<void> {
    const real = join(this.#repository.commonDir, 'objects')
    for (const folder of await readdir(this.#objects)) {
      if (folder === 'info') continue
      await mkdir(join(real, folder), { recursive: true })
      // Of a pack, the index comes last: git takes a pack with an index as complete.
      const names = (await readdir(join(this.#objects, folder))).toSorted((a, b) => rank(a) - rank(b))
      for (const name of names) {
        const to = join(real, folder, name)
        if (await exists(to)) continue
        const part = join(real, folder, `tmp_obj_${name}`)
        try {
          await copyFile(join(this.#objects, folder, name), part)
          await syncFile(part)
          await rename(part, to)
        } finally {
          await rm(part, { force: true })
        }
      }
      await syncFolder(join(real, folder))
    }
  }
}

function rank(name: string): number {
  return name.endsWith('.idx') ? 1 : 0
}
