import { constants } from 'node:fs'
import { mkdir, rename, rmdir } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Change } from '@atrium/host/ports/files'
import type { DirectoryEntry } from './containment.ts'
import { isSameFile } from './held-file.ts'
import type { HeldFile } from './held-file.ts'
import { copyBytes, wholeFile } from './copy-bytes.ts'
import { exists, notRegular, unfit } from './errors.ts'
import { codeOf } from '../process/error-code.ts'
import { isInside } from './byte-path.ts'
import { atomicReplace, renameEntry, syncDirectory } from './atomic-replace.ts'
import { holdIfExists, lockNameOf } from './operation.ts'
import type { Operation } from './operation.ts'
import { removeEntry } from './remove.ts'
import { checkTree, copyContents, removeContents } from './tree.ts'
import { TreeBudget } from './tree-budget.ts'

type CopyOrMove = Extract<Change, { readonly kind: 'copy' | 'move' }>

/** A checked request: the file to copy or move, and the directory entry that it shall get. */
interface Transfer extends CopyOrMove {
  readonly source: HeldFile
  readonly target: DirectoryEntry
}

export async function copy(operation: Operation, request: CopyOrMove): Promise<void> {
  const { containment, descriptors, locks } = operation
  const source = await containment.resolve(descriptors, request.from)
  const target = await containment.entry(descriptors, request.to)
  await locks.run([lockNameOf(target)], async () => {
    const transfer = { ...request, source, target }
    await checkTarget(operation, transfer)
    await copyTo(operation, transfer)
  })
}

export async function move(operation: Operation, request: CopyOrMove): Promise<void> {
  const { containment, descriptors, locks } = operation
  const { from, to, failIfExists } = request
  const old = await containment.entry(descriptors, from)
  const target = await containment.entry(descriptors, to)
  await locks.run([...new Set([lockNameOf(old), lockNameOf(target)])], async () => {
    const source = await descriptors.hold(old.dir.childPath(old.name), false)
    await containment.check(source, from)
    if (source.stat.isDirectory()) await containment.checkRemovable(source.realPath, [from, to])
    const transfer = { ...request, source, target }
    await checkTarget(operation, transfer)
    try {
      await renameEntry(old, target, failIfExists && !source.stat.isDirectory())
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw existsIfOccupied(error)
      await copyTo(operation, transfer)
      await removeEntry(operation, old, from, true)
    }
  })
}

/** Throws if the source may not take the target's name. Changes nothing. */
async function checkTarget(
  { containment, descriptors }: Operation,
  { source, target, to, failIfExists }: Transfer,
): Promise<void> {
  if (source.stat.isDirectory() && isInside(target.dir.realPath, source.realPath))
    throw unfit('A directory cannot be put into itself.')
  const existing = await holdIfExists(descriptors, target)
  if (!existing) return
  if (isSameFile(existing, source)) throw unfit('Both names are the same file.')
  if (failIfExists || source.stat.isDirectory()) throw exists()
  if (existing.stat.isFile()) return
  if (!existing.stat.isSymbolicLink()) throw exists()
  // A link at the target is replaced, unless it leads to a directory or out of the roots.
  const linked = await containment.resolve(descriptors, to).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
  })
  if (linked?.stat.isDirectory()) throw exists()
}

async function copyTo(operation: Operation, transfer: Transfer): Promise<void> {
  const { containment, limits } = operation
  const { source, target, from, kind } = transfer
  if (!source.stat.isDirectory()) return copyFileTo(operation, transfer)
  const check = (inner: HeldFile) => containment.check(inner, from)
  await checkTree(source, { budget: new TreeBudget(limits), check, files: true })
  // A move removes the source afterwards, so each file of the copy must be on the disk.
  const walk = { budget: new TreeBudget(limits), check, durable: kind === 'move' }
  await copyDirectoryTo(operation, target, (to) => copyContents(source, to, walk))
}

async function copyFileTo(
  { limits, unfinished }: Operation,
  { source, target, failIfExists }: Transfer,
): Promise<void> {
  if (!source.stat.isFile()) throw notRegular()
  new TreeBudget(limits).spendBytes(Number(source.stat.size))
  const from = await source.open(constants.O_RDONLY)
  try {
    // The bytes are counted a second time while they are copied: the file may have grown.
    const { spendBytes } = new TreeBudget(limits)
    const fill = async (file: FileHandle) => file.truncate(await copyBytes(from, file, wholeFile, spendBytes))
    const options = { attributesOf: source.stat, exclusive: failIfExists, unfinished }
    await atomicReplace(target, fill, options).catch((error: unknown) => {
      throw existsIfOccupied(error)
    })
  } finally {
    await from.close()
  }
}

/** Fills a directory under a temporary name and renames it when it is complete. */
async function copyDirectoryTo(
  { descriptors, unfinished }: Operation,
  { dir, name }: DirectoryEntry,
  fill: (to: HeldFile) => Promise<void>,
): Promise<void> {
  await unfinished.withName(dir, async (temp) => {
    await mkdir(dir.childPath(temp), 0o700)
    const made = await descriptors.hold(dir.childPath(temp), false)
    try {
      await fill(made)
      await rename(dir.childPath(temp), dir.childPath(name)).catch((error: unknown) => {
        throw existsIfOccupied(error)
      })
    } catch (error) {
      const budget = new TreeBudget({ treeDepth: Infinity, treeEntries: Infinity, copyBytes: 0 })
      await removeContents(made, { budget, check: async () => {} }).catch(() => {})
      await rmdir(dir.childPath(temp)).catch(() => {})
      throw error
    }
  })
  await syncDirectory(dir)
}

/**
 * Converts an error of a rename to `exists` if another program has created the target after `checkTarget`. Returns
 * other errors as they are.
 */
function existsIfOccupied(error: unknown): unknown {
  return ['ENOTEMPTY', 'EISDIR', 'ENOTDIR'].includes(codeOf(error) ?? '') ? exists() : error
}
