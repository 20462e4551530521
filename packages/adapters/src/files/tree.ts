import { constants } from 'node:fs'
import type { Dirent } from 'node:fs'
import { chmod, lstat, mkdir, open, opendir, readlink, rmdir, symlink, unlink } from 'node:fs/promises'
import { withDescriptors } from './held-file.ts'
import type { HeldFile } from './held-file.ts'
import { copyBytes, wholeFile } from './copy-bytes.ts'
import { changed, notRegular, unfit } from './errors.ts'
import { codeOf } from '../process/error-code.ts'
import type { BytePath } from './byte-path.ts'
import type { TreeBudget } from './tree-budget.ts'

// Walks through directory trees. No walk follows a link.

export interface TreeWalk {
  readonly budget: TreeBudget
  /** Called for each directory before anything in it is read or changed; throws to stop the walk. */
  readonly check: (dir: HeldFile) => Promise<void>
}

export interface CopyWalk extends TreeWalk {
  /** Whether each file is flushed to the disk before the next one. */
  readonly durable: boolean
}

export interface CheckWalk extends TreeWalk {
  /** Whether files are checked too: all must be regular, and their sizes are counted in the budget. */
  readonly files: boolean
}

export interface Child {
  readonly name: BytePath
  readonly type: 'file' | 'directory' | 'symlink' | 'special'
}

/** Returns the entries of a directory. Throws, without reading further, if there are more than `most`. */
export async function childrenOf(dir: HeldFile, most: number): Promise<readonly Child[]> {
  const children: Child[] = []
  // Node accepts the encoding 'buffer' and then returns names as buffers; its types know neither.
  const options = { encoding: 'buffer' as BufferEncoding, bufferSize: 512 }
  for await (const entry of await opendir(dir.path, options)) {
    if (children.length === most) throw unfit(`It holds more than ${most} entries.`)
    children.push({ name: (entry.name as unknown as Buffer).toString('latin1'), type: typeOf(entry) })
  }
  return children
}

/** Throws if a tree is too deep, too large, or holds a directory that may not be touched. Changes nothing. */
export async function checkTree(dir: HeldFile, walk: CheckWalk, depth = 1): Promise<void> {
  await walk.check(dir)
  for (const child of await readLevel(dir, walk.budget, depth)) {
    if (child.type === 'directory')
      await inDirectory(dir, child.name, (inner) => checkTree(inner, walk, depth + 1))
    else if (walk.files) await checkFile(dir, child, walk.budget)
  }
}

export async function removeContents(dir: HeldFile, walk: TreeWalk, depth = 1): Promise<void> {
  await walk.check(dir)
  const children = await readLevel(dir, walk.budget, depth)
  for (const { name } of children.filter(({ type }) => type === 'directory')) {
    await inDirectory(dir, name, (inner) => removeContents(inner, walk, depth + 1))
    await rmdir(dir.childPath(name)).catch(ignoreMissing)
  }
  const others = children.filter(({ type }) => type !== 'directory')
  // At most 32 files are removed at a time: Node's thread pool runs four calls, and other operations must not queue
  // behind thousands.
  for (let i = 0; i < others.length; i += 32)
    await Promise.all(
      others.slice(i, i + 32).map(({ name }) => unlink(dir.childPath(name)).catch(ignoreMissing)),
    )
}

/** Copies the contents of a directory into an empty one. */
export async function copyContents(from: HeldFile, to: HeldFile, walk: CopyWalk, depth = 1): Promise<void> {
  await walk.check(from)
  for (const { name, type } of await readLevel(from, walk.budget, depth)) {
    if (type === 'directory') {
      await mkdir(to.childPath(name), 0o700)
      await inDirectory(from, name, (a) => inDirectory(to, name, (b) => copyContents(a, b, walk, depth + 1)))
    } else if (type === 'symlink')
      await symlink(await readlink(from.childPath(name), 'buffer'), to.childPath(name))
    else await copyFile(from, to, name, walk)
  }
  // The permissions are set last: they may forbid creating files in the directory.
  await chmod(to.path, Number(from.stat.mode & 0o777n))
}

async function copyFile(
  from: HeldFile,
  to: HeldFile,
  name: BytePath,
  { budget, durable }: CopyWalk,
): Promise<void> {
  await withDescriptors(async (descriptors) => {
    const file = await descriptors.hold(from.childPath(name), false)
    if (!file.stat.isFile()) throw notRegular()
    const source = await file.open(constants.O_RDONLY)
    try {
      const { O_CREAT, O_EXCL, O_WRONLY } = constants
      const target = await open(to.childPath(name), O_CREAT | O_EXCL | O_WRONLY, 0o600)
      try {
        await target.chmod(Number(file.stat.mode & 0o777n))
        await target.truncate(await copyBytes(source, target, wholeFile, budget.spendBytes))
        if (durable) await target.sync()
      } finally {
        await target.close()
      }
    } finally {
      await source.close()
    }
  })
}

async function checkFile(dir: HeldFile, { name, type }: Child, budget: TreeBudget): Promise<void> {
  if (type === 'symlink') return
  const stat = await lstat(dir.childPath(name))
  if (!stat.isFile()) throw notRegular()
  budget.spendBytes(stat.size)
}

/** Returns the entries of one directory of a walk, and counts them in the budget. */
async function readLevel(dir: HeldFile, budget: TreeBudget, depth: number): Promise<readonly Child[]> {
  if (depth > budget.depth) throw unfit(`It is deeper than ${budget.depth} levels.`)
  const children = await childrenOf(dir, budget.entries)
  budget.spendEntries(children.length)
  return children
}

/** Runs a task with a child directory. Throws if the child was replaced by a link. */
async function inDirectory(
  dir: HeldFile,
  name: BytePath,
  run: (inner: HeldFile) => Promise<void>,
): Promise<void> {
  await withDescriptors(async (descriptors) => {
    const inner = await descriptors.hold(dir.childPath(name), false)
    if (!inner.stat.isDirectory()) throw changed()
    await run(inner)
  })
}

function typeOf(entry: Dirent): Child['type'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  return entry.isSymbolicLink() ? 'symlink' : 'special'
}

/** Ignores the error for a missing entry: another program removed the entry first. */
function ignoreMissing(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error
}
