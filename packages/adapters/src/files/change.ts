import { constants } from 'node:fs'
import { mkdir, rename, rmdir, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { FileError } from '@atrium/host/ports/files'
import type { Change, ContainedPath } from '@atrium/host/ports/files'
import type { Entry, Fence } from './containment.ts'
import { gripping, isSame } from './held-file.ts'
import type { Grip, Held } from './held-file.ts'
import { pour } from './copy-bytes.ts'
import { codeOf, exists, unfit } from './errors.ts'
import { isInside, joined } from './byte-path.ts'
import { put, settle, syncDirectory, tempName } from './atomic-replace.ts'
import { Budget, copyInto, empty, survey } from './tree.ts'
import type { TreeLimits } from './tree.ts'
import type { Turns } from './name-lock.ts'
import { holdIfAny, turnOf } from './write.ts'

/** What a change is done with. */
export interface Hands {
  readonly fence: Fence
  readonly turns: Turns
  readonly limits: TreeLimits
}

type Carry = Extract<Change, { readonly kind: 'copy' | 'move' }>

export function change(hands: Hands, wish: Change): Promise<void> {
  return gripping((grip) => {
    if (wish.kind === 'make') return make(grip, hands, wish.place)
    if (wish.kind === 'remove') return remove(grip, hands, wish.place, wish.recursive)
    return wish.kind === 'copy' ? copy(grip, hands, wish) : move(grip, hands, wish)
  })
}

async function make(grip: Grip, { fence }: Hands, place: ContainedPath): Promise<void> {
  const { held, names } = await fence.base(grip, place)
  let at = held
  for (const [i, name] of names.entries()) {
    const inner = await step(grip, fence, at, name, place)
    if (!inner?.facts.isDirectory())
      throw i === names.length - 1 ? exists() : unfit('Something on the way is not a directory.')
    // A path has more names than a process may have files open.
    at.close()
    at = inner
  }
}

/** The directory of that name, made if there is none; nothing where a link leads nowhere. */
async function step(
  grip: Grip,
  fence: Fence,
  at: Held,
  name: string,
  place: ContainedPath,
): Promise<Held | undefined> {
  await fence.entryIn(at, name, place)
  await mkdir(at.at(name)).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  try {
    const inner = await grip.hold(at.at(name), true)
    await fence.check(inner, place)
    return inner
  } catch (error) {
    const blamed = await fence.blame(error, joined(at.real, name), place)
    if (['ENOENT', 'ELOOP'].includes(codeOf(blamed) ?? '')) return undefined
    throw blamed
  }
}

async function remove(grip: Grip, hands: Hands, place: ContainedPath, recursive: boolean): Promise<void> {
  const entry = await hands.fence.entry(grip, place)
  await hands.turns.take([turnOf(entry)], () => removeEntry(grip, hands, entry, place, recursive))
}

async function removeEntry(
  grip: Grip,
  { fence, limits }: Hands,
  { dir, name }: Entry,
  place: ContainedPath,
  recursive: boolean,
): Promise<void> {
  const it = await grip.hold(dir.at(name), false)
  await fence.check(it, place)
  if (!it.facts.isDirectory()) return unlink(dir.at(name))
  await fence.stays(it.real, [place])
  if (recursive) {
    const judge = async (inner: Held) => {
      await fence.check(inner, place)
      // It would be emptied, and stay.
      if (inner.facts.dev !== dir.facts.dev) throw new FileError('refused', 'Another disk is mounted in it.')
    }
    await survey(it, new Budget(limits), judge, false)
    await empty(it, new Budget(limits), judge)
  }
  await rmdir(dir.at(name))
}

async function copy(grip: Grip, hands: Hands, { from, to, failIfExists }: Carry): Promise<void> {
  const it = await hands.fence.reach(grip, from)
  const entry = await hands.fence.entry(grip, to)
  await hands.turns.take([turnOf(entry)], async () => {
    await makeWay(grip, hands, it, entry, to, failIfExists)
    await copyTo(grip, hands, it, from, entry, failIfExists, false)
  })
}

async function move(grip: Grip, hands: Hands, { from, to, failIfExists }: Carry): Promise<void> {
  const { fence, turns } = hands
  const source = await fence.entry(grip, from)
  const target = await fence.entry(grip, to)
  await turns.take([...new Set([turnOf(source), turnOf(target)])], async () => {
    const it = await grip.hold(source.dir.at(source.name), false)
    await fence.check(it, from)
    if (it.facts.isDirectory()) await fence.stays(it.real, [from, to])
    await makeWay(grip, hands, it, target, to, failIfExists)
    try {
      const fresh = failIfExists && !it.facts.isDirectory()
      await put(source.dir, source.name, target.dir, target.name, fresh)
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw occupied(error)
      await copyTo(grip, hands, it, from, target, failIfExists, true)
      await removeEntry(grip, hands, source, from, true)
    }
  })
}

/** Whether something may come to be of that name. Nothing is removed here. */
async function makeWay(
  grip: Grip,
  { fence }: Hands,
  it: Held,
  entry: Entry,
  to: ContainedPath,
  failIfExists: boolean,
): Promise<void> {
  if (it.facts.isDirectory() && isInside(entry.dir.real, it.real))
    throw unfit('A directory cannot be put into itself.')
  const there = await holdIfAny(grip, entry)
  if (!there) return
  if (isSame(there, it)) throw unfit('These are the same.')
  if (failIfExists || it.facts.isDirectory()) throw exists()
  if (there.facts.isFile()) return
  if (!there.facts.isSymbolicLink()) throw exists()
  // A link goes, unless it stands for a directory or for what nobody may see.
  const led = await fence.reach(grip, to).catch((error: unknown) => {
    if (codeOf(error) !== 'ENOENT') throw error
  })
  if (led?.facts.isDirectory()) throw exists()
}

async function copyTo(
  grip: Grip,
  { fence, limits }: Hands,
  it: Held,
  from: ContainedPath,
  entry: Entry,
  fresh: boolean,
  durable: boolean,
): Promise<void> {
  if (it.facts.isDirectory()) {
    const judge = (inner: Held) => fence.check(inner, from)
    await survey(it, new Budget(limits), judge, true)
    const copying = { budget: new Budget(limits), judge, durable }
    return copyDirectory(grip, entry, (to) => copyInto(it, to, copying))
  }
  if (!it.facts.isFile()) throw unfit('It is not a regular file.')
  new Budget(limits).spendBytes(Number(it.facts.size))
  const source = await it.open(constants.O_RDONLY)
  try {
    // It may have grown.
    const { spendBytes } = new Budget(limits)
    const fill = async (file: FileHandle) =>
      file.truncate(await pour(source, file, { from: 0, to: Infinity, at: 0 }, spendBytes))
    await settle(entry, fill, { like: it.facts, fresh }).catch((error: unknown) => {
      throw occupied(error)
    })
  } finally {
    await source.close()
  }
}

/** Under another name until all of it is there. */
async function copyDirectory(
  grip: Grip,
  { dir, name }: Entry,
  fill: (to: Held) => Promise<void>,
): Promise<void> {
  const temp = tempName()
  await mkdir(dir.at(temp), 0o700)
  const made = await grip.hold(dir.at(temp), false)
  try {
    await fill(made)
    await rename(dir.at(temp), dir.at(name)).catch((error: unknown) => {
      throw occupied(error)
    })
  } catch (error) {
    const all = new Budget({ treeDepth: Infinity, treeEntries: Infinity, copyBytes: 0 })
    await empty(made, all, async () => {}).catch(() => {})
    await rmdir(dir.at(temp)).catch(() => {})
    throw error
  }
  await syncDirectory(dir)
}

/** Something came there in the last moment. */
function occupied(error: unknown): unknown {
  return ['ENOTEMPTY', 'EISDIR', 'ENOTDIR'].includes(codeOf(error) ?? '') ? exists() : error
}
