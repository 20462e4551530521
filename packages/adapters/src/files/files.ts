import { limits as defaultLimits } from '@atrium/protocol/limits'
import type {
  ContainedPath,
  FileEntry,
  FileStat,
  FileWatch,
  Files,
  WatchListener,
  WatchRequest,
} from '@atrium/host/ports/files'
import { change } from './change.ts'
import { Containment, isRoot } from './containment.ts'
import { withDescriptors } from './held-file.ts'
import type { HeldFile } from './held-file.ts'
import { fileErrorOf, unfit } from './errors.ts'
import { textOf } from './byte-path.ts'
import type { BytePath } from './byte-path.ts'
import { NameLock } from './name-lock.ts'
import type { Operation } from './operation.ts'
import { read } from './read.ts'
import { fileStat } from './stat.ts'
import { childrenOf } from './tree.ts'
import type { Child } from './tree.ts'
import type { TreeLimits } from './tree-budget.ts'
import { Unfinished } from './unfinished.ts'
import { watchTree } from './watch/watch.ts'
import { write } from './write.ts'

export interface FilesOptions {
  /** Directories of the host itself: no operation may touch them, whatever the roots are. */
  readonly forbidden?: readonly string[]
  /** Directories inside of forbidden ones that may be used after all: those of worktrees. */
  readonly permitted?: readonly string[]
  readonly limits?: Partial<TreeLimits>
  /** The folder in which unfinished files are noted. Absent: a host that is killed may leave them behind. */
  readonly unfinished?: string
}

/** Returns the port `Files` for the files of this machine. */
export function nodeFiles(options: FilesOptions = {}): Files {
  const { forbidden = [], permitted = [], limits } = options
  const { treeDepth, treeEntries, copyBytes } = defaultLimits
  const unfinished = new Unfinished(options.unfinished)
  // What cannot be deleted now, such as a file in a folder that is read-only, is left to the next start.
  unfinished.sweep().catch(() => {})
  const shared = {
    containment: new Containment(forbidden, permitted),
    locks: new NameLock(),
    limits: { treeDepth, treeEntries, copyBytes, ...limits },
    unfinished,
  }
  const run = async <T>(task: (operation: Operation) => Promise<T>): Promise<T> => {
    try {
      return await withDescriptors((descriptors) => task({ ...shared, descriptors }))
    } catch (error) {
      throw fileErrorOf(error)
    }
  }
  return {
    read: (place, most) => run((operation) => read(operation, place, most)),
    write: (place, data, options = {}) => run((operation) => write(operation, place, { data, options })),
    list: (place, most) => run((operation) => list(operation, place, most)),
    stat: (place, follow) => run((operation) => stat(operation, place, follow)),
    change: (request) => run((operation) => change(operation, request)),
    watch: (place, request, listener) => run((operation) => watch(operation, place, request, listener)),
  }
}

async function list(
  { containment, descriptors }: Operation,
  place: ContainedPath,
  most: number,
): Promise<readonly FileEntry[]> {
  const dir = await containment.resolve(descriptors, place)
  if (!dir.stat.isDirectory()) throw unfit('It is not a directory.')
  const entries: FileEntry[] = []
  for (const child of await childrenOf(dir, most)) {
    const name = textOf(child.name)
    if (name !== undefined) entries.push({ name, type: await listedType(containment, dir, child, place) })
  }
  return entries
}

/** Returns the type of an entry. A link has the type of its target if the target is inside the roots, else `file`. */
async function listedType(
  containment: Containment,
  dir: HeldFile,
  child: Child,
  place: ContainedPath,
): Promise<FileEntry['type']> {
  if (child.type !== 'symlink') return child.type === 'directory' ? 'directory' : 'file'
  return withDescriptors(async (descriptors): Promise<FileEntry['type']> => {
    const target = await descriptors.hold(dir.childPath(child.name), true)
    await containment.check(target, place)
    return target.stat.isDirectory() ? 'directory' : 'file'
  }).catch(() => 'file')
}

async function stat(operation: Operation, place: ContainedPath, follow: boolean): Promise<FileStat> {
  const { containment, descriptors } = operation
  const held =
    follow || isRoot(place)
      ? await containment.resolve(descriptors, place)
      : await holdWithoutFollowing(operation, place)
  return fileStat(checkedText(await containment.pathUnderRoot(held.realPath, place)), held.stat)
}

async function holdWithoutFollowing(
  { containment, descriptors }: Operation,
  place: ContainedPath,
): Promise<HeldFile> {
  const { dir, name } = await containment.entry(descriptors, place)
  const held = await descriptors.hold(dir.childPath(name), false)
  await containment.check(held, place)
  return held
}

/** Watches a path. Changes in forbidden directories are neither looked for nor reported. */
async function watch(
  { containment, descriptors }: Operation,
  place: ContainedPath,
  request: WatchRequest,
  listener: WatchListener,
): Promise<FileWatch> {
  const { realPath } = await containment.resolve(descriptors, place)
  const path = checkedText(realPath)
  const forbidden = await containment.forbiddenIn(realPath)
  const isForbidden = (name: string) => forbidden.some((each) => name === each || name.startsWith(`${each}/`))
  return watchTree(
    path,
    {
      ...request,
      wants: (name) => !isForbidden(name) && request.wants(name),
      skips: (name) => isForbidden(name) || request.skips(name),
    },
    listener,
  )
}

function checkedText(path: BytePath): string {
  const text = textOf(path)
  if (text === undefined) throw unfit('Its name is not valid UTF-8.')
  return text
}
