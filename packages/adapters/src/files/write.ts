import { constants } from 'node:fs'
import type { Stats } from 'node:fs'
import { access } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { FileError } from '@atrium/host/ports/files'
import type { ContainedPath, Write } from '@atrium/host/ports/files'
import { etagOf } from './stat.ts'
import type { DirectoryEntry } from './containment.ts'
import { isRoot } from './containment.ts'
import { withDescriptors } from './held-file.ts'
import type { Descriptors, HeldFile } from './held-file.ts'
import { copyBytes, writeAll } from './copy-bytes.ts'
import { changed, exists, isADirectory, notRegular, unfit } from './errors.ts'
import { codeOf } from '../process/error-code.ts'
import { atomicReplace } from './atomic-replace.ts'
import { holdIfExists, lockNameOf } from './operation.ts'
import type { Operation } from './operation.ts'
import type { Unfinished } from './unfinished.ts'

/** Number of attempts to write a file that other programs replace at the same time. */
const maxAttempts = 5

/** The bytes of one write, and how to write them. */
interface Content {
  readonly data: Uint8Array
  readonly options: Write
}

export async function write(operation: Operation, place: ContainedPath, content: Content): Promise<void> {
  const entry = await targetEntry(operation, place, content.options)
  await operation.locks.run([lockNameOf(entry)], async () => {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const written = await withDescriptors((descriptors) =>
        writeEntry({ ...operation, descriptors }, entry, content),
      )
      if (written) return
    }
    throw changed()
  })
}

/**
 * Returns the entry that is written. If the path is a link, this is the entry of its target, which must be inside the
 * roots.
 */
async function targetEntry(
  { containment, descriptors }: Operation,
  place: ContainedPath,
  { createOnly }: Write,
): Promise<DirectoryEntry> {
  if (isRoot(place)) {
    await containment.resolve(descriptors, place)
    throw createOnly ? exists() : isADirectory()
  }
  const entry = await containment.entry(descriptors, place)
  const found = await holdIfExists(descriptors, entry)
  if (!found?.stat.isSymbolicLink()) return entry
  if (createOnly) throw exists()
  return containment.realEntry(descriptors, await containment.resolve(descriptors, place), place)
}

/**
 * Writes the content to an entry. Returns false if another program replaced the file meanwhile: then the caller looks
 * up the entry and tries again.
 */
async function writeEntry(
  { descriptors, limits, unfinished }: Operation,
  entry: DirectoryEntry,
  content: Content,
): Promise<boolean> {
  const { data, options } = content
  const old = await oldFile(descriptors, entry, options)
  if (options.mode === 'append' && (options.position ?? 0) === 0)
    return old ? append(old, data) : createForAppend(unfinished, entry, data)
  if (old) await access(old.path, constants.W_OK)
  await atomicReplace(entry, (file) => fill(file, old, content, limits.copyBytes), {
    attributesOf: old?.stat,
    exclusive: options.createOnly === true,
    unfinished,
  })
  return true
}

/** Returns the regular file that is written over, if there is one. Throws if the options forbid to write over it. */
async function oldFile(
  descriptors: Descriptors,
  entry: DirectoryEntry,
  { createOnly, ifMatch }: Write,
): Promise<HeldFile | undefined> {
  const old = await holdIfExists(descriptors, entry)
  if (old && createOnly) throw exists()
  // A missing file counts as changed if the caller gave an etag: the file existed when the caller read it.
  if (ifMatch !== undefined && (!old || etagOf(old.stat) !== ifMatch)) throw changed()
  // `targetEntry` followed all links, so this link was created afterwards.
  if (old?.stat.isSymbolicLink()) throw changed()
  if (old && !old.stat.isFile()) throw old.stat.isDirectory() ? isADirectory() : notRegular()
  return old
}

/** Appends in place with O_APPEND, so that no concurrent append, of any process, is lost. */
async function append(old: HeldFile, data: Uint8Array): Promise<boolean> {
  const file = await old.open(constants.O_WRONLY | constants.O_APPEND)
  try {
    const { size, nlink } = await settledStat(file)
    // Another hard link of the file may be in a directory where the caller may not write.
    if (nlink > 1) throw unfit('It has more than one hard link, so nothing can be appended to it.')
    const { bytesWritten } = await file.write(data)
    if (bytesWritten < data.length) {
      await undoAppend(file, size, bytesWritten)
      throw new FileError('refused', 'There is no space left on the disk.')
    }
    await file.sync()
    // A file without links was removed or replaced meanwhile, and the appended bytes are lost with it.
    return (await file.stat()).nlink > 0
  } finally {
    await file.close()
  }
}

/**
 * Returns the stat of a file. A file that another process is just creating has a second hard link for a moment, the
 * temporary name that it was written under. This function waits until the second link is gone, but not for long.
 */
async function settledStat(file: FileHandle): Promise<Stats> {
  for (let tries = 0; ; tries++) {
    const stat = await file.stat()
    if (stat.nlink <= 1 || tries === linkTries) return stat
    await setTimeout(linkPauseMs)
  }
}

const linkTries = 20
const linkPauseMs = 10

/** Removes the written part of a failed append, unless another process has appended after it. */
async function undoAppend(file: FileHandle, size: number, written: number): Promise<void> {
  if ((await file.stat()).size === size + written) await file.truncate(size)
}

async function createForAppend(
  unfinished: Unfinished,
  entry: DirectoryEntry,
  data: Uint8Array,
): Promise<boolean> {
  try {
    await atomicReplace(entry, (file) => writeAll(file, data, 0), { exclusive: true, unfinished })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Fills a new file with the data and the kept parts of the old file. At most `maxKept` old bytes are copied. */
async function fill(
  file: FileHandle,
  old: HeldFile | undefined,
  { data, options: { mode, position = 0 } }: Content,
  maxKept: number,
): Promise<void> {
  const size = Number(old?.stat.size ?? 0)
  const at = mode === 'append' ? Math.max(0, size - position) : Math.min(size, position)
  const end = mode === 'append' || mode === 'insert' ? size : at
  if (end > maxKept) throw unfit('The file is too large to change a part of it.')
  const source = end > 0 ? await old?.open(constants.O_RDONLY) : undefined
  try {
    if (source) await copyBytes(source, file, { from: 0, to: at, at: 0 })
    await writeAll(file, data, at)
    if (source) await copyBytes(source, file, { from: at, to: end, at: at + data.length })
  } finally {
    await source?.close()
  }
  await file.truncate(end + data.length)
}
