import { mkdir } from 'node:fs/promises'
import type { Change, ContainedPath } from '@atrium/host/ports/files'
import { copy, move } from './copy-move.ts'
import type { DirectoryEntry } from './containment.ts'
import { exists, unfit } from './errors.ts'
import { codeOf } from '../process/error-code.ts'
import type { HeldFile } from './held-file.ts'
import { joinPath } from './byte-path.ts'
import type { Operation } from './operation.ts'
import { remove } from './remove.ts'

export function change(operation: Operation, request: Change): Promise<void> {
  if (request.kind === 'make') return makeDirectories(operation, request.place)
  if (request.kind === 'remove') return remove(operation, request.place, request.recursive)
  return request.kind === 'copy' ? copy(operation, request) : move(operation, request)
}

/** Creates a directory and its missing parent directories, starting below the deepest root that exists. */
async function makeDirectories(operation: Operation, place: ContainedPath): Promise<void> {
  const { containment, descriptors } = operation
  const { root, names } = await containment.deepestRoot(descriptors, place)
  let dir = root
  for (const [i, name] of names.entries()) {
    const entry = await containment.entryIn(dir, name, place)
    const child = await makeOrHold(operation, entry, place)
    if (!child?.stat.isDirectory())
      throw i === names.length - 1 ? exists() : unfit('A part of the path is not a directory.')
    // Each directory is closed at once: a path may have more names than a process may have open files.
    dir.close()
    dir = child
  }
}

/**
 * Opens the directory of that name as a held file, and creates it if it is missing. Returns undefined for a link that
 * leads to nothing.
 */
async function makeOrHold(
  { containment, descriptors }: Operation,
  { dir, name }: DirectoryEntry,
  place: ContainedPath,
): Promise<HeldFile | undefined> {
  await mkdir(dir.childPath(name)).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  try {
    const child = await descriptors.hold(dir.childPath(name), true)
    await containment.check(child, place)
    return child
  } catch (error) {
    const shown = await containment.concealOutside(error, joinPath(dir.realPath, name), place)
    if (['ENOENT', 'ELOOP'].includes(codeOf(shown) ?? '')) return undefined
    throw shown
  }
}
