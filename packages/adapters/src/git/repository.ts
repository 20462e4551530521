import { constants } from 'node:fs'
import { lstat, open, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** Where a working tree is, and where git keeps what it knows of it. */
export interface GitPlace {
  readonly root: string
  /** Of this tree alone: HEAD, the index. */
  readonly dir: string
  /** Of all trees that share a repository: commits, branches, config. */
  readonly common: string
  /** Whose all these are. */
  readonly owners: readonly number[]
}

/**
 * Looks for `.git` in a directory and those above it. A file of that name may lead anywhere, so it is believed only
 * where the other end knows of this tree. A repository without a tree is none.
 */
export async function findPlace(directory: string): Promise<GitPlace | undefined> {
  let root = await realpath(directory).catch(() => undefined)
  while (root !== undefined) {
    const facts = await lstat(join(root, '.git')).catch(() => undefined)
    if (facts?.isDirectory() && (await isRepository(join(root, '.git'))))
      return placeOf(root, join(root, '.git'))
    if (facts?.isFile()) return followed(root)
    const above: string = dirname(root)
    root = above === root ? undefined : above
  }
  return undefined
}

/** The text of a small file that is really one; nothing else is waited for. */
export async function smallText(path: string): Promise<string | undefined> {
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined)
  if (!handle) return undefined
  try {
    const facts = await handle.stat()
    return facts.isFile() && facts.size <= small ? await handle.readFile('utf8') : undefined
  } finally {
    await handle.close()
  }
}

async function isRepository(dir: string): Promise<boolean> {
  const found = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => lstat(join(dir, name)).catch(() => undefined)),
  )
  return found.every(Boolean)
}

/** A tree beside the main one, or a submodule. */
async function followed(root: string): Promise<GitPlace | undefined> {
  const link = join(root, '.git')
  const [, target] = /^gitdir: (.+?)\n?$/.exec((await smallText(link)) ?? '') ?? []
  const dir = target === undefined ? undefined : await realpath(resolve(root, target)).catch(() => undefined)
  if (dir === undefined) return undefined
  const back = (await smallText(join(dir, 'gitdir')))?.trimEnd()
  if (back !== undefined && resolve(dir, back) === link) {
    const common = (await smallText(join(dir, 'commondir')))?.trimEnd()
    return common === undefined
      ? undefined
      : placeOf(root, dir, await realpath(resolve(dir, common)).catch(() => dir))
  }
  const [, tree] = /^\s*worktree = ([^"\\\n]+)$/m.exec((await smallText(join(dir, 'config'))) ?? '') ?? []
  return tree !== undefined && resolve(dir, tree) === root ? placeOf(root, dir) : undefined
}

async function placeOf(root: string, dir: string, common = dir): Promise<GitPlace> {
  const owners = await Promise.all([root, dir, common].map(async (path) => (await stat(path)).uid))
  return { root, dir, common, owners }
}

const small = 64 * 1024
