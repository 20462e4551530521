import { statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { readSmallFile } from './repository.ts'
import type { Repository } from './repository.ts'

/** The error for a repository that git cannot read without waiting for another program. The message is a sentence for users. */
export class OddRepository extends Error {
  override readonly name = 'OddRepository'
}

/**
 * Throws if one of the files that git opens in every repository is a FIFO or another special file. Git would wait there until its
 * time is over, and so would everybody who waits for that git (O14.5). The files are looked at and not opened. Links are followed,
 * as git does.
 */
export function refuseOddFiles({ root, gitDir, commonDir }: Repository): void {
  const head = readSmallFile(join(gitDir, 'HEAD')) ?? ''
  const [, branch] = /^ref: (refs\/[^\0]+?)\n?$/.exec(head) ?? []
  for (const name of ['HEAD', 'index']) refuseOdd(join(gitDir, name))
  for (const name of commonFiles) refuseOdd(join(commonDir, name))
  if (branch !== undefined && !branch.split('/').includes('..')) refuseOdd(join(commonDir, branch))
  refuseOddRules(root)
}

/** Throws if git would wait for one of the files of a folder that say what is ignored or converted in it. */
export function refuseOddRules(folder: string): void {
  for (const name of ruleFiles) refuseOdd(join(folder, name))
}

/** Throws if a path that git opens names a special file. */
export function refuseOdd(path: string): void {
  const kind = oddKind(path)
  if (kind !== undefined)
    throw new OddRepository(
      `Git is not used here: ${path} is ${kind}, and git would wait for it. Delete it, or put a regular file in its place.`,
    )
}

/** Files that git reads in every folder of a working tree. */
export const ruleFiles: readonly string[] = ['.gitignore', '.gitattributes']

const commonFiles = [
  'config',
  'packed-refs',
  'shallow',
  join('info', 'exclude'),
  join('info', 'attributes'),
  join('objects', 'info', 'alternates'),
]

/** The kind of a special file, as words of a sentence. Undefined for regular files and folders, and if nothing is there. */
function oddKind(path: string): string | undefined {
  let info: Stats | undefined
  try {
    // One system call takes much less time than a change of threads, and an agent may wait for the result.
    info = statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
  if (!info || info.isFile() || info.isDirectory()) return undefined
  if (info.isFIFO()) return 'a FIFO'
  return info.isSocket() ? 'a socket' : 'a device'
}
