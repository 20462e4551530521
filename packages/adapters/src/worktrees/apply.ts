import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { AppliedWorktree } from '@atrium/host/ports/worktrees'
import type { Repository } from '../git/repository.ts'
import type { ShadowGitDir } from '../git/shadow-git-dir.ts'
import {
  branchOf,
  changedPaths,
  exists,
  headOf,
  inSoundCheckout,
  isSparse,
  namesIn,
  refuseUnfinished,
  requireRepository,
  treeOf,
} from './checkout.ts'
import { inRepository, inTemporaryFolder, refusal, withOwnIndex } from './machine.ts'
import type { Machine } from './machine.ts'
import { commitBeside, mergeCommits, refuseFiltered } from './merge.ts'
import type { Attempt } from './merge.ts'
import { Quarantine } from './quarantine.ts'
import { readJson, readRecord, requireRecord, writeJson, writeRecord } from './record.ts'
import type { WorktreeRecord } from './record.ts'
import { indexLines, refuseObstacles, replaceFiles } from './replace.ts'
import type { FileVersion, Replacement, Replacing } from './replace.ts'

/** What is left to do in the main checkout. It is written before the first file changes, and deleted after the last. */
interface Journal {
  readonly id: string
  readonly main: string
  /** The branch of the main checkout, and its commits before and after. */
  readonly branch: string
  readonly before: string
  readonly after: string
  readonly files: readonly Replacement[]
  readonly uncommitted: readonly string[]
  /** The commit of the worktree's uncommitted changes. */
  readonly applied?: string
}

/**
 * Merges a worktree in a throw-away worktree, and brings the result into the main checkout: commits by moving its branch
 * forward, uncommitted changes as uncommitted files.
 */
export async function applyWorktree(machine: Machine, id: string): Promise<AppliedWorktree> {
  const record = await requireRecord(machine, id)
  const earlier = await finish(machine, id)
  if (earlier) return earlier
  const main = await requireRepository(machine, record.main)
  await refuseUnfinished(main)
  const branch = await branchOf(main)
  if (branch === undefined)
    throw new WorktreeRefused(`${main.root} has no branch checked out. Check one out first.`)
  const before = await cleanHead(machine, main)
  await inTemporaryFolder(machine, async (folder) => {
    const quarantine = await Quarantine.in(folder, main)
    const attempt: Attempt = { machine, folder, quarantine }
    const { after, final, applied } = await merged(attempt, record, main, before)
    const { commonDir } = quarantine
    await inRepository(machine, { ...main, commonDir }, async (shadow) => {
      const files = await replacements(shadow, before, final)
      await refuseFiltered(
        shadow,
        files.map(({ path }) => path),
      )
      await refuseObstacles(main.root, files)
      await stageFiles(machine, { ...main, commonDir }, { id, files, head: before })
      const uncommitted = (await replacements(shadow, after, final)).map(({ path }) => path)
      await quarantine.release()
      if ((await cleanHead(machine, main)) !== before)
        throw new WorktreeRefused(`${main.root} has changed meanwhile. Try again.`)
      const journal = {
        id,
        main: main.root,
        branch,
        before,
        after,
        files,
        uncommitted,
        ...(applied && { applied }),
      }
      await writeJson(journalOf(machine, id), journal satisfies Journal)
    })
  }).catch(async (error: unknown) => {
    await rm(folderOf(machine, id), { recursive: true, force: true })
    throw refusal(error, `The worktree cannot be applied to ${main.root}`)
  })
  const done = await finish(machine, id)
  if (!done) throw new Error('the journal is gone')
  return done
}

/** Finishes an application whose journal is written. Returns undefined if there is none. */
export async function finish(machine: Machine, id: string): Promise<AppliedWorktree | undefined> {
  // The file is our own.
  const journal = (await readJson(journalOf(machine, id))) as Journal | undefined
  if (!journal) return undefined
  const { main: root, branch, before, after, files, uncommitted, applied } = journal
  const main = await requireRepository(machine, root)
  const stage = join(folderOf(machine, id), 'stage')
  const left = await replaceFiles(machine, main, { id, stage, files, head: after })
  await inRepository(machine, main, async (shadow) => {
    const ref = `refs/heads/${branch}`
    const { stdout } = await shadow.tryRun(['rev-parse', '--verify', '-q', ref], '')
    const unmoved = [before, after].includes(stdout.toString().trim()) && (await branchOf(main)) === branch
    // If somebody has committed or checked out something else after a crash, that stays, and the files stay beside it.
    if (!unmoved) return
    for (const command of [
      ['update-ref', ref, after],
      ['read-tree', '-i', '-m', after],
    ])
      if ((await shadow.tryRun(command, '')).exitCode !== 0)
        throw new WorktreeRefused(
          `The files are in ${root}, but git could not move its branch, because it is at work there. Apply again.`,
        )
    await shadow.tryRun(['update-index', '-q', '--refresh'], '')
  })
  const record = await readRecord(machine, id)
  if (record && applied !== undefined) await writeRecord(machine, { ...record, applied })
  await rm(folderOf(machine, id), { recursive: true, force: true })
  const paths = files.map(({ path }) => path).filter((path) => !left.includes(path))
  return { id, main: root, commit: after, files: paths, uncommitted: [...uncommitted], left }
}

/** The ids of the applications that were interrupted. Staged files without a journal are deleted: nothing was changed yet. */
export async function interrupted(machine: Machine): Promise<readonly string[]> {
  const names = await readdir(machine.folder).catch(() => [])
  const ids = names.flatMap((name) => /^([\w-]+)\.apply$/.exec(name)?.[1] ?? [])
  const begun = await Promise.all(ids.map((id) => exists(journalOf(machine, id))))
  for (const [i, id] of ids.entries())
    if (!begun[i]) await rm(folderOf(machine, id), { recursive: true, force: true })
  return ids.filter((_, i) => begun[i])
}

function folderOf({ folder }: Machine, id: string): string {
  return join(folder, `${id}.apply`)
}

function journalOf(machine: Machine, id: string): string {
  return join(folderOf(machine, id), 'journal.json')
}

/** The commit of a checkout in which nothing is changed. */
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

/** Merges the commits of a worktree, then its uncommitted changes, into a commit of the main checkout. */
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

/** The files in which two commits differ. */
async function replacements(shadow: ShadowGitDir, from: string, to: string): Promise<readonly Replacement[]> {
  const fields = namesIn(
    await shadow.run(['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, to]),
  )
  const found: Replacement[] = []
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode = '', newMode = '', oldObject = '', newObject = ''] = fields[i]?.slice(1).split(' ') ?? []
    const path = fields[i + 1] ?? ''
    if ([oldMode, newMode].includes('160000'))
      throw new WorktreeRefused(`${JSON.stringify(path)} is a submodule. Merge the branch with git.`, [path])
    if (path.includes('\ufffd'))
      throw new WorktreeRefused(`${JSON.stringify(path)}: the name is not UTF-8.`, [path])
    const [before, after] = [version(oldMode, oldObject), version(newMode, newObject)]
    found.push({ path, ...(before && { from: before }), ...(after && { to: after }) })
  }
  return found
}

function version(mode: string, object: string): FileVersion | undefined {
  return mode === '000000' ? undefined : { mode, object }
}

/** Writes the new files into a folder of our own, as git would check them out. */
async function stageFiles(
  machine: Machine,
  main: Repository,
  { id, files, head }: Omit<Replacing, 'stage'>,
): Promise<void> {
  const stage = join(folderOf(machine, id), 'stage')
  await rm(stage, { recursive: true, force: true })
  await mkdir(stage, { recursive: true, mode: 0o700 })
  const wanted = files.flatMap(({ path, to }) => (to ? [{ path, ...to }] : []))
  await withOwnIndex(machine, main, head, async ({ tryRun }) => {
    const filled = await tryRun(['update-index', '-z', '--index-info'], indexLines(wanted))
    const written = await tryRun(['checkout-index', '-a', '-f', `--prefix=${stage}/`], '')
    if (filled.exitCode !== 0 || written.exitCode !== 0)
      throw new WorktreeRefused('The changed files cannot be written to the data folder. Is the disk full?')
  })
}
