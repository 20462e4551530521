import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { link, open, rename, unlink } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Entry } from './containment.ts'
import type { Held } from './held-file.ts'
import { codeOf } from './errors.ts'
import type { Raw } from './byte-path.ts'

/**
 * Makes a file beside its place, fills it, and puts it there in one step once it is on the disk: whoever looks, and whatever
 * fails, finds the old one or the new one (F-40c). A host that is killed meanwhile leaves the unfinished one behind.
 */
export async function settle(
  { dir, name }: Entry,
  fill: (file: FileHandle) => Promise<void>,
  { like, fresh }: { readonly like?: BigIntStats | undefined; readonly fresh: boolean },
): Promise<void> {
  const temp = tempName()
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants
  // Nobody reads meanwhile what only some may read.
  const file = await open(dir.at(temp), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, like ? 0o600 : 0o666)
  try {
    try {
      if (like) await resemble(file, like)
      await fill(file)
      await file.sync()
    } finally {
      await file.close()
    }
    await put(dir, temp, dir, name, fresh)
  } catch (error) {
    await unlink(dir.at(temp)).catch(() => {})
    throw error
  }
  await syncDirectory(dir)
}

/** Gives something another name in one step. A fresh one takes nobody's place: of several exactly one succeeds. */
export async function put(from: Held, old: Raw, to: Held, name: Raw, fresh: boolean): Promise<void> {
  if (!fresh) return rename(from.at(old), to.at(name))
  try {
    await link(from.at(old), to.at(name))
  } catch (error) {
    if (!linkless.has(codeOf(error) ?? '')) throw error
    // Without links an empty file has to take the place first.
    await (await open(to.at(name), 'wx')).close()
    return rename(from.at(old), to.at(name))
  }
  await unlink(from.at(old))
}

export const tempName = (): Raw => `.atrium-${randomBytes(8).toString('hex')}.tmp`

/** What was renamed is there after a power cut too. Not every system can be asked for that. */
export async function syncDirectory(dir: Held): Promise<void> {
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

/** Filesystems without hard links say one of these; so does a system that lets nobody link what is another user's. */
const linkless = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/** Without the bits that lend a user's rights: new bytes have not earned them. */
async function resemble(file: FileHandle, { mode, uid, gid }: BigIntStats): Promise<void> {
  const mine = await file.stat({ bigint: true })
  // Only some may give files away; where that is refused, it is the writer's.
  if (mine.uid !== uid || mine.gid !== gid) await file.chown(Number(uid), Number(gid)).catch(() => {})
  await file.chmod(Number(mode & 0o777n))
}
