import { mkdir, mkdtemp, open, realpath, rm, rmdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { LimitValues } from '@atrium/protocol/limits'
import type { GitUser } from '../git/config.ts'
import { OddRepository } from '../git/odd-files.ts'
import type { Repository } from '../git/repository.ts'
import type { GitRunner } from '../git/run.ts'
import { withShadowGitDir } from '../git/shadow-git-dir.ts'
import type { ShadowGitDir } from '../git/shadow-git-dir.ts'
import { codeOf } from '../process/error-code.ts'

export type WorktreeLimits = Pick<
  LimitValues,
  'worktreeMs' | 'worktreeFiles' | 'worktreeBytes' | 'vcsBytes' | 'vcsRuns'
>

/** What all parts of this adapter use: the git command, its user, and the folders and limits of the host. */
export interface Machine {
  readonly git: GitRunner
  readonly user: GitUser
  /** The folder of the records, of worktrees whose place nobody chose, and of temporary files. */
  readonly folder: string
  /** Folders that users may not choose, and from which nothing is copied. */
  readonly forbidden: readonly string[]
  readonly limits: WorktreeLimits
}

/** Whether a real path is in one of the forbidden folders. */
export async function isForbidden({ forbidden }: Machine, path: string): Promise<boolean> {
  const folders = await Promise.all(forbidden.map((each) => realpath(each).catch(() => each)))
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`))
}

/** Flushes a file, so that it survives a power cut. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path)
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Runs git with a config of the host instead of the repository's config, so that git starts no program that the repository's
 * config names (O14).
 */
export function inRepository<T>(
  { git, user }: Machine,
  repository: Repository,
  task: (shadow: ShadowGitDir) => Promise<T>,
): Promise<T> {
  return withShadowGitDir(git, repository, user, task).catch((error: unknown) => {
    throw error instanceof OddRepository ? new WorktreeRefused(error.message) : error
  })
}

/** Creates a temporary folder for one task, and removes it afterwards. */
export async function inTemporaryFolder<T>(
  { folder }: Machine,
  task: (path: string) => Promise<T>,
): Promise<T> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = await mkdtemp(join(folder, temporaryPrefix))
  try {
    return await task(path)
  } finally {
    await rm(path, { recursive: true, force: true })
  }
}

/** Runs git on the files of a checkout, with a separate index, which is empty at first, and with another commit as HEAD. */
export function withOwnIndex<T>(
  machine: Machine,
  repository: Omit<Repository, 'gitDir'>,
  head: string,
  task: (shadow: ShadowGitDir) => Promise<T>,
): Promise<T> {
  return inTemporaryFolder(machine, async (gitDir) => {
    await writeFile(join(gitDir, 'HEAD'), `${head}\n`)
    return inRepository(machine, { ...repository, gitDir }, task)
  })
}

/** The beginning of the names of temporary folders. Those of an earlier run are deleted. */
export const temporaryPrefix = 'tmp-'

/** Removes the folder above a worktree if it is empty and in the host's own folder. */
export async function removeOwnParent({ folder }: Machine, path: string): Promise<void> {
  const trees = join(await realpath(folder), 'trees')
  if (dirname(dirname(path)) === trees) await rmdir(dirname(path)).catch(() => {})
}

/** Returns an error of the system as a sentence for users. Other errors stay as they are. */
export function refusal(error: unknown, what: string): unknown {
  const reason = reasons.get(codeOf(error) ?? '')
  return reason === undefined ? error : new WorktreeRefused(`${what}: ${reason}.`)
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EROFS', 'the disk is read-only'],
  ['EACCES', 'the permission is missing'],
  ['EPERM', 'the permission is missing'],
  ['ENOTDIR', 'a part of the path is no folder'],
  ['ENAMETOOLONG', 'the path is too long'],
])
