import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** A working tree and its git directories. */
export interface Repository {
  readonly root: string
  /** The git directory of this working tree: HEAD, index. */
  readonly gitDir: string
  /** The git directory that all working trees of the repository share: commits, branches, config. */
  readonly commonDir: string
  /** The user ids that own these directories. */
  readonly owners: readonly number[]
}

/**
 * Looks for `.git` in a directory and its parents. A `.git` file may name any directory, so it counts only if that
 * directory names this working tree in turn. Bare repositories are ignored.
 *
 * The first access to the disk is asynchronous, because a disk that does not answer may delay it for long. The others
 * are synchronous: each takes much less time than a change of threads, and an agent may wait for the result.
 */
export async function findRepository(directory: string): Promise<Repository | undefined> {
  const real = await realpath(directory).catch(() => undefined)
  return real === undefined ? undefined : repositoryAbove(real)
}

/** Finds the repository of a directory whose path has no symbolic links. */
export function repositoryAbove(directory: string): Repository | undefined {
  let root: string | undefined = directory
  while (root !== undefined) {
    const gitDir = join(root, '.git')
    const found = orUndefined(() => lstatSync(gitDir))
    if (found?.isDirectory() && isGitDir(gitDir)) return repositoryAt(root, gitDir)
    if (found?.isFile()) return fromGitFile(root)
    const parent: string = dirname(root)
    root = parent === root ? undefined : parent
  }
  return undefined
}

/** Reads a small regular file. Returns undefined for anything else. Does not block on a FIFO. */
export function readSmallFile(path: string): string | undefined {
  const file = orUndefined(() => openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)))
  if (file === undefined) return undefined
  try {
    const stat = fstatSync(file)
    return stat.isFile() && stat.size <= maxSmallFile ? readFileSync(file, 'utf8') : undefined
  } finally {
    closeSync(file)
  }
}

function isGitDir(dir: string): boolean {
  return ['HEAD', 'objects', 'refs'].every((name) => orUndefined(() => lstatSync(join(dir, name))))
}

/**
 * Returns the repository of a linked working tree (`git worktree`) or a submodule, whose `.git` is a file that names
 * the git directory.
 */
function fromGitFile(root: string): Repository | undefined {
  const link = join(root, '.git')
  const [, target] = /^gitdir: (.+?)\n?$/.exec(readSmallFile(link) ?? '') ?? []
  const gitDir = target === undefined ? undefined : realPath(resolve(root, target))
  if (gitDir === undefined) return undefined
  const back = readSmallFile(join(gitDir, 'gitdir'))?.trimEnd()
  if (back !== undefined && resolve(gitDir, back) === link) {
    const commonDir = readSmallFile(join(gitDir, 'commondir'))?.trimEnd()
    return commonDir === undefined
      ? undefined
      : repositoryAt(root, gitDir, realPath(resolve(gitDir, commonDir)) ?? gitDir)
  }
  const [, tree] = /^\s*worktree = ([^"\\\n]+)$/m.exec(readSmallFile(join(gitDir, 'config')) ?? '') ?? []
  return tree !== undefined && resolve(gitDir, tree) === root ? repositoryAt(root, gitDir) : undefined
}

function repositoryAt(root: string, gitDir: string, commonDir = gitDir): Repository {
  const owners = [root, gitDir, commonDir].map((path) => statSync(path).uid)
  return { root, gitDir, commonDir, owners }
}

/** Returns the path without symbolic links. Returns undefined if there is no such path. */
export function realPath(path: string): string | undefined {
  return orUndefined(() => realpathSync.native(path))
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** In bytes. */
const maxSmallFile = 64 * 1024
