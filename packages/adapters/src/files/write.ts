import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { FileError } from '@atrium/host/ports/files'
import type { ContainedPath, Write } from '@atrium/host/ports/files'
import { etagOf } from './stat.ts'
import type { Entry, Fence } from './containment.ts'
import { isRoot } from './containment.ts'
import { gripping } from './held-file.ts'
import type { Grip, Held } from './held-file.ts'
import { pour, writeAll } from './copy-bytes.ts'
import { changed, codeOf, exists, unfit } from './errors.ts'
import { settle } from './atomic-replace.ts'
import type { Turns } from './name-lock.ts'

/** How often a file that others replace meanwhile is looked at again before it is given up. */
const attempts = 5

/** How much of a file may be copied to change another part of it. */
export interface WriteLimits {
  readonly copyBytes: number
}

export async function write(
  fence: Fence,
  turns: Turns,
  place: ContainedPath,
  data: Uint8Array,
  how: Write,
  limits: WriteLimits,
): Promise<void> {
  await gripping(async (grip) => {
    const entry = await targetOf(grip, fence, place, how)
    await turns.take([turnOf(entry)], async () => {
      for (let i = 0; i < attempts; i++)
        if (await gripping((inner) => writeEntry(inner, entry, data, how, limits))) return
      throw changed()
    })
  })
}

/** Who changes the same name has the same. */
export function turnOf({ dir, name }: Entry): string {
  return `${dir.facts.dev}:${dir.facts.ino}/${name}`
}

/** What is really written to: where a link leads, if that is inside. */
async function targetOf(grip: Grip, fence: Fence, place: ContainedPath, how: Write): Promise<Entry> {
  if (isRoot(place)) {
    await fence.reach(grip, place)
    throw how.createOnly ? exists() : unfit('It is a directory.')
  }
  const entry = await fence.entry(grip, place)
  const held = await holdIfAny(grip, entry)
  if (!held?.facts.isSymbolicLink()) return entry
  if (how.createOnly) throw exists()
  return fence.entryOf(grip, await fence.reach(grip, place), place)
}

/** Says whether it is done; if not, somebody else was faster, and everything is to be looked at again. */
async function writeEntry(
  grip: Grip,
  entry: Entry,
  data: Uint8Array,
  how: Write,
  limits: WriteLimits,
): Promise<boolean> {
  const old = await holdIfAny(grip, entry)
  if (old && how.createOnly) throw exists()
  // What somebody has seen is not there any more: it was changed, and not merely never there.
  if (how.ifMatch !== undefined && (!old || etagOf(old.facts) !== how.ifMatch)) throw changed()
  // Links were followed before, and there was none here then.
  if (old?.facts.isSymbolicLink()) throw changed()
  if (old && !old.facts.isFile())
    throw unfit(old.facts.isDirectory() ? 'It is a directory.' : 'It is not a regular file.')
  if (how.mode === 'append' && (how.position ?? 0) === 0) return old ? append(old, data) : begin(entry, data)
  if (old) await access(old.self, constants.W_OK)
  const like = old?.facts
  await settle(entry, (file) => fill(file, old, data, how, limits), { like, fresh: how.createOnly === true })
  return true
}

/** In place, so that nobody who appends at the same time, in whatever process, is lost. */
async function append(old: Held, data: Uint8Array): Promise<boolean> {
  const file = await old.open(constants.O_WRONLY | constants.O_APPEND)
  try {
    const { size, nlink } = await file.stat()
    // Another name of it may lie where nobody may write.
    if (nlink > 1) throw unfit('It has more than one name, so nothing can be appended to it.')
    const { bytesWritten } = await file.write(data)
    if (bytesWritten < data.length) {
      await undo(file, size, bytesWritten)
      throw new FileError('refused', 'There is no space left on the disk.')
    }
    await file.sync()
    // It went, or was replaced, and what was appended with it.
    return (await file.stat()).nlink > 0
  } finally {
    await file.close()
  }
}

/** Takes back a part that was written, unless somebody has appended behind it. */
async function undo(file: FileHandle, size: number, written: number): Promise<void> {
  if ((await file.stat()).size === size + written) await file.truncate(size)
}

async function begin(entry: Entry, data: Uint8Array): Promise<boolean> {
  try {
    await settle(entry, (file) => writeAll(file, data, 0), { fresh: true })
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

async function fill(
  file: FileHandle,
  old: Held | undefined,
  data: Uint8Array,
  { mode, position = 0 }: Write,
  { copyBytes }: WriteLimits,
): Promise<void> {
  const size = Number(old?.facts.size ?? 0)
  const at = mode === 'append' ? Math.max(0, size - position) : Math.min(size, position)
  const end = mode === 'append' || mode === 'insert' ? size : at
  if (end > copyBytes) throw unfit('The file is too large to change a part of it.')
  const source = end > 0 ? await old?.open(constants.O_RDONLY) : undefined
  try {
    if (source) await pour(source, file, { from: 0, to: at, at: 0 }, () => {})
    await writeAll(file, data, at)
    if (source) await pour(source, file, { from: at, to: end, at: at + data.length }, () => {})
  } finally {
    await source?.close()
  }
  await file.truncate(end + data.length)
}

export async function holdIfAny(grip: Grip, { dir, name }: Entry): Promise<Held | undefined> {
  try {
    return await grip.hold(dir.at(name), false)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
