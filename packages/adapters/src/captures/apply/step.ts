import { lstatSync, realpathSync, renameSync, unlinkSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { mkdir, open, rm, rmdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from '../../process/error-code.ts'
import { syncFolder } from '../../process/sync-folder.ts'
import type { Step } from './journal.ts'
import { hasVersion, parentsOf, presentAt } from './present.ts'
import type { Present } from './present.ts'

/**
 * Writes the wanted content of a step to its temporary file, and flushes it. The file gets the owner and permissions
 * of the present file, if there is one.
 */
export async function writeTemp(
  directory: string,
  step: Step,
  content: Uint8Array,
  present: Present,
): Promise<void> {
  const { temp, wanted } = step
  if (temp === undefined || !wanted) return
  const path = join(directory, temp)
  await rm(path, { force: true })
  if (wanted.mode === '120000') return symlink(Buffer.from(content), path)
  const file = await open(path, 'wx', 0o666)
  try {
    await file.writeFile(content)
    const kept =
      present.type === 'file' && present.mode !== '120000' ? present.stat : await file.stat({ bigint: true })
    await file.chmod(permissions(Number(kept.mode & 0o777n), wanted.mode === '100755'))
    if (present.type === 'file') await file.chown(Number(kept.uid), Number(kept.gid)).catch(() => {})
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Gives a path the wanted version of a step (content and mode), or deletes the file if no version is wanted. Does so
 * only if the path has the expected version. `restore` writes the temporary file again if it is gone. Returns
 * undefined if the step is done, else the reason why not. A path that already is as wanted counts as done, so that a
 * step can be repeated after a crash.
 */
export async function finishStep(
  directory: string,
  step: Step,
  restore: (present: Present) => Promise<void>,
): Promise<string | undefined> {
  const { path, expected, wanted, temp } = step
  const present = await presentAt(directory, path, [expected, wanted])
  const drop = async () => (temp === undefined ? undefined : rm(join(directory, temp), { force: true }))
  if (hasVersion(present, wanted)) {
    await drop()
    // The previous run may have been killed after it deleted the file and before it deleted the empty folders.
    if (!wanted) await removeEmpty(directory, path)
    return undefined
  }
  if (present.type === 'other' || !hasVersion(present, expected)) {
    await drop()
    return present.type === 'other' ? present.reason : changedReason
  }
  try {
    if (wanted) await mkdir(dirname(join(directory, path)), { recursive: true })
    if (temp !== undefined && !lstatSync(join(directory, temp), { throwIfNoEntry: false }))
      await restore(present)
    const problem = replaceNow(directory, step, present)
    if (problem !== undefined) {
      await drop()
      return problem
    }
    await syncFolder(dirname(join(directory, path)))
    if (!wanted) await removeEmpty(directory, path)
    return undefined
  } catch (error) {
    await drop()
    return `It could not be ${wanted ? 'written' : 'deleted'} (${codeOf(error) ?? 'unknown'}).`
  }
}

/**
 * Checks the path a last time, and then renames or deletes. Both are synchronous: nothing else of this process runs in between,
 * and other processes have hardly any time to change the path.
 */
function replaceNow(directory: string, { path, temp, wanted }: Step, present: Present): string | undefined {
  const full = join(directory, path)
  if (realpathSync(dirname(full)) !== dirname(full)) return 'A folder of its path is a link now.'
  const now = lstatSync(full, { bigint: true, throwIfNoEntry: false })
  if (!isSame(present.type === 'file' ? present.stat : undefined, now)) return changedReason
  if (wanted && temp !== undefined) renameSync(join(directory, temp), full)
  else unlinkSync(full)
  return undefined
}

function isSame(before: BigIntStats | undefined, now: BigIntStats | undefined): boolean {
  if (!before || !now) return before === now
  return (['ino', 'size', 'mode', 'mtimeNs', 'ctimeNs'] as const).every((key) => before[key] === now[key])
}

/** Like git, deletes the folders that a deletion has left empty. */
async function removeEmpty(directory: string, path: string): Promise<void> {
  for (const parent of parentsOf(path).toReversed())
    try {
      await rmdir(join(directory, parent))
    } catch {
      return
    }
}

/** Returns the permissions of the new file: those of the old file, except for the permission to execute. */
function permissions(mode: number, executable: boolean): number {
  if (((mode & 0o100) !== 0) === executable) return mode
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
}

const changedReason = 'It was changed meanwhile.'
