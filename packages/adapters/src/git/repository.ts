import { constants } from 'node:fs'
import { lstat, open, realpath, stat } from 'node:fs/promises'
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
 */
export async function findRepository(directory: string): Promise<Repository | undefined> {
  let root = await realpath(directory).catch(() => undefined)
  while (root !== undefined) {
    const gitDir = join(root, '.git')
    const found = await lstat(gitDir).catch(() => undefined)
    if (found?.isDirectory() && (await isGitDir(gitDir))) return repositoryAt(root, gitDir)
    if (found?.isFile()) return fromGitFile(root)
    const parent: string = dirname(root)
    root = parent === root ? undefined : parent
  }
  return undefined
}

/** Reads a small regular file. Returns undefined for anything else. Does not block on a FIFO. */
export async function readSmallFile(path: string): Promise<string | undefined> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined)
  if (!handle) return undefined
  try {
    const stat = await handle.stat()
    return stat.isFile() && stat.size <= maxSmallFile ? await handle.readFile('utf8') : undefined
  } finally {
    await handle.close()
  }
}

async function isGitDir(dir: string): Promise<boolean> {
  const found = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => lstat(join(dir, name)).catch(() => undefined)),
  )
  return found.every(Boolean)
}

/**
 * Returns the repository of a linked working tree (`git worktree`) or a submodule, whose `.git` is a file that names
 * the git directory.
 */
async function fromGitFile(root: string): Promise<Repository | undefined> {
  const link = join(root, '.git')
  const [, target] = /^gitdir: (.+?)\n?$/.exec((await readSmallFile(link)) ?? '') ?? []
  const gitDir =
    target === undefined ? undefined : await realpath(resolve(root, target)).catch(() => undefined)
  if (gitDir === undefined) return undefined
  const back = (await readSmallFile(join(gitDir, 'gitdir')))?.trimEnd()
  if (back !== undefined && resolve(gitDir, back) === link) {
    const commonDir = (await readSmallFile(join(gitDir, 'commondir')))?.trimEnd()
    return commonDir === undefined
      ? undefined
      : repositoryAt(root, gitDir, await realpath(resolve(gitDir, commonDir)).catch(() => gitDir))
  }
  const [, tree] =
    /^\s*worktree = ([^"\\\n]+)$/m.exec((await readSmallFile(join(gitDir, 'config'))) ?? '') ?? []
  return tree !== undefined && resolve(gitDir, tree) === root ? repositoryAt(root, gitDir) : undefined
}

async function repositoryAt(root: string, gitDir: string, commonDir = gitDir): Promise<Repository> {
  const owners = await Promise.all([root, gitDir, commonDir].map(async (path) => (await stat(path)).uid))
  return { root, gitDir, commonDir, owners }
}

/** In bytes. */
const maxSmallFile = 64 * 1024
