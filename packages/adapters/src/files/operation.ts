import type { Containment, DirectoryEntry } from './containment.ts'
import type { Descriptors, HeldFile } from './held-file.ts'
import { codeOf } from '../process/error-code.ts'
import type { NameLock } from './name-lock.ts'
import type { TreeLimits } from './tree-budget.ts'
import type { Unfinished } from './unfinished.ts'

/** One call of a method of `Files`: the parts that all calls share, and the files that this call holds. */
export interface Operation {
  readonly containment: Containment
  readonly locks: NameLock
  readonly limits: TreeLimits
  readonly unfinished: Unfinished
  readonly descriptors: Descriptors
}

/** Returns the key of an entry in `NameLock`. Paths that lead to the same directory give the same key. */
export function lockNameOf({ dir, name }: DirectoryEntry): string {
  return `${dir.stat.dev}:${dir.stat.ino}/${name}`
}

/**
 * Holds the file that an entry names. A link is held itself, and not followed. Returns undefined if the entry does not
 * exist.
 */
export async function holdIfExists(
  descriptors: Descriptors,
  { dir, name }: DirectoryEntry,
): Promise<HeldFile | undefined> {
  try {
    return await descriptors.hold(dir.childPath(name), false)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
