import { mkdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { AppliedWorktree } from '@atrium/host/ports/worktrees'
import type { Repository } from '../git/repository.ts'
import type { ShadowGitDir } from '../git/shadow-git-dir.ts'
import { syncFolder } from '../process/sync-folder.ts'
import {
  branchOf,
  changedPaths,
  exists,
  headOf,
  inSoundCheckout,
  isSparse,
  refuseUnfinished,
  requireMain,
  treeOf,
} from './checkout.ts'
import { differencesIn, indexLines } from './difference.ts'
import type { Difference } from './difference.ts'
import { finish, stageOf, writeJournal } from './finish.ts'
import { inRepository, inTemporaryFolder, refusal, syncFile, withOwnIndex } from './machine.ts'
import type { Machine } from './machine.ts'
import { commitBeside, mergeCommits, refuseFiltered } from './merge.ts'
import type { Attempt } from './merge.ts'
import { Quarantine } from './quarantine.ts'
import { applyFolder, requireRecord } from './record.ts'
import type { WorktreeRecord } from './record.ts'
import { partFor, refuseObstacles } from './replace.ts'

/**
 * Applies a worktree to its main checkout, the one that it began from. The merge is made in a throw-away worktree.
 * The main checkout then gets the commits, by moving its branch forward, and the uncommitted changes, as uncommitted
 * files.
 */
export async function applyWorktree(machine: Machine, id: string): Promise<AppliedWorktree> {
  const record = await requireRecord(machine, id)
  const earlier = await finish(machine, id)
  if (earlier) return earlier
  const main = await requireMain(machine, record)
  await refuseUnfinished(main)
  const branch = branchOf(main)
  if (branch === undefined)
    throw new WorktreeRefused(`${main.root} has no branch checked out. Check one out first.`)
  const before = await cleanHead(machine, main)
  await inTemporaryFolder(machine, async (folder) => {
    const quarantine = await Quarantine.in(folder, main)
    const attempt: Attempt = { machine, folder, quarantine }
    const { after, final, applied } = await merged(attempt, record, main, before)
    const { commonDir } = quarantine
    await inRepository(machine, { ...main, commonDir }, async (shadow) => {
      const changed = await replacements(shadow, before, final)
      const files = await Promise.all(
        changed.map(async (file, i) => ({
          ...file,
          part: await partFor(main.root, file.path, `${id}-${i}`),
        })),
      )
      await refuseFiltered(
        shadow,
        files.map(({ path }) => path),
      )
      await refuseObstacles(main.root, files)
      await stageFiles(machine, { ...main, commonDir }, { id, files, head: before })
      const uncommitted = (await replacements(shadow, after, final)).map(({ path }) => path)
      if ((await cleanHead(machine, main)) !== before)
        throw new WorktreeRefused(`${main.root} has changed meanwhile. Try again.`)
      await quarantine.release()
      const tips = { branch, before, after, ...(applied && { applied }) }
      await writeJournal(machine, { id, main: main.root, ...tips, files, uncommitted })
    })
  }).catch(async (error: unknown) => {
    await rm(applyFolder(machine, id), { recursive: true, force: true })
    throw refusal(error, `The worktree cannot be applied to ${main.root}`)
  })
  const done = await finish(machine, id)
  if (!done) throw new WorktreeRefused(`${main.root} has changed meanwhile. Try again.`)
  return done
}

/** Returns the commit of a checkout. Throws if the checkout has uncommitted changes. */
async function cleanHead(machine: Machine, main: Repository): Promise<string> {
  if (await exists(join(main.gitDir, 'index.lock')))
    throw new WorktreeRefused(`Git is at work in ${main.root} (index.lock). Try again when it is done.`)
  return inSoundCheckout(machine, main, async (shadow) => {
    if (await isSparse(main, shadow))
      throw new WorktreeRefused(
        `${main.root} is a sparse checkout. Merge the branch of the worktree with git.`,
      )
    const head = await headOf(shadow)
    if (head === undefined) throw new WorktreeRefused(`${main.root} has no commit.`)
    const changes = await changedPaths(shadow)
    if (changes.length === 0) return head
    throw new WorktreeRefused(
      `${main.root} has ${changes.length} uncommitted changes. Commit or stash them first.`,
      changes,
    )
  })
}

/**
 * Merges the commits of a worktree, then its uncommitted changes, into the commit `before` of the main checkout.
 * Returns `after`, which has the commits, and `final`, which also has the uncommitted changes. `applied` is a commit
 * of the uncommitted changes on top of the worktree's commits; absent if there are none.
 */
async function merged(attempt: Attempt, record: WorktreeRecord, main: Repository, before: string) {
  const { machine } = attempt
  const tree = treeOf(record)
  if (!(await exists(join(record.path, '.git'))))
    throw new WorktreeRefused(`The worktree ${record.path} is not there any more.`)
  await refuseUnfinished(tree)
  const { tip, changes } = await inSoundCheckout(machine, tree, async (shadow) => ({
    tip: await headOf(shadow),
    changes: await changedPaths(shadow),
  }))
  if (tip === undefined) throw new WorktreeRefused(`The worktree ${record.path} has no commit.`)
  const message = `Merge branch '${record.branch}'`
  const after = await inRepository(machine, main, async ({ tryRun }) => {
    const contains = async (one: string, other: string) =>
      (await tryRun(['merge-base', '--is-ancestor', one, other], '')).exitCode === 0
    if (await contains(tip, before)) return before
    return (await contains(before, tip)) ? tip : undefined
  })
  const commit =
    after ?? (await mergeCommits(attempt, main, { into: before, from: tip, message, name: 'commits' }))
  if (changes.length === 0) return { after: commit, final: commit }
  const applied = await commitBeside(attempt, tree, tip)
  const files = { into: commit, from: applied, message, name: 'files' }
  const final = commit === tip ? applied : await mergeCommits(attempt, main, files)
  return { after: commit, final, applied }
}

/** Returns the files in which two commits differ. Throws for a submodule, and for a name that is not UTF-8. */
async function replacements(shadow: ShadowGitDir, from: string, to: string): Promise<readonly Difference[]> {
  const command = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to]
  const found = differencesIn(await shadow.run(command))
  for (const { path, from: before, to: after } of found) {
    if ([before?.mode, after?.mode].includes('160000'))
      throw new WorktreeRefused(`${JSON.stringify(path)} is a submodule. Merge the branch with git.`, [path])
    if (path.includes('\ufffd'))
      throw new WorktreeRefused(`${JSON.stringify(path)}: the name is not UTF-8.`, [path])
  }
  return found
}

/** Writes the new files into a folder of the host, durably, as git would check them out. */
async function stageFiles(
  machine: Machine,
  main: Repository,
  { id, files, head }: { readonly id: string; readonly files: readonly Difference[]; readonly head: string },
): Promise<void> {
  const stage = stageOf(machine, id)
  await rm(stage, { recursive: true, force: true })
  await mkdir(stage, { recursive: true, mode: 0o700 })
  const wanted = files.flatMap(({ path, to }) => (to ? [{ path, ...to }] : []))
  await withOwnIndex(machine, main, head, async ({ tryRun }) => {
    const filled = await tryRun(['update-index', '-z', '--index-info'], indexLines(wanted))
    const written = await tryRun(['checkout-index', '-a', '-f', `--prefix=${stage}/`], '')
    if (filled.exitCode !== 0 || written.exitCode !== 0)
      throw new WorktreeRefused('The changed files cannot be written to the data folder. Is the disk full?')
  })
  // The journal that names these files is durable, so they must be, too.
  const folders = new Set([stage])
  for (const { path, mode } of wanted) {
    if (mode !== '120000') await syncFile(join(stage, path))
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
      folders.add(join(stage, folder))
  }
  for (const folder of folders) await syncFolder(folder)
}
