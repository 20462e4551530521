import { lstatSync, realpathSync, renameSync, unlinkSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { copyFile, lstat, mkdir, readdir, readlink, realpath, rm, rmdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { Repository } from '../git/repository.ts'
import { codeOf } from '../process/error-code.ts'
import { syncFolder } from '../process/sync-folder.ts'
import { namesIn } from './checkout.ts'
import { indexLines } from './difference.ts'
import type { Difference, FileVersion } from './difference.ts'
import { syncFile, withOwnIndex } from './machine.ts'
import type { Machine } from './machine.ts'

/** A file that is to be written, replaced or deleted. */
export interface Replacement extends Difference {
  /** The path at which the new file is written before it takes its place. */
  readonly part: string
}

/** What is found at the paths of replacements. */
export interface Compared {
  /** The paths that have the old file, or no file if there was none before. */
  readonly isOld: ReadonlySet<string>
  /** The paths that have the new file, or no file if none is wanted. */
  readonly isNew: ReadonlySet<string>
  /** The stat data of each path before the contents were compared. */
  readonly seen: ReadonlyMap<string, BigIntStats | undefined>
}

/** Compares the files of a checkout with both sides of replacements. */
export async function compareFiles(
  machine: Machine,
  main: Repository,
  { files, head }: { readonly files: readonly Replacement[]; readonly head: string },
): Promise<Compared> {
  const seen = new Map<string, BigIntStats | undefined>()
  for (const { path } of files) seen.set(path, await fileAt(main.root, path))
  const differing = indexComparison(machine, main, head)
  const isNew = await unchangedSince(seen, files, 'to', differing)
  const isOld = await unchangedSince(seen, files, 'from', differing)
  return { isOld, isNew, seen }
}

/**
 * Replaces the old files of a checkout by the files in `stage`. A file that is neither the old nor the new one is left as it
 * is, and returned. All new contents are on the disk beside their places before the first file is touched, so that a full
 * disk changes nothing.
 */
export async function replaceFiles(
  root: string,
  { stage, files }: { readonly stage: string; readonly files: readonly Replacement[] },
  { isOld, isNew, seen }: Compared,
): Promise<readonly string[]> {
  const open = files.filter(({ path }) => !isNew.has(path) && isOld.has(path))
  const left = new Set(files.flatMap(({ path }) => (isNew.has(path) || isOld.has(path) ? [] : [path])))
  const folders = new Set<string>()
  const replaceAll = async (some: readonly Replacement[]) => {
    for (const file of some)
      if (await unlessChanged(() => replace(root, file, seen.get(file.path))))
        folders.add(dirname(join(root, file.path)))
      else left.add(file.path)
  }
  try {
    const written: Replacement[] = []
    for (const file of open.filter(({ to }) => to))
      if (await unlessChanged(() => copyEntry(join(stage, file.path), join(root, file.part))))
        written.push(file)
      else left.add(file.path)
    // Deletions come first: a folder may take the place of a file, and a file that of a folder.
    await replaceAll(open.filter(({ to }) => !to))
    for (const { path, to } of files) if (!to && !left.has(path)) await removeEmpty(root, path)
    await replaceAll(written)
  } finally {
    await removeParts(root, files)
  }
  for (const folder of folders) await syncFolder(folder)
  return [...left]
}

/**
 * Runs a change. Returns false if a folder is gone, or if a file is in the place of a folder: somebody has changed the path
 * meanwhile.
 */
async function unlessChanged(change: () => Promise<boolean>): Promise<boolean> {
  try {
    return await change()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EEXIST'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

/** Removes the new files that did not take their places, also those of an earlier run. */
export async function removeParts(root: string, files: readonly Replacement[]): Promise<void> {
  for (const { part } of files) await rm(join(root, part), { force: true }).catch(() => {})
}

/**
 * Puts the new file in its place, or deletes the old one. Returns false if somebody has changed something at the path
 * since it was seen, or if a folder of the path is a link now.
 */
async function replace(root: string, file: Replacement, seen: BigIntStats | undefined): Promise<boolean> {
  const { path, to, part } = file
  const near = await nearestFolder(root, path)
  if ((await realpath(near)) !== near) return false
  if (to) await mkdir(dirname(join(root, path)), { recursive: true })
  return replaceNow(join(root, path), to ? join(root, part) : undefined, seen)
}

/**
 * Checks the path a last time, and then renames or deletes. Both are synchronous: nothing else of this process runs in between,
 * and other processes have hardly any time to change the path.
 */
function replaceNow(path: string, part: string | undefined, seen: BigIntStats | undefined): boolean {
  const folder = dirname(path)
  if (realpathSync(folder) !== folder) return false
  const now = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (!isSame(seen, now)) return false
  if (part !== undefined) renameSync(part, path)
  else if (now) unlinkSync(path)
  return true
}

function isSame(before: BigIntStats | undefined, now: BigIntStats | undefined): boolean {
  if (!before || !now) return before === now
  return (['ino', 'size', 'mode', 'mtimeNs', 'ctimeNs'] as const).every((key) => before[key] === now[key])
}

/** Throws if something stands where a file would be written: an ignored file, a folder, a link on the way. */
export async function refuseObstacles(root: string, files: readonly Difference[]): Promise<void> {
  const deleted = new Set(files.filter(({ to }) => !to).map(({ path }) => path))
  for (const { path, from, to } of files) {
    if (from || !to) continue
    const steps = path.split('/')
    for (const [i] of steps.entries()) {
      const at = steps.slice(0, i + 1).join('/')
      const found = await lstat(join(root, at)).catch(() => undefined)
      if (!found || deleted.has(at)) break
      if (i < steps.length - 1 && found.isDirectory()) continue
      if (found.isDirectory() && (await hasOnly(deleted, root, at))) continue
      throw new WorktreeRefused(`${join(root, at)} is in the way. Move it away first.`, [at])
    }
  }
}

/** Whether a folder has no file but the given ones. */
async function hasOnly(files: ReadonlySet<string>, root: string, folder: string): Promise<boolean> {
  for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory() ? !(await hasOnly(files, root, path)) : !files.has(path)) return false
  }
  return true
}

type Named = FileVersion & { readonly path: string }

/** Returns the paths whose files equal the given side: they have its content, or are absent if the side has no file. */
async function unchangedSince(
  seen: Compared['seen'],
  files: readonly Replacement[],
  side: 'from' | 'to',
  differing: (expected: readonly Named[]) => Promise<ReadonlySet<string>>,
): Promise<ReadonlySet<string>> {
  const there = files.flatMap(({ path, [side]: version }) => (version ? [{ path, ...version }] : []))
  const different = await differing(there)
  const same = new Set(there.flatMap(({ path }) => (different.has(path) ? [] : [path])))
  for (const { path, [side]: version } of files) if (!version && !seen.get(path)) same.add(path)
  return same
}

/** Returns the file at a path. A folder counts as no file, because it is removed when its files are deleted. */
async function fileAt(root: string, path: string): Promise<BigIntStats | undefined> {
  const found = await lstat(join(root, path), { bigint: true }).catch(() => undefined)
  return found?.isDirectory() ? undefined : found
}

/** Lets git compare files with what they should be, by an index that has only these files. */
function indexComparison(machine: Machine, main: Repository, head: string) {
  return (expected: readonly Named[]): Promise<ReadonlySet<string>> =>
    withOwnIndex(machine, main, head, async ({ run, tryRun }) => {
      await tryRun(['update-index', '-z', '--index-info'], indexLines(expected))
      await tryRun(['update-index', '-q', '--refresh'], '')
      return new Set(namesIn(await run(['diff-files', '-z', '--name-only'])))
    })
}

/**
 * Returns a path for a new file in the nearest folder that is there already, so that the rename stays on one file
 * system.
 */
export async function partFor(root: string, path: string, name: string): Promise<string> {
  return join(await nearestFolder(root, path), `.atrium-${name}`).slice(root.length + 1)
}

/**
 * Returns the nearest folder above a path that is there already. A file that will be deleted may still be in the way.
 */
async function nearestFolder(root: string, path: string): Promise<string> {
  let folder = dirname(join(root, path))
  while (folder !== root && !(await lstat(folder).catch(() => undefined))?.isDirectory())
    folder = dirname(folder)
  return folder
}

/** Copies a staged file, durably. */
async function copyEntry(from: string, to: string): Promise<true> {
  await rm(to, { force: true })
  if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to)
  else {
    await copyFile(from, to)
    await syncFile(to)
  }
  return true
}

/** Like git, deletes the folders that a deletion has left empty. An earlier run may have deleted some of them. */
async function removeEmpty(root: string, path: string): Promise<void> {
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder))
    try {
      await rmdir(join(root, folder))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') return
    }
}
