import { constants } from 'node:fs'
import { limits as all } from '@atrium/protocol/limits'
import type {
  FileStat,
  FileEntry,
  Files,
  ContainedPath,
  WatchListener,
  FileWatch,
  WatchRequest,
} from '@atrium/host/ports/files'
import { change } from './change.ts'
import type { Hands } from './change.ts'
import { factsAt } from './stat.ts'
import { Fence, isRoot } from './containment.ts'
import { gripping } from './held-file.ts'
import type { Grip, Held } from './held-file.ts'
import { problemOf, unfit } from './errors.ts'
import { textOf } from './byte-path.ts'
import { childrenOf } from './tree.ts'
import type { Child, TreeLimits } from './tree.ts'
import { Turns } from './name-lock.ts'
import { watchTree } from './watch/watch.ts'
import { write } from './write.ts'

export interface FilesOptions {
  /** Directories of the host itself, which nothing may touch whatever the roots are. */
  readonly never?: readonly string[]
  readonly limits?: Partial<TreeLimits>
}

/** The files of this machine. */
export function nodeFiles({ never = [], limits }: FilesOptions = {}): Files {
  const { treeDepth, treeEntries, copyBytes } = all
  const hands: Hands = {
    fence: new Fence(never),
    turns: new Turns(),
    limits: { treeDepth, treeEntries, copyBytes, ...limits },
  }
  const { fence, turns } = hands
  return {
    read: (place, most) => attempt((grip) => read(grip, fence, place, most)),
    write: (place, data, how = {}) => attempt(() => write(fence, turns, place, data, how, hands.limits)),
    list: (place, most) => attempt((grip) => list(grip, fence, place, most)),
    stat: (place, follow) => attempt((grip) => look(grip, fence, place, follow)),
    change: (wish) => attempt(() => change(hands, wish)),
    watch: (place, wish, tell) => attempt((grip) => watch(grip, fence, place, wish, tell)),
  }
}

async function attempt<T>(run: (grip: Grip) => Promise<T>): Promise<T> {
  try {
    return await gripping(run)
  } catch (error) {
    throw problemOf(error)
  }
}

async function read(grip: Grip, fence: Fence, place: ContainedPath, most: number): Promise<Uint8Array> {
  const file = await fence.reach(grip, place)
  if (!file.facts.isFile())
    throw unfit(file.facts.isDirectory() ? 'It is a directory.' : 'It is not a regular file.')
  if (file.facts.size > most) throw tooLarge(most)
  const handle = await file.open(constants.O_RDONLY)
  try {
    // One more than it has: it may have grown, and some files do not say how long they are.
    const size = Number(file.facts.size)
    let buffer = Buffer.allocUnsafe(size + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
      length += bytesRead
      // It has what it said that it has: only where it has more, or says nothing, is there another look.
      if (bytesRead === 0 || length === size) return buffer.subarray(0, length)
      if (length > most) throw tooLarge(most)
      if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(most + 1, length * 2))
    }
  } finally {
    await handle.close()
  }
}

async function list(
  grip: Grip,
  fence: Fence,
  place: ContainedPath,
  most: number,
): Promise<readonly FileEntry[]> {
  const dir = await fence.reach(grip, place)
  if (!dir.facts.isDirectory()) throw unfit('It is not a directory.')
  const entries: FileEntry[] = []
  for (const child of await childrenOf(dir, most)) {
    const name = textOf(child.name)
    if (name !== undefined) entries.push({ name, type: await seenType(fence, dir, child, place) })
  }
  return entries
}

/** What a link leads to is only said where it is inside. */
async function seenType(
  fence: Fence,
  dir: Held,
  child: Child,
  place: ContainedPath,
): Promise<FileEntry['type']> {
  if (child.type !== 'symlink') return child.type === 'directory' ? 'directory' : 'file'
  return gripping(async (grip) => {
    const led = await grip.hold(dir.at(child.name), true)
    await fence.check(led, place)
    return led.facts.isDirectory() ? ('directory' as const) : ('file' as const)
  }).catch(() => 'file')
}

async function look(grip: Grip, fence: Fence, place: ContainedPath, follow: boolean): Promise<FileStat> {
  const held = follow || isRoot(place) ? await fence.reach(grip, place) : await itself(grip, fence, place)
  const path = textOf(await fence.named(held.real, place))
  if (path === undefined) throw unfit('Its name is no text.')
  return factsAt(path, held.facts)
}

/** What nothing may touch is not spoken of, either. */
async function watch(
  grip: Grip,
  fence: Fence,
  place: ContainedPath,
  wish: WatchRequest,
  tell: WatchListener,
): Promise<FileWatch> {
  const held = await fence.reach(grip, place)
  const path = textOf(held.real)
  if (path === undefined) throw unfit('Its name is no text.')
  const banned = await fence.bannedIn(held.real)
  const isBanned = (name: string) => banned.some((each) => name === each || name.startsWith(`${each}/`))
  return watchTree(
    path,
    {
      ...wish,
      wants: (name) => !isBanned(name) && wish.wants(name),
      skips: (name) => isBanned(name) || wish.skips(name),
    },
    tell,
  )
}

async function itself(grip: Grip, fence: Fence, place: ContainedPath): Promise<Held> {
  const { dir, name } = await fence.entry(grip, place)
  const held = await grip.hold(dir.at(name), false)
  await fence.check(held, place)
  return held
}

const tooLarge = (most: number) => unfit(`It is larger than ${most} bytes.`)
