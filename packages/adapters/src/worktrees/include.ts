import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { copyFile, lstat, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ignoredAmong } from '../git/ignored.ts'
import type { Repository } from '../git/repository.ts'
import { namesIn } from './checkout.ts'
import { inRepository, isForbidden } from './machine.ts'
import type { Machine } from './machine.ts'

/** The file with the patterns of ignored files that a worktree needs too, such as `.env`. Its form is that of `.gitignore`. */
const includeFile = '.worktreeinclude'

export interface Included {
  /** The SHA-256 of each copied file. */
  readonly copied: { readonly [path: string]: string }
  readonly notes: readonly string[]
}

/** Copies the ignored files that `.worktreeinclude` names into a worktree. Links and special files are not copied. */
export async function copyIncluded(machine: Machine, main: Repository, to: string): Promise<Included> {
  const list = await lstat(join(main.root, includeFile)).catch(() => undefined)
  if (!list?.isFile()) return { copied: {}, notes: [] }
  const paths = await inRepository(machine, main, async (shadow) => {
    const matching = namesIn(
      await shadow.run(['ls-files', '-z', '--others', '--ignored', `--exclude-from=${includeFile}`]),
    )
    const ignored = await ignoredAmong(shadow, matching)
    return matching.filter((path) => ignored.has(path))
  })
  const { worktreeFiles, worktreeBytes } = machine.limits
  const copied: { [path: string]: string } = {}
  let bytes = 0
  let left = 0
  for (const path of paths) {
    const file = await lstat(join(main.root, path)).catch(() => undefined)
    if (!file?.isFile() || (await isForbidden(machine, join(main.root, path)))) continue
    if (Object.keys(copied).length >= worktreeFiles || bytes + file.size > worktreeBytes) {
      left++
      continue
    }
    bytes += file.size
    await mkdir(dirname(join(to, path)), { recursive: true })
    // The blocks are cloned if the file system supports this. A file of the commit is not overwritten.
    await copyFile(
      join(main.root, path),
      join(to, path),
      constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL,
    )
    copied[path] = await digestOf(join(to, path))
  }
  return {
    copied,
    notes:
      left > 0
        ? [`${left} of the files that ${includeFile} names were not copied: they are too many or too large.`]
        : [],
  }
}

export async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest('hex')
}

/** Returns the copied files that have changed since they were copied. */
export async function changedCopies(root: string, copied: Included['copied']): Promise<readonly string[]> {
  const changed: string[] = []
  for (const [path, digest] of Object.entries(copied)) {
    const file = await lstat(join(root, path)).catch(() => undefined)
    if (file && !(file.isFile() && (await digestOf(join(root, path))) === digest)) changed.push(path)
  }
  return changed
}
