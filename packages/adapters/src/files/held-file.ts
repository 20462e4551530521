import { closeSync, constants, existsSync, fstat, open as openFd, readlinkSync } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { lstat, open, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { changed, missing } from './errors.ts'
import { bytePathFromSystem, joinPath, systemPath } from './byte-path.ts'
import type { BytePath } from './byte-path.ts'

/**
 * A held file: a file, directory or link that was found at a path. If the path is renamed or replaced afterwards,
 * this is still the same file.
 */
export interface HeldFile {
  /** The path without links, at the moment the file was found. */
  readonly realPath: BytePath
  readonly stat: BigIntStats
  /** The path for system calls: on Linux the `/proc/self/fd` entry, which leads to this file and to no other. */
  readonly path: Buffer
  /** Returns the path of an entry of this directory, in the form for system calls (see `path`). */
  childPath(name: BytePath): Buffer
  /** Opens the content. Does not block on a FIFO without a writer. */
  open(flags: number): Promise<FileHandle>
  /** May be called twice. */
  close(): void
}

/**
 * On Linux, `/proc/self/fd` tells which file a descriptor stands for, so files are held by `O_PATH` descriptors. Other
 * systems fall back to real paths; there, a directory that is replaced between two system calls goes unnoticed.
 */
const byDescriptor = process.platform === 'linux' && existsSync('/proc/self/fd')

/**
 * Finds the file at a path. With `follow`, links are followed; otherwise a link itself is found. Never blocks, changes
 * nothing.
 */
export function holdFile(path: Buffer, follow: boolean): Promise<HeldFile> {
  return byDescriptor ? holdByDescriptor(path, follow) : holdByPath(path, follow)
}

/** The files that one operation holds, closed together at its end. */
export class Descriptors {
  readonly #files: HeldFile[] = []

  async hold(path: Buffer, follow: boolean): Promise<HeldFile> {
    const file = await holdFile(path, follow)
    this.#files.push(file)
    return file
  }

  closeAll(): void {
    for (const file of this.#files.splice(0)) file.close()
  }
}

/** Runs a task and closes the files it holds, whether the task succeeds or fails. */
export async function withDescriptors<T>(run: (descriptors: Descriptors) => Promise<T>): Promise<T> {
  const descriptors = new Descriptors()
  try {
    return await run(descriptors)
  } finally {
    descriptors.closeAll()
  }
}

export function isSameFile(a: HeldFile, b: HeldFile): boolean {
  return a.stat.ino === b.stat.ino && a.stat.dev === b.stat.dev
}

// Node has no constant for O_PATH (Linux). A descriptor opened with it cannot read, and opens no device or FIFO.
const O_PATH = 0o10000000
// Both are undefined on Windows, where `|` treats them as 0.
const { O_NOFOLLOW, O_NONBLOCK } = constants
const openDescriptor = promisify(openFd)
const statDescriptor = (fd: number): Promise<BigIntStats> =>
  new Promise((resolve, reject) =>
    fstat(fd, { bigint: true }, (error, stat) => (error ? reject(error) : resolve(stat))),
  )

async function holdByDescriptor(path: Buffer, follow: boolean): Promise<HeldFile> {
  const fd = await openDescriptor(path, O_PATH | (follow ? 0 : O_NOFOLLOW))
  let open = true
  const close = () => {
    if (open) closeSync(fd)
    open = false
  }
  try {
    const stat = await statDescriptor(fd)
    // The synchronous readlink and close cannot block: the kernel answers both from memory.
    const realPath = readlinkSync(`/proc/self/fd/${fd}`, 'latin1')
    if (realPath.endsWith(' (deleted)') && !(await isNamed(realPath, stat))) throw missing()
    return heldFile(`/proc/self/fd/${fd}`, { realPath, stat, close })
  } catch (error) {
    close()
    throw error
  }
}

/**
 * Whether the file still has this name. The kernel appends ` (deleted)` to the path of a removed file, but the name of an
 * existing file may end in the same way.
 */
async function isNamed(realPath: BytePath, { nlink, dev, ino }: BigIntStats): Promise<boolean> {
  if (nlink === 0n) return false
  const found = await lstat(systemPath(realPath), { bigint: true }).catch(() => undefined)
  return found?.ino === ino && found.dev === dev
}

function heldFile(path: BytePath, found: Pick<HeldFile, 'realPath' | 'stat' | 'close'>): HeldFile {
  return {
    ...found,
    path: systemPath(path),
    childPath: (name) => systemPath(joinPath(path, name)),
    open: (flags) => open(path, flags | O_NONBLOCK),
  }
}

async function holdByPath(path: Buffer, follow: boolean): Promise<HeldFile> {
  const realPath = bytePathFromSystem(follow ? await realpath(path, { encoding: 'buffer' }) : path)
  const stat = await lstat(systemPath(realPath), { bigint: true })
  if (follow && stat.isSymbolicLink()) throw changed()
  return {
    ...heldFile(realPath, { realPath, stat, close: () => {} }),
    async open(flags) {
      const handle = await open(systemPath(realPath), flags | O_NONBLOCK | O_NOFOLLOW)
      const { ino, dev, mode } = await handle.stat({ bigint: true })
      // The mode is compared too: file systems reuse the inode number of a deleted file, perhaps for another file type.
      if (ino === stat.ino && dev === stat.dev && mode === stat.mode) return handle
      await handle.close()
      throw changed()
    },
  }
}
