import { constants, fstatSync, readlinkSync } from 'node:fs'
import type { Dirent, Stats } from 'node:fs'
import { lstat, open, opendir, readdir, realpath } from 'node:fs/promises'

/** An open directory. Renaming or replacing its path does not change which directory this is. */
export interface OpenDirectory {
  readonly ino: number
  /** A path for system calls. It leads to this directory while the directory is open. */
  readonly path: string
  /** Returns all names, and whether each is a directory. Returns undefined if there are more than `most` names. */
  list(most: number): Promise<ReadonlyMap<string, boolean> | undefined>
  /** Returns the same as `list`, but only for the given names. Names that do not exist are left out. */
  lookUp(names: Iterable<string>): Promise<ReadonlyMap<string, boolean>>
  /** Returns the ctime of an entry, in milliseconds. */
  changeTime(name: string): Promise<number | undefined>
  close(): Promise<void>
}

/** Opens a directory by a descriptor. Throws if a link is part of the path. */
export async function openByDescriptor(path: string): Promise<OpenDirectory> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const fdPath = `/proc/self/fd/${handle.fd}`
  try {
    if (readlinkSync(fdPath) !== path) throw movedElsewhere()
    return openDirectory(fdPath, fstatSync(handle.fd), () => handle.close())
  } catch (error) {
    await handle.close()
    throw error
  }
}

/**
 * Opens a directory by its path, for systems without `/proc`. A directory that is replaced between two calls goes
 * unnoticed.
 */
export async function openByPath(path: string): Promise<OpenDirectory> {
  const stat = await lstat(path)
  if (!stat.isDirectory() || (await realpath(path)).replaceAll('\\', '/') !== path) throw movedElsewhere()
  return openDirectory(path, stat, async () => {})
}

function openDirectory(path: string, { ino, size }: Stats, close: () => Promise<void>): OpenDirectory {
  return {
    ino,
    path,
    close,
    async list(most) {
      const found = new Map<string, boolean>()
      const add = (entry: Dirent) => found.set(entry.name, entry.isDirectory())
      if (size <= largeBytes) for (const entry of await readdir(path, { withFileTypes: true })) add(entry)
      else
        for await (const entry of await opendir(path, { bufferSize: 1000 }))
          if (add(entry).size > most) return undefined
      return found.size > most ? undefined : found
    },
    async lookUp(names) {
      const found = new Map<string, boolean>()
      for (const name of names) {
        const stat = await lstat(`${path}/${name}`).catch(() => undefined)
        if (stat) found.set(name, stat.isDirectory())
      }
      return found
    },
    changeTime: async (name) => (await lstat(`${path}/${name}`).catch(() => undefined))?.ctimeMs,
  }
}

/** Returns an error with the code ENOENT: the directory that was watched is no longer at its path. */
function movedElsewhere(): Error {
  return Object.assign(new Error('a link leads elsewhere'), { code: 'ENOENT' })
}

/**
 * The size of a directory file, in bytes, above which the directory is read in parts: one `readdir` of 100,000 names
 * blocks the event loop for 50 ms.
 */
const largeBytes = 64 * 1024
