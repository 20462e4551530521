import { constants, existsSync, fstatSync, readlinkSync, watch } from 'node:fs'
import type { Dirent, Stats } from 'node:fs'
import { lstat, open, opendir, readdir, realpath, statfs } from 'node:fs/promises'
import { systemQueue } from './overflow.ts'
import type { EventQueue } from './overflow.ts'

/** What the system offers to somebody who wants to know what changes. */
export interface Means {
  /**
   * Whether each directory is watched for itself. Else the one watched first covers what is below it: a weaker form,
   * which knows of what happened in a new directory only what is there when that is first looked at.
   */
  readonly each: boolean
  /** Whether all changes are told of. Where they are made on other machines too, it takes looking again and again. */
  readonly sure: boolean
  readonly queue: EventQueue
  /** Throws where it cannot. `name` is `.` for the directory itself, and null where the system does not say. */
  watch(at: string, hear: Hear): Ear
  watchFile(path: string, hear: Hear): Ear
  enter(path: string): Promise<Entered>
}

export type Hear = (type: string, name: string | null) => void

export interface Ear {
  close(): void
}

/** A directory that was opened: whatever becomes of its path, this is it until it is left. */
export interface Entered {
  readonly ino: number
  /** A path that leads to it. */
  readonly at: string
  /** The names in it, and whether each is a directory itself; nothing where there are more than `most`. */
  list(most: number): Promise<ReadonlyMap<string, boolean> | undefined>
  /** The same of these names alone. */
  look(names: Iterable<string>): Promise<ReadonlyMap<string, boolean>>
  /** When something in it was last changed, in any way. */
  stamp(name: string): Promise<number | undefined>
  leave(): Promise<void>
}

/** What is to be had for a path. */
export async function meansFor(path: string): Promise<Means> {
  const { type } = await statfs(path).catch(() => ({ type: 0 }))
  return meansOn(type)
}

/** What is to be had on a file system, by the number that the system has for it. */
export function meansOn(type: number): Means {
  const means = process.platform === 'linux' ? eachMeans : wholeMeans
  return foreign.includes(type) ? { ...means, sure: false } : means
}

/** One watch for each directory. */
export const eachMeans: Means = {
  each: true,
  sure: true,
  queue: systemQueue,
  watch: (at, hear) => listen(`${at}/.`, false, hear),
  watchFile: (path, hear) => listen(path, false, hear),
  // Where the system can say what it opened, what is listed and watched is that, and in the place where it should be.
  enter: existsSync('/proc/self/fd') ? enterByHandle : enterByPath,
}

/** One watch for all. */
export const wholeMeans: Means = {
  ...eachMeans,
  each: false,
  watch: (at, hear) => listen(at, true, hear),
  enter: enterByPath,
}

/** Whether something is refused because the system, or this process, has no more of what it takes. */
export function isPoverty(error: unknown): boolean {
  return ['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM'].includes((error as NodeJS.ErrnoException).code ?? '')
}

/** Whether it may not be looked at, though it is there. */
export function isShut(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
}

/**
 * Watches never keep a process alive: what they tell is told to somebody who does. What happens to a directory itself is
 * told under the last name of the path that was watched first, of all the paths that lead to it: a dot is nobody else's.
 */
function listen(at: string, recursive: boolean, hear: Hear): Ear {
  const ear = watch(at, { persistent: false, recursive }, (type, name) => hear(type, name))
  ear.on('error', () => hear('rename', '.'))
  return ear
}

async function enterByHandle(path: string): Promise<Entered> {
  const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const at = `/proc/self/fd/${handle.fd}`
  try {
    if (readlinkSync(at) !== path) throw elsewhere()
    return entered(at, fstatSync(handle.fd), () => handle.close())
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function enterByPath(path: string): Promise<Entered> {
  const facts = await lstat(path)
  if (!facts.isDirectory() || (await realpath(path)).replaceAll('\\', '/') !== path) throw elsewhere()
  return entered(path, facts, async () => {})
}

function entered(at: string, { ino, size }: Stats, leave: () => Promise<void>): Entered {
  return {
    ino,
    at,
    leave,
    async list(most) {
      const found = new Map<string, boolean>()
      const put = (entry: Dirent) => found.set(entry.name, entry.isDirectory())
      if (size <= largeBytes) for (const entry of await readdir(at, { withFileTypes: true })) put(entry)
      else
        for await (const entry of await opendir(at, { bufferSize: 1000 }))
          if (put(entry).size > most) return undefined
      return found.size > most ? undefined : found
    },
    async look(names) {
      const found = new Map<string, boolean>()
      for (const name of names) {
        const facts = await lstat(`${at}/${name}`).catch(() => undefined)
        if (facts) found.set(name, facts.isDirectory())
      }
      return found
    },
    stamp: async (name) => (await lstat(`${at}/${name}`).catch(() => undefined))?.ctimeMs,
  }
}

function elsewhere(): Error {
  return Object.assign(new Error('a link leads elsewhere'), { code: 'ENOENT' })
}

/** A directory of some thousand names is read in pieces: 100,000 at once hold everything else up for 50 ms. */
const largeBytes = 64 * 1024

/** Of NFS, SMB (two), CIFS, AFS, 9p, FUSE and Ceph, as `statfs` calls them. */
const foreign: readonly number[] = [
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x5346414f, 0x01021997, 0x65735546, 0x00c36400,
]
