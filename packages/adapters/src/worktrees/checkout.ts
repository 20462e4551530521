import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import { findRepository, readSmallFile } from '../git/repository.ts'
import type { Repository } from '../git/repository.ts'
import type { ShadowGitDir } from '../git/shadow-git-dir.ts'
import { trustedRepository } from '../git/trusted.ts'
import { inRepository } from './machine.ts'
import type { Machine } from './machine.ts'
import type { WorktreeRecord } from './record.ts'

export async function requireRepository({ git, user }: Machine, directory: string): Promise<Repository> {
  if (!(await exists(directory))) throw new WorktreeRefused(`The folder ${directory} is not there any more.`)
  const repository = await trustedRepository(git, directory, user)
  if (repository) return repository
  if (await findRepository(directory))
    throw new WorktreeRefused(`The repository of ${directory} belongs to another user.`)
  throw new WorktreeRefused(`${directory} is in no git repository.`)
}

/** Returns the main checkout of a worktree. Throws if another repository is now at its path or above it. */
export async function requireMain(
  machine: Machine,
  { main, commonDir, gitDir, phase }: WorktreeRecord,
): Promise<Repository> {
  const repository = await requireRepository(machine, main)
  const isSame = repository.root === main && repository.commonDir === commonDir
  if (isSame && (phase !== 'ready' || (await exists(gitDir)))) return repository
  throw new WorktreeRefused(`${main} is not the repository any more from which the worktree began.`)
}

/** Returns the commit that is checked out; undefined before the first one. */
export async function headOf(shadow: ShadowGitDir): Promise<string | undefined> {
  const { stdout, exitCode } = await shadow.tryRun(['rev-parse', '--verify', '-q', 'HEAD^{commit}'], '')
  return exitCode === 0 ? stdout.toString().trim() : undefined
}

/** Returns the branch that is checked out; undefined if there is none. */
export function branchOf({ gitDir }: Repository): string | undefined {
  return /^ref: refs\/heads\/(.+?)\n?$/.exec(readSmallFile(join(gitDir, 'HEAD')) ?? '')?.[1]
}

/** Refuses a checkout in which an operation of git waits to be finished: its files are neither the old nor the new ones. */
export async function refuseUnfinished({ root, gitDir }: Repository): Promise<void> {
  for (const [file, operation] of unfinished)
    if (await exists(join(gitDir, file)))
      throw new WorktreeRefused(`${root} is in the middle of a ${operation}. Finish or abort it first.`)
}

const unfinished: readonly (readonly [string, string])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
]

export async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined)) !== undefined
}

/** Whether a checkout has only a part of the files. */
export async function isSparse(repository: Repository, shadow: ShadowGitDir): Promise<boolean> {
  if (!(await exists(join(repository.gitDir, 'info', 'sparse-checkout')))) return false
  if (/^(true|yes|on|1)$/i.test(shadow.config.get('core.sparsecheckout')?.at(-1) ?? '')) return true
  const own = readSmallFile(join(repository.gitDir, 'config.worktree')) ?? ''
  return /^\s*sparsecheckout\s*=\s*(true|yes|on|1)\s*$/im.test(own)
}

/**
 * Returns the paths that differ from the commit, staged or not, and the untracked ones. The path of a nested
 * repository ends with a slash.
 */
export async function changedPaths(shadow: ShadowGitDir): Promise<readonly string[]> {
  const status = await shadow.run(statusCommand)
  const staged = await shadow.run(stagedCommand)
  return [...new Set([...statusPaths(status), ...namesIn(staged)])]
}

/**
 * `statusCommand` leaves out submodules, even staged ones, so that git does not read their configs. This command lists staged
 * submodules without entering them.
 */
const stagedCommand = [
  'diff-index',
  '--cached',
  '-z',
  '--name-only',
  '--no-renames',
  '--ignore-submodules=none',
  'HEAD',
]

const statusCommand = [
  'status',
  '--porcelain=v2',
  '-z',
  '--untracked-files=all',
  '--no-renames',
  '--ignore-submodules=all',
]

export function namesIn(output: Buffer): readonly string[] {
  return output
    .toString()
    .split('\0')
    .filter((name) => name !== '')
}

/**
 * Returns the paths in the output of `git status --porcelain=v2 -z --no-renames`. A path stands after a fixed number
 * of fields.
 */
function statusPaths(output: Buffer): readonly string[] {
  return namesIn(output).flatMap((line) => {
    const fields = { '1': 8, u: 10, '?': 1 }[line[0] ?? '']
    return fields === undefined ? [] : [line.split(' ').slice(fields).join(' ')]
  })
}

/**
 * Returns the submodules that have files in them. Git is not asked about them, because it would read their configs.
 */
export async function populatedSubmodules(shadow: ShadowGitDir, root: string): Promise<readonly string[]> {
  const paths = await submodules(shadow)
  const full = await Promise.all(
    paths.map(async (path) => (await readdir(join(root, path)).catch(() => [])).length > 0),
  )
  return paths.filter((_, i) => full[i])
}

export async function submodules(shadow: ShadowGitDir): Promise<readonly string[]> {
  const entries = namesIn(await shadow.run(['ls-files', '-s', '-z']))
  return entries.flatMap((entry) =>
    entry.startsWith('160000 ') ? [entry.slice(entry.indexOf('\t') + 1)] : [],
  )
}

/** Returns the repository of a worktree that this adapter has created, from its record and without a search. */
export function treeOf(record: {
  readonly path: string
  readonly gitDir: string
  readonly commonDir: string
}): Repository {
  return { root: record.path, gitDir: record.gitDir, commonDir: record.commonDir, owners: [] }
}

/** Runs a task in a checkout. Throws if the index of the checkout cannot be read. */
export async function inSoundCheckout<T>(
  machine: Machine,
  repository: Repository,
  task: (shadow: ShadowGitDir) => Promise<T>,
): Promise<T> {
  return inRepository(machine, repository, async (shadow) => {
    const { exitCode } = await shadow.tryRun(['ls-files', '-s', '-z', '--', ':(top)no such file'], '')
    if (exitCode !== 0) throw new WorktreeRefused(`The git index of ${repository.root} cannot be read.`)
    return task(shadow)
  })
}
