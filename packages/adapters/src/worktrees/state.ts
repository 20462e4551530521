import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { RemovedWorktree, Worktree, WorktreeState } from '@atrium/host/ports/worktrees'
import {
  branchOf,
  changedPaths,
  exists,
  inSoundCheckout,
  populatedSubmodules,
  requireMain,
  treeOf,
} from './checkout.ts'
import type { Repository } from '../git/repository.ts'
import { changedCopies } from './include.ts'
import { inRepository, removeOwnParent, withOwnIndex } from './machine.ts'
import type { Machine } from './machine.ts'
import { deleteRecord, readRecord, requireRecord, writeRecord } from './record.ts'
import type { WorktreeRecord } from './record.ts'

/** Returns what a worktree has that its main checkout does not have. */
export async function stateOf(machine: Machine, id: string): Promise<WorktreeState> {
  const record = await requireRecord(machine, id)
  const main = await requireMain(machine, record)
  if (!(await exists(join(record.path, '.git'))))
    throw new WorktreeRefused(`The worktree ${record.path} is not there any more.`)
  const tree = treeOf(record)
  const mainBranch = branchOf(main)
  const changed = await inSoundCheckout(machine, tree, async (shadow) => [
    ...(await changedPaths(shadow)),
    ...(await populatedSubmodules(shadow, record.path)),
  ])
  return {
    worktree: worktreeOf(record),
    ...(mainBranch !== undefined && { mainBranch }),
    uncommitted: changed.length > 0 ? await unappliedAmong(machine, record, changed) : [],
    unapplied: await missingCommits(machine, record, main),
    copies: await changedCopies(record.path, record.copied),
  }
}

export function worktreeOf(record: WorktreeRecord): Worktree {
  const { id, path, directory, main, branch, base, notes } = record
  return { id, path, directory, main, branch, base, notes }
}

/** Returns the uncommitted paths that were not applied, or have changed since they were applied. */
async function unappliedAmong(
  machine: Machine,
  { applied, path: root, commonDir }: WorktreeRecord,
  changed: readonly string[],
): Promise<readonly string[]> {
  if (applied === undefined) return changed
  return withOwnIndex(machine, { root, commonDir, owners: [] }, applied, async (shadow) => {
    // Git may have deleted the commit `applied`, because nothing refers to it. Then all changed paths count as not
    // applied.
    const { exitCode } = await shadow.tryRun(['read-tree', applied], '')
    if (exitCode !== 0) return changed
    return [...(await changedPaths(shadow)), ...(await populatedSubmodules(shadow, root))]
  })
}

/** Returns the number of commits of the worktree, and of its branch, that the main checkout does not have. */
async function missingCommits(machine: Machine, record: WorktreeRecord, main: Repository): Promise<number> {
  const commits = await inRepository(machine, treeOf(record), ({ tryRun }) =>
    tryRun(['rev-parse', '--verify', '-q', 'HEAD'], ''),
  )
  const tips = [commits.stdout.toString().trim(), `refs/heads/${record.branch}`].filter((tip) => tip !== '')
  return inRepository(machine, main, async ({ run, tryRun }) => {
    const known = await Promise.all(
      tips.map(
        async (tip) => (await tryRun(['rev-parse', '--verify', '-q', `${tip}^{commit}`], '')).exitCode === 0,
      ),
    )
    const sound = tips.filter((_, i) => known[i])
    if (sound.length === 0) return 0
    return Number((await run(['rev-list', '--count', ...sound, '--not', 'HEAD', '--'])).toString())
  })
}

/** Removes a worktree, its record, and its branch if the main checkout has all of its commits. */
export async function removeWorktree(machine: Machine, id: string): Promise<RemovedWorktree> {
  const record = await readRecord(machine, id)
  if (!record) return { branchDeleted: false }
  if (record.phase === 'ready') {
    if (await exists(record.path)) refuseLoss(await stateOf(machine, id))
    await writeRecord(machine, { ...record, phase: 'removing' })
  }
  await rm(record.path, { recursive: true, force: true })
  if (record.folderExisted) await mkdir(record.path, { recursive: true })
  await rm(record.gitDir, { recursive: true, force: true })
  await removeOwnParent(machine, record.path)
  const branchDeleted = await deleteMergedBranch(machine, { ...record, phase: 'removing' })
  await deleteRecord(machine, id)
  return { branchDeleted }
}

function refuseLoss({ worktree, uncommitted, unapplied, copies }: WorktreeState): void {
  const reasons = [
    ...(uncommitted.length > 0 ? [`${uncommitted.length} changed files that are not committed`] : []),
    ...(unapplied > 0 ? [`${unapplied} commits that ${worktree.main} does not have`] : []),
    ...(copies.length > 0 ? [`${copies.length} changed copies of ignored files`] : []),
  ]
  if (reasons.length > 0)
    throw new WorktreeRefused(
      `The worktree ${worktree.path} is kept, because it has ${reasons.join(', and ')}.`,
      [...uncommitted, ...copies],
    )
}

async function deleteMergedBranch(machine: Machine, record: WorktreeRecord): Promise<boolean> {
  const { branch } = record
  const repository = await requireMain(machine, record).catch(() => undefined)
  if (!repository) return false
  return inRepository(machine, repository, async ({ tryRun }) => {
    const ref = `refs/heads/${branch}`
    const tip = await tryRun(['rev-parse', '--verify', '-q', ref], '')
    const merged = await tryRun(['merge-base', '--is-ancestor', ref, 'HEAD'], '')
    if (tip.exitCode !== 0 || merged.exitCode !== 0) return false
    return (await tryRun(['update-ref', '-d', ref, tip.stdout.toString().trim()], '')).exitCode === 0
  })
}
