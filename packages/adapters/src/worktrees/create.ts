import { mkdir, readdir, realpath, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { WantedWorktree } from '@atrium/host/ports/worktrees'
import type { Repository } from '../git/repository.ts'
import type { ShadowGitDir } from '../git/shadow-git-dir.ts'
import {
  exists,
  headOf,
  isSparse,
  refuseUnfinished,
  requireMain,
  requireRepository,
  submodules,
  treeOf,
} from './checkout.ts'
import { copyIncluded } from './include.ts'
import { inRepository, isForbidden, refusal, removeOwnParent } from './machine.ts'
import type { Machine } from './machine.ts'
import { deleteRecord, readRecord, writeRecord } from './record.ts'
import type { WorktreeRecord } from './record.ts'

/**
 * Creates a worktree as `git worktree add` does, but without the programs that the repository's config names. The record is
 * written first. It tells what an interrupted attempt has left behind.
 */
export async function createWorktree(
  machine: Machine,
  wanted: WantedWorktree,
  signal: AbortSignal,
): Promise<WorktreeRecord> {
  const earlier = await readRecord(machine, wanted.id)
  if (earlier?.phase === 'removing') throw new WorktreeRefused('This worktree is being removed.')
  if (earlier?.phase === 'ready') return earlier
  if (earlier) await discard(machine, earlier)
  const plan = earlier ?? (await planned(machine, wanted))
  try {
    await writeRecord(machine, plan)
    const ready = await build(machine, plan, signal)
    await writeRecord(machine, ready)
    return ready
  } catch (error) {
    await discard(machine, plan)
    await deleteRecord(machine, plan.id)
    throw refusal(error, `The worktree ${plan.path} cannot be created`)
  }
}

/** Removes what an unfinished creation has made. Nobody has worked there: a session begins when its worktree is ready. */
export async function discard(machine: Machine, record: WorktreeRecord): Promise<void> {
  const { path, gitDir, branch, base, folderExisted } = record
  if (folderExisted)
    for (const name of await readdir(path).catch(() => []))
      await rm(join(path, name), { recursive: true, force: true })
  else await rm(path, { recursive: true, force: true })
  await rm(gitDir, { recursive: true, force: true })
  await removeOwnParent(machine, path)
  const main = await requireMain(machine, record).catch(() => undefined)
  // Git deletes the branch only if it is still at `base`: somebody may have committed to it.
  if (main)
    await inRepository(machine, main, ({ tryRun }) =>
      tryRun(['update-ref', '-d', `refs/heads/${branch}`, base], ''),
    )
}

async function planned(machine: Machine, wanted: WantedWorktree): Promise<WorktreeRecord> {
  const { id, directory } = wanted
  const repository = await requireRepository(machine, directory)
  await refuseUnfinished(repository)
  const { root, commonDir } = repository
  return inRepository(machine, repository, async (shadow) => {
    const base = await headOf(shadow)
    if (base === undefined)
      throw new WorktreeRefused(`${root} has no commit yet, so a worktree has nothing to begin from.`)
    if (shadow.config.get('extensions.refstorage')?.at(-1) === 'reftable')
      throw new WorktreeRefused(
        `${root} keeps its branches in a reftable, which worktrees do not support yet.`,
      )
    const branch = wanted.branch ?? `atrium/${id}`
    await checkBranch(shadow, branch)
    const path = wanted.path ?? join(await realFolder(machine.folder), 'trees', id, basename(root))
    const { at, folderExisted } = await checkPlace(path, repository)
    if (wanted.path !== undefined && (await isForbidden(machine, at)))
      throw new WorktreeRefused(`${at} is in the data folder of the host. Choose another folder.`)
    const gitDir = join(commonDir, 'worktrees', `atrium-${id}`)
    if (await exists(gitDir)) throw new WorktreeRefused(`${root} has another worktree of this name.`)
    const inside = relative(root, await realpath(directory))
    const notes = await notesOn(repository, shadow)
    const names = { id, branch, base, main: root, gitDir, commonDir }
    const place = { path: at, directory: join(at, inside), folderExisted }
    return { ...names, ...place, phase: 'creating', copied: {}, notes }
  })
}

async function realFolder(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  return realpath(path)
}

async function checkBranch(shadow: ShadowGitDir, branch: string): Promise<void> {
  const shown = JSON.stringify(branch.slice(0, 200))
  const ok = (command: readonly string[]) => shadow.tryRun(command, '').then(({ exitCode }) => exitCode === 0)
  const odd = branch.startsWith('-') || branch === 'HEAD' || branch.includes('\0')
  if (odd || !(await ok(['check-ref-format', `refs/heads/${branch}`])))
    throw new WorktreeRefused(`${shown} cannot be the name of a branch.`)
  if (await ok(['show-ref', '--verify', '-q', `refs/heads/${branch}`]))
    throw new WorktreeRefused(`There is already a branch ${shown}. Choose another name.`)
}

/**
 * Refuses a path inside the repository, because git would show the worktree there as a change. Also refuses a folder that is
 * not empty.
 */
async function checkPlace(
  path: string,
  { root, commonDir }: Repository,
): Promise<{ readonly at: string; readonly folderExisted: boolean }> {
  if (!isAbsolute(path)) throw new WorktreeRefused(`${path} must be an absolute path.`)
  let parent = dirname(resolve(path))
  while (!(await exists(parent))) parent = dirname(parent)
  const named = join(await realpath(parent), relative(parent, resolve(path)))
  const at = await realpath(named).catch(() => named)
  for (const folder of [root, commonDir])
    if (at === folder || at.startsWith(`${folder}/`))
      throw new WorktreeRefused(`${at} is inside of the repository. Choose a folder outside of ${root}.`)
  const names = await readdir(at).catch(() => undefined)
  if (names === undefined ? await exists(at) : names.length > 0)
    throw new WorktreeRefused(`${at} exists, and is not an empty folder. Choose a new folder.`)
  return { at, folderExisted: names !== undefined }
}

async function notesOn(repository: Repository, shadow: ShadowGitDir): Promise<readonly string[]> {
  const { exitCode } = await shadow.tryRun(['ls-files', '-s', '-z', '--', ':(top)no such file'], '')
  const modules = exitCode === 0 ? (await submodules(shadow)).length : 0
  return [
    ...(modules > 0 ? ['The folders of submodules are empty in this worktree.'] : []),
    ...((await isSparse(repository, shadow))
      ? ['The main checkout is sparse. This worktree has all of its files.']
      : []),
  ]
}

async function build(machine: Machine, plan: WorktreeRecord, signal: AbortSignal): Promise<WorktreeRecord> {
  const { path, gitDir, branch, base } = plan
  const repository = await requireMain(machine, plan)
  await inRepository(machine, repository, async ({ tryRun }) => {
    // The old value of all zeros means that there must be no such branch yet.
    const { exitCode } = await tryRun(
      ['update-ref', `refs/heads/${branch}`, base, '0'.repeat(base.length)],
      '',
    )
    if (exitCode !== 0)
      throw new WorktreeRefused(
        `The branch ${JSON.stringify(branch)} cannot be created: another branch is in its way, or the repository cannot be written.`,
      )
  })
  await mkdir(path, { recursive: true })
  await mkdir(gitDir, { recursive: true })
  // The file `locked` keeps git from pruning the worktree before it is complete.
  await writeFile(join(gitDir, 'locked'), 'Atrium is creating this worktree.\n')
  await writeFile(join(gitDir, 'gitdir'), `${join(path, '.git')}\n`)
  await writeFile(join(gitDir, 'commondir'), '../..\n')
  await writeFile(join(gitDir, 'HEAD'), `ref: refs/heads/${branch}\n`)
  await writeFile(join(path, '.git'), `gitdir: ${gitDir}\n`)
  signal.throwIfAborted()
  await inRepository(machine, treeOf(plan), async ({ tryRun }) => {
    const { exitCode } = await tryRun(['read-tree', '--reset', '-u', 'HEAD'], '')
    if (exitCode !== 0)
      throw new WorktreeRefused(`The files of the worktree cannot be written to ${path}. Is the disk full?`)
  })
  signal.throwIfAborted()
  const { copied, notes } = await copyIncluded(machine, repository, path)
  await rm(join(gitDir, 'locked'))
  const isDirectory = await stat(plan.directory).then(
    (found) => found.isDirectory(),
    () => false,
  )
  const directory = isDirectory ? plan.directory : path
  return { ...plan, phase: 'ready', directory, copied, notes: [...plan.notes, ...notes] }
}
