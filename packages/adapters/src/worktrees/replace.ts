import { copyFile, lstat, mkdir, readdir, readlink, rename, rm, rmdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { WorktreeRefused } from '@atrium/host/ports/worktrees'
import type { Repository } from '../git/repository.ts'
import { codeOf } from '../process/error-code.ts'
import { namesIn } from './checkout.ts'
import { withOwnIndex } from './machine.ts'
import type { Machine } from './machine.ts'

/** One side of a changed file, as git names it. */
export interface FileVersion {
  readonly mode: string
  readonly object: string
}

/** A file that is to be written, replaced or deleted. */
export interface Replacement {
  readonly path: string
  /** Absent: there is no file. */
  readonly from?: FileVersion
  /** Absent: the file is deleted. */
  readonly to?: FileVersion
}

export interface Replacing {
  readonly id: string
  /** The folder with the new files. */
  readonly stage: string
  readonly files: readonly Replacement[]
  /** A commit of the repository. */
  readonly head: string
}

/**
 * Replaces files of a checkout by the files in `stage`. A file that is neither the old nor the new one is left as it is, and
 * returned. All new contents are on the disk beside their places before the first file is touched, so that a full disk
 * changes nothing.
 */
export async function replaceFiles(
  machine: Machine,
  main: Repository,
  { id, stage, files, head }: Replacing,
): Promise<readonly string[]> {
  const differing = indexComparison(machine, main, head)
  const isNew = await unchangedSince(main.root, files, 'to', differing)
  const isOld = await unchangedSince(main.root, files, 'from', differing)
  const open = files.filter((file) => !isNew.has(file.path) && isOld.has(file.path))
  const left = new Set(files.flatMap(({ path }) => (isNew.has(path) || isOld.has(path) ? [] : [path])))
  const parts = new Map<string, string>()
  try {
    for (const [i, { path, to }] of open.entries()) {
      if (!to) continue
      const part = join(await nearestFolder(main.root, path), `.atrium-${id}-${i}`)
      parts.set(path, part)
      await copyEntry(join(stage, path), part)
    }
    for (const { path, to } of open) if (!to) await deleteFile(main.root, path)
    for (const [path, part] of parts) {
      if (!(await moveInto(part, join(main.root, path)))) left.add(path)
    }
  } finally {
    for (const part of parts.values()) await rm(part, { force: true })
  }
  return [...left]
}

/** Returns false if something is in the way, which somebody has put there meanwhile. */
async function moveInto(part: string, path: string): Promise<boolean> {
  try {
    await mkdir(dirname(path), { recursive: true })
    await rename(part, path)
    return true
  } catch (error) {
    if (['EISDIR', 'ENOTEMPTY', 'ENOTDIR', 'EEXIST'].includes(codeOf(error) ?? '')) return false
    throw error
  }
}

/** Throws if something stands where a file would be written: an ignored file, a folder, a link on the way. */
export async function refuseObstacles(root: string, files: readonly Replacement[]): Promise<void> {
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

/** The paths whose files are the given side: with its content, or absent as there. */
async function unchangedSince(
  root: string,
  files: readonly Replacement[],
  side: 'from' | 'to',
  differing: (expected: readonly Named[]) => Promise<ReadonlySet<string>>,
): Promise<ReadonlySet<string>> {
  const there = files.flatMap(({ path, [side]: version }) => (version ? [{ path, ...version }] : []))
  const different = await differing(there)
  const same = new Set(there.flatMap(({ path }) => (different.has(path) ? [] : [path])))
  for (const { path, [side]: version } of files)
    if (!version && (await isFree(join(root, path)))) same.add(path)
  return same
}

/** Whether there is no file at a path. A folder may be there: it goes when its files are deleted. */
async function isFree(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return !found || found.isDirectory()
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

/** Entries in the form of `git update-index -z --index-info`. */
export function indexLines(entries: readonly Named[]): string {
  return entries.map(({ path, mode, object }) => `${mode} ${object}\t${path}\0`).join('')
}

/** The nearest folder above a path that is there already. A file that will be deleted may still be in the way. */
async function nearestFolder(root: string, path: string): Promise<string> {
  let folder = dirname(join(root, path))
  while (folder !== root && !(await lstat(folder).catch(() => undefined))?.isDirectory())
    folder = dirname(folder)
  return folder
}

async function copyEntry(from: string, to: string): Promise<void> {
  await rm(to, { force: true })
  if ((await lstat(from)).isSymbolicLink()) await symlink(await readlink(from), to)
  else await copyFile(from, to)
}

/** Deletes a file, and the folders that are empty then, as git does. */
async function deleteFile(root: string, path: string): Promise<void> {
  await rm(join(root, path), { force: true })
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
    const removed = await rmdir(join(root, folder)).then(
      () => true,
      () => false,
    )
    if (!removed) return
  }
}
