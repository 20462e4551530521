import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { AppliedWorktree, UnfinishedWorktree, Worktrees } from '@atrium/host/ports/worktrees'
import { limits as defaultLimits } from '@atrium/protocol/limits'
import type { GitUser } from '../git/config.ts'
import type { GitProcesses } from '../git/processes.ts'
import { findRepository } from '../git/repository.ts'
import { GitRunner } from '../git/run.ts'
import { currentUser } from '../git/trusted.ts'
import { KeyedQueue } from '../process/keyed-queue.ts'
import { findProgram } from '../process/which.ts'
import { applyWorktree } from './apply.ts'
import { createWorktree } from './create.ts'
import { finish, interrupted } from './finish.ts'
import type { Interrupted } from './finish.ts'
import { temporaryPrefix } from './machine.ts'
import type { Machine, WorktreeLimits } from './machine.ts'
import { readRecord, recordIds } from './record.ts'
import { removeWorktree, stateOf, worktreeOf } from './state.ts'

export interface WorktreeOptions {
  /** The adapter's own folder, in the data folder of the host. */
  readonly folder: string
  /** Folders in which users may not place worktrees, and from which nothing is copied: the data folder of the host. */
  readonly forbidden?: readonly string[]
  /** The directories in which `git` is looked for, in the form of PATH. Default: the PATH of this process. */
  readonly path?: string
  readonly user?: GitUser
  readonly limits?: Partial<WorktreeLimits>
  readonly processes?: GitProcesses
}

/** Returns the folder of the worktrees whose place nobody chose. */
export function treesOf(folder: string): string {
  return join(folder, 'trees')
}

/** Manages worktrees by the `git` command. Git acts on no config of a repository (O14). */
export function gitWorktrees(options: WorktreeOptions): Worktrees {
  const {
    folder,
    forbidden = [],
    path = process.env['PATH'] ?? '',
    user = currentUser(),
    processes,
  } = options
  const limits = { ...defaultLimits, ...options.limits }
  let found: Promise<string | undefined> | undefined
  const machine = async (): Promise<Machine> => {
    const program = await (found ??= findProgram('git', path))
    if (program === undefined) throw new WorktreeRefused('There is no git on this machine.')
    const { worktreeMs: vcsMs, vcsBytes, vcsRuns } = limits
    const git = new GitRunner(program, path, { vcsMs, vcsBytes, vcsRuns }, processes)
    return { git, user, folder, forbidden, limits }
  }
  // One change of a repository at a time: two worktrees that are applied to one checkout would be in the way of each other.
  // Repositories do not wait for each other, because git may take long in one of them (O50.3).
  const changes = new KeyedQueue()
  let beginning: Promise<unknown> = Promise.resolve()
  const inRepositoryOf = async <T>(id: string, task: (machine: Machine) => Promise<T>): Promise<T> => {
    const found = await machine()
    await beginning
    const record = await readRecord(found, id).catch(() => undefined)
    return changes.run(record?.commonDir ?? id, () => task(found))
  }
  return {
    async create(wanted, signal) {
      const found = await machine()
      await beginning
      const repository = await findRepository(wanted.directory)
      return changes.run(repository?.commonDir ?? wanted.directory, async () =>
        worktreeOf(await createWorktree(found, wanted, signal)),
      )
    },
    state: async (id) => stateOf(await machine(), id),
    apply: (id) => inRepositoryOf(id, (found) => applyWorktree(found, id)),
    remove: (id) => inRepositoryOf(id, (found) => removeWorktree(found, id)),
    async recover() {
      // Git is looked for only if the folder has files: most hosts have no worktrees, and some machines have no git.
      const names = await readdir(folder).catch(() => [])
      if (names.length === 0) return []
      const found = await machine()
      // Other changes wait while the folder is tidied, because their new files must not be taken for old ones.
      const tidied = tidy(found, names)
      beginning = tidied.catch(() => {})
      const finished = (await tidied).map((each) =>
        inRepositoryOf(each.id, () => finishApplying(found, each)),
      )
      const removed = (await recordIds(found)).map((id) => inRepositoryOf(id, () => finishRemoval(found, id)))
      const results = await Promise.all(finished)
      await Promise.all(removed)
      return results.filter((each) => each !== undefined)
    },
  }
}

/** Deletes the temporary folders of an earlier run, and lists the worktrees that were being applied. */
async function tidy(machine: Machine, names: readonly string[]): Promise<readonly Interrupted[]> {
  for (const name of names)
    if (name.startsWith(temporaryPrefix))
      await rm(join(machine.folder, name), { recursive: true, force: true })
  return interrupted(machine)
}

async function finishApplying(
  machine: Machine,
  { id, main, problem }: Interrupted,
): Promise<AppliedWorktree | UnfinishedWorktree | undefined> {
  if (problem !== undefined) return { id, main, problem }
  try {
    return await finish(machine, id)
  } catch (error) {
    const reason = error instanceof WorktreeRefused ? error.message : `Git failed in ${main}.`
    return { id, main, problem: reason }
  }
}

/** Finishes a removal. An error is ignored here: the host asks for the removal again, and reports the error then. */
async function finishRemoval(machine: Machine, id: string): Promise<void> {
  const record = await readRecord(machine, id).catch(() => undefined)
  if (record?.phase === 'removing') await removeWorktree(machine, id).catch(() => {})
}
