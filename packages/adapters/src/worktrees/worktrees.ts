import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { Worktrees } from '@atrium/host/ports/worktrees'
import { limits as defaultLimits } from '@atrium/protocol/limits'
import type { GitUser } from '../git/config.ts'
import { GitRunner } from '../git/run.ts'
import { currentUser } from '../git/trusted.ts'
import { ConcurrencyLimit } from '../process/concurrency.ts'
import { findProgram } from '../process/which.ts'
import { applyWorktree } from './apply.ts'
import { createWorktree } from './create.ts'
import { finish, interrupted } from './finish.ts'
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
}

/** Returns the folder of the worktrees whose place nobody chose. */
export function treesOf(folder: string): string {
  return join(folder, 'trees')
}

/** Manages worktrees by the `git` command. Git acts on no config of a repository (O14). */
export function gitWorktrees(options: WorktreeOptions): Worktrees {
  const { folder, forbidden = [], path = process.env['PATH'] ?? '', user = currentUser() } = options
  const limits = { ...defaultLimits, ...options.limits }
  let found: Promise<string | undefined> | undefined
  const machine = async (): Promise<Machine> => {
    const program = await (found ??= findProgram('git', path))
    if (program === undefined) throw new WorktreeRefused('There is no git on this machine.')
    const { worktreeMs: vcsMs, vcsBytes, vcsRuns } = limits
    const git = new GitRunner(program, path, { vcsMs, vcsBytes, vcsRuns })
    return { git, user, folder, forbidden, limits }
  }
  // One change at a time: two worktrees that are applied to one checkout would be in the way of each other.
  const changes = new ConcurrencyLimit(1)
  return {
    create: (wanted, signal) =>
      changes.run(async () => worktreeOf(await createWorktree(await machine(), wanted, signal))),
    state: async (id) => stateOf(await machine(), id),
    apply: (id) => changes.run(async () => applyWorktree(await machine(), id)),
    remove: (id) => changes.run(async () => removeWorktree(await machine(), id)),
    recover: () =>
      changes.run(async () => {
        // Git is looked for only if the folder has files: most hosts have no worktrees, and some machines have no
        // git.
        const names = await readdir(folder).catch(() => [])
        return names.length === 0 ? [] : recoverAll(await machine(), names)
      }),
  }
}

async function recoverAll(machine: Machine, names: readonly string[]): ReturnType<Worktrees['recover']> {
  for (const name of names)
    if (name.startsWith(temporaryPrefix))
      await rm(join(machine.folder, name), { recursive: true, force: true })
  const found: Awaited<ReturnType<Worktrees['recover']>>[number][] = []
  for (const { id, main, problem } of await interrupted(machine))
    try {
      const applied = problem === undefined ? await finish(machine, id) : { id, main, problem }
      if (applied) found.push(applied)
    } catch (error) {
      found.push({
        id,
        main,
        problem: error instanceof WorktreeRefused ? error.message : `Git failed in ${main}.`,
      })
    }
  for (const id of await recordIds(machine)) {
    const record = await readRecord(machine, id).catch(() => undefined)
    // An error is ignored here: the host asks for the removal again, and reports the error then.
    if (record?.phase === 'removing') await removeWorktree(machine, id).catch(() => {})
  }
  return found
}
