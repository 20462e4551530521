import { rmdir, unlink } from 'node:fs/promises'
import { FileError } from '@atrium/host/ports/files'
import type { ContainedPath } from '@atrium/host/ports/files'
import type { DirectoryEntry } from './containment.ts'
import type { HeldFile } from './held-file.ts'
import { lockNameOf } from './operation.ts'
import type { Operation } from './operation.ts'
import { checkTree, removeContents } from './tree.ts'
import { TreeBudget } from './tree-budget.ts'

export async function remove(operation: Operation, place: ContainedPath, recursive: boolean): Promise<void> {
  const entry = await operation.containment.entry(operation.descriptors, place)
  await operation.locks.run([lockNameOf(entry)], () => removeEntry(operation, entry, place, recursive))
}

/** Removes an entry whose name lock the caller holds. */
export async function removeEntry(
  { containment, descriptors, limits }: Operation,
  { dir, name }: DirectoryEntry,
  place: ContainedPath,
  recursive: boolean,
): Promise<void> {
  const target = await descriptors.hold(dir.childPath(name), false)
  await containment.check(target, place)
  if (!target.stat.isDirectory()) return unlink(dir.childPath(name))
  await containment.checkRemovable(target.realPath, [place])
  if (recursive) {
    const check = async (inner: HeldFile) => {
      await containment.check(inner, place)
      // A mount point cannot be removed: the mounted disk would be emptied, and its directory would stay.
      if (inner.stat.dev !== dir.stat.dev) throw new FileError('refused', 'Another disk is mounted in it.')
    }
    // The first walk changes nothing, so that a tree that may not be removed stays complete.
    await checkTree(target, { budget: new TreeBudget(limits), check, files: false })
    await removeContents(target, { budget: new TreeBudget(limits), check })
  }
  await rmdir(dir.childPath(name))
}
