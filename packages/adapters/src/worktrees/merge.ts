import { copyFile, lstat, mkdir, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import { parseConfig, readConfig } from '../git/config.ts'
import type { Repository } from '../git/repository.ts'
import type { ShadowGitDir } from '../git/shadow-git-dir.ts'
import { changedPaths, namesIn } from './checkout.ts'
import { inRepository } from './machine.ts'
import type { Machine } from './machine.ts'
import type { Quarantine } from './quarantine.ts'

/**
 * One attempt to merge: its temporary folder, and the git directory that keeps its new objects out of the repository.
 */
export interface Attempt {
  readonly machine: Machine
  readonly folder: string
  readonly quarantine: Quarantine
}

/** Makes a commit of the uncommitted changes of a checkout. The branch of the checkout stays as it is. Returns the commit. */
export async function commitBeside(attempt: Attempt, tree: Repository, parent: string): Promise<string> {
  const { machine, folder, quarantine } = attempt
  const gitDir = join(folder, 'beside')
  await mkdir(gitDir)
  await writeFile(join(gitDir, 'HEAD'), `${parent}\n`)
  await copyIndex(join(tree.gitDir, 'index'), join(gitDir, 'index'))
  const { commonDir } = quarantine
  return inRepository(machine, { ...tree, gitDir, commonDir }, async (shadow) => {
    const paths = await changedPaths(shadow)
    await checkContents(machine, tree.root, paths)
    await refuseFiltered(shadow, paths)
    const run = async (...args: readonly string[]) => (await shadow.run(args)).toString().trim()
    await run('add', '-A')
    const files = await run('write-tree')
    const identity = await identityOf(machine, tree)
    return run(...identity, 'commit-tree', '-p', parent, '-m', 'Uncommitted changes', files)
  })
}

/**
 * Copies an index with its modification time. Git reads a file again only if the file is not older than the index. A
 * copy with a later time would hide changes.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const { mtimeMs } = await stat(from)
  await copyFile(from, to)
  const seconds = Math.floor(mtimeMs / 1000)
  await utimes(to, seconds, seconds)
}

async function checkContents(machine: Machine, root: string, paths: readonly string[]): Promise<void> {
  const nested = paths.find((path) => path.endsWith('/'))
  if (nested !== undefined)
    throw new WorktreeRefused(`${join(root, nested)} is a repository of its own. Move it away first.`, [
      nested,
    ])
  let bytes = 0
  for (const path of paths) bytes += (await lstat(join(root, path)).catch(() => undefined))?.size ?? 0
  if (bytes > machine.limits.worktreeBytes)
    throw new WorktreeRefused(`The uncommitted files of ${root} are too large to be applied.`)
}

/** Refuses files that a filter would change, as LFS does: filters are programs, which are not run here. */
export async function refuseFiltered(shadow: ShadowGitDir, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return
  const { stdout } = await shadow.tryRun(
    ['check-attr', '-z', '--stdin', 'filter'],
    paths.map((path) => `${path}\0`).join(''),
  )
  const fields = stdout.toString().split('\0')
  for (let i = 0; i + 2 < fields.length; i += 3) {
    const [path = '', , filter = ''] = fields.slice(i, i + 3)
    if (filter !== 'unspecified' && filter !== 'unset')
      throw new WorktreeRefused(
        `${JSON.stringify(path)} needs the filter ${JSON.stringify(filter)}, which is not run here. Merge the branch with git.`,
        [path],
      )
  }
}

/** Merges a commit into another one, in a throw-away worktree. Returns the new commit. */
export async function mergeCommits(
  attempt: Attempt,
  main: Repository,
  { into, from, message, name }: { into: string; from: string; message: string; name: string },
): Promise<string> {
  const { machine, folder, quarantine } = attempt
  const gitDir = join(folder, `${name}-git`)
  const root = join(folder, name)
  await mkdir(gitDir)
  await mkdir(root)
  await writeFile(join(gitDir, 'HEAD'), `${into}\n`)
  const identity = await identityOf(machine, main)
  const { commonDir } = quarantine
  return inRepository(machine, { root, gitDir, commonDir, owners: [] }, async (shadow) => {
    await shadow.run(['read-tree', '--reset', '-u', 'HEAD'])
    const { exitCode } = await shadow.tryRun(
      [...identity, '-c', 'gc.auto=0', 'merge', '--no-ff', '--no-stat', '--no-verify', '-m', message, from],
      '',
    )
    if (exitCode === 0) return (await shadow.run(['rev-parse', 'HEAD'])).toString().trim()
    const conflicts = namesIn(await shadow.run(['diff', '--name-only', '--diff-filter=U', '-z']))
    if (conflicts.length === 0)
      throw new WorktreeRefused('Git could not merge the changes. Nothing was changed.')
    const list = conflicts.map((path) => JSON.stringify(path)).join(', ')
    throw new WorktreeRefused(
      `The changes conflict with those of the main checkout: ${list}. Nothing was changed. Merge the branch of the main checkout in the worktree, and apply again.`,
      conflicts,
    )
  })
}

/**
 * Returns git options that name who makes a commit: the user, as the repository or the user's own git config says.
 */
async function identityOf({ git, user }: Machine, repository: Repository): Promise<readonly string[]> {
  const { stdout } = await git.run(['config', '--includes', '-z', '--get-regexp', '^user\\.(name|email)$'], {
    cwd: '/',
    env: { HOME: user.home, XDG_CONFIG_HOME: user.configHome, GIT_CONFIG_GLOBAL: undefined },
  })
  const own = parseConfig(stdout)
  const config = await readConfig(git, repository)
  const valueOf = (key: string, absent: string) => config.get(key)?.at(-1) ?? own.get(key)?.at(-1) ?? absent
  return [
    '-c',
    `user.name=${valueOf('user.name', 'Atrium')}`,
    '-c',
    `user.email=${valueOf('user.email', 'atrium@localhost')}`,
  ]
}
