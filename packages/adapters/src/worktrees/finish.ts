import { readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { AppliedWorktree } from '@atrium/host/ports/worktrees'
import type { Repository } from '../git/repository.ts'
import type { ShadowGitDir } from '../git/shadow-git-dir.ts'
import { branchOf, refuseUnfinished, requireMain } from './checkout.ts'
import { differencesIn, indexLines } from './difference.ts'
import { inRepository, refusal } from './machine.ts'
import type { Machine } from './machine.ts'
import { applyFolder, readJson, readRecord, writeJson, writeRecord } from './record.ts'
import { compareFiles, removeParts, replaceFiles } from './replace.ts'
import type { Replacement } from './replace.ts'

/**
 * The changes that bring a worktree into its main checkout. The journal is written before the first file changes, and
 * deleted after the last, so that the changes can be finished after a crash.
 */
export interface Journal {
  readonly id: string
  readonly main: string
  /** The branch of the main checkout, and its commits before and after the worktree is applied. */
  readonly branch: string
  readonly before: string
  readonly after: string
  readonly files: readonly Replacement[]
  readonly uncommitted: readonly string[]
  /** The commit of the worktree's uncommitted changes. */
  readonly applied?: string
}

export function writeJournal(machine: Machine, journal: Journal): Promise<void> {
  return writeJson(journalOf(machine, journal.id), journal)
}

/**
 * Finishes applying a worktree whose journal is written. Returns undefined if there is no journal. Also returns
 * undefined if somebody has committed or checked out something else before the first file was changed: nothing is
 * applied then.
 */
export async function finish(machine: Machine, id: string): Promise<AppliedWorktree | undefined> {
  const journal = await readJournal(machine, id)
  const record = await readRecord(machine, id)
  if (!journal || !record) return undefined
  const { files, after, uncommitted, applied } = journal
  const main = await requireMain(machine, record)
  const isUnmoved = await isAtJournal(machine, main, journal)
  const compared = await compareFiles(machine, main, { files, head: after })
  if (!isUnmoved && compared.isNew.size === 0) {
    await removeParts(main.root, files)
    await forget(machine, id)
    return undefined
  }
  await refuseUnfinished(main)
  const left = await replaceFiles(main.root, { stage: stageOf(machine, id), files }, compared).catch(
    (error: unknown) => {
      throw refusal(error, `The changes are in ${main.root} only in part; apply again to finish`)
    },
  )
  // If somebody has committed or checked out something else after a crash, the branch is not moved. The new files then stay as
  // uncommitted changes.
  if (isUnmoved) await inRepository(machine, main, (shadow) => moveBranch(shadow, main, journal))
  if (applied !== undefined) await writeRecord(machine, { ...record, applied })
  await forget(machine, id)
  const paths = files.map(({ path }) => path).filter((path) => !left.includes(path))
  return { id, main: main.root, commit: after, files: paths, uncommitted: [...uncommitted], left }
}

/** Whether the branch of the journal is still checked out, and nobody else has moved it. */
async function isAtJournal(machine: Machine, main: Repository, journal: Journal): Promise<boolean> {
  const { branch, before, after } = journal
  if (branchOf(main) !== branch) return false
  const { stdout } = await inRepository(machine, main, ({ tryRun }) =>
    tryRun(['rev-parse', '--verify', '-q', `refs/heads/${branch}`], ''),
  )
  return [before, after].includes(stdout.toString().trim())
}

/**
 * Moves the index and the branch of the main checkout forward. The index comes first: if the host is killed in between, git
 * shows the changes as staged, and not as taken back. What somebody else has staged meanwhile stays staged.
 */
async function moveBranch(shadow: ShadowGitDir, { root }: Repository, journal: Journal): Promise<void> {
  const { branch, before, after } = journal
  const staged = await stagedByOthers(shadow, before, after)
  const commands: readonly (readonly [readonly string[], string])[] = [
    [['read-tree', '-i', '-m', after], ''],
    [['update-index', '-z', '--index-info'], staged],
    [['update-ref', `refs/heads/${branch}`, after], ''],
  ]
  for (const [command, input] of commands)
    if ((await shadow.tryRun(command, input)).exitCode !== 0)
      throw new WorktreeRefused(
        `The files are in ${root}, but git could not move its branch: it is at work there, or a conflict is not resolved. Apply again.`,
      )
  await shadow.tryRun(['update-index', '-q', '--refresh'], '')
}

/**
 * Returns the entries of the index that are neither as in `before` nor as in `after`, as lines for `git
 * update-index`.
 */
async function stagedByOthers(shadow: ShadowGitDir, before: string, after: string): Promise<string> {
  const differing = async (commit: string) =>
    differencesIn(
      await shadow.run(['diff-index', '--cached', '-z', '--raw', '--no-renames', '--no-abbrev', commit]),
    )
  const sinceAfter = new Set((await differing(after)).map(({ path }) => path))
  const staged = (await differing(before)).filter(({ path }) => sinceAfter.has(path))
  const none = { mode: '0', object: '0'.repeat(after.length) }
  return indexLines(staged.map(({ path, to = none }) => ({ path, ...to })))
}

/**
 * Lists the worktrees that were being applied when the host crashed. New files without a journal are deleted, because
 * no file of the main checkout was changed yet. If a journal is damaged, its folder is renamed and kept, and the
 * damage is reported once.
 */
export async function interrupted(machine: Machine): Promise<readonly Interrupted[]> {
  const names = await readdir(machine.folder).catch(() => [])
  const found: Interrupted[] = []
  for (const id of names.flatMap((name) => /^([\w-]+)\.apply$/.exec(name)?.[1] ?? [])) {
    const folder = applyFolder(machine, id)
    try {
      const journal = await readJournal(machine, id)
      if (journal) found.push({ id, main: journal.main })
      else await rm(folder, { recursive: true, force: true })
    } catch (error) {
      if (!(error instanceof WorktreeRefused)) throw error
      const aside = `${folder}-damaged`
      await rm(aside, { recursive: true, force: true })
      await rename(folder, aside)
      const main = (await readRecord(machine, id).catch(() => undefined))?.main ?? ''
      found.push({ id, main, problem: damagedJournal })
    }
  }
  return found
}

export interface Interrupted {
  readonly id: string
  readonly main: string
  /** Why the worktree cannot be applied to the end, as a sentence for users. */
  readonly problem?: string
}

const damagedJournal =
  'The host was interrupted while it applied this worktree, and cannot finish: its journal is damaged. Some files may be applied, and others not. Compare the checkout with the branch of the worktree, and apply again.'

/** Deletes the journal, and then the files that it names, so that a crash leaves no journal without its files. */
async function forget(machine: Machine, id: string): Promise<void> {
  await rm(journalOf(machine, id))
  await rm(applyFolder(machine, id), { recursive: true, force: true })
}

async function readJournal(machine: Machine, id: string): Promise<Journal | undefined> {
  // This adapter has written the file itself.
  return (await readJson(journalOf(machine, id))) as Journal | undefined
}

/** Returns the folder with the new files of a worktree that is being applied. */
export function stageOf(machine: Machine, id: string): string {
  return join(applyFolder(machine, id), 'stage')
}

function journalOf(machine: Machine, id: string): string {
  return join(applyFolder(machine, id), 'journal.json')
}
