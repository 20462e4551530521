import { constants } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { link, open, rename, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { DirectoryEntry } from './containment.ts'
import type { HeldFile } from './held-file.ts'
import { codeOf } from '../process/error-code.ts'
import type { Unfinished } from './unfinished.ts'

export interface ReplaceOptions {
  /** The file whose owner and permissions the new file takes over. */
  readonly attributesOf?: BigIntStats | undefined
  /** Whether the call fails with EEXIST if a file of that name exists. */
  readonly exclusive: boolean
  readonly unfinished: Unfinished
}

/**
 * Writes a temporary file in the same directory, flushes it to the disk and renames it. Readers find the old file or the
 * new one, also after a crash at any moment (F-40c). The next start deletes the temporary file of a host that was killed.
 */
export async function atomicReplace(
  entry: DirectoryEntry,
  fill: (file: FileHandle) => Promise<void>,
  options: ReplaceOptions,
): Promise<void> {
  const { dir } = entry
  await options.unfinished.withName(dir, (name) => replaceBy({ dir, name }, entry, fill, options))
  await syncDirectory(dir)
}

async function replaceBy(
  temp: DirectoryEntry,
  entry: DirectoryEntry,
  fill: (file: FileHandle) => Promise<void>,
  { attributesOf, exclusive }: ReplaceOptions,
): Promise<void> {
  const { dir } = entry
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants
  // A file that replaces another one starts with mode 600: nobody else may open it before it has the permissions of the
  // old file.
  const mode = attributesOf ? 0o600 : 0o666
  const file = await open(dir.childPath(temp.name), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, mode)
  try {
    try {
      if (attributesOf) await copyAttributes(file, attributesOf)
      await fill(file)
      await file.sync()
    } finally {
      await file.close()
    }
    await renameEntry(temp, entry, exclusive)
  } catch (error) {
    await unlink(dir.childPath(temp.name)).catch(() => {})
    throw error
  }
}

/** Renames in one step. With `exclusive`, no existing file is replaced: of several concurrent calls exactly one succeeds. */
export async function renameEntry(
  from: DirectoryEntry,
  to: DirectoryEntry,
  exclusive: boolean,
): Promise<void> {
  const [fromPath, toPath] = [from.dir.childPath(from.name), to.dir.childPath(to.name)]
  if (!exclusive) return rename(fromPath, toPath)
  try {
    await link(fromPath, toPath)
  } catch (error) {
    if (!hardLinkRefused.has(codeOf(error) ?? '')) throw error
    // If hard links are refused, an empty file reserves the name: `wx` fails if the name exists.
    await (await open(toPath, 'wx')).close()
    return rename(fromPath, toPath)
  }
  await unlink(fromPath)
}

/**
 * Flushes a directory, so that a rename in it survives a power cut. Does nothing on systems that cannot flush
 * directories.
 */
export async function syncDirectory(dir: HeldFile): Promise<void> {
  const handle = await dir.open(constants.O_RDONLY).catch(() => undefined)
  try {
    await handle?.sync()
  } catch (error) {
    if (!['EPERM', 'EINVAL', 'EISDIR', 'EBADF', 'EACCES', 'ENOTSUP'].includes(codeOf(error) ?? ''))
      throw error
  } finally {
    await handle?.close()
  }
}

/** Errors of file systems without hard links, and of systems that forbid a link to another user's file. */
const hardLinkRefused = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * Copies owner and permissions, but not setuid and setgid: those rights were given to the old content, not to the new
 * one.
 */
async function copyAttributes(file: FileHandle, { mode, uid, gid }: BigIntStats): Promise<void> {
  const own = await file.stat({ bigint: true })
  // Only privileged users may give files away. For all others the file belongs to the writer.
  if (own.uid !== uid || own.gid !== gid) await file.chown(Number(uid), Number(gid)).catch(() => {})
  await file.chmod(Number(mode & 0o777n))
}
