import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import type { ProcessIdentity } from '../process/process-identity.ts'

/** The mark of a host in a place: who the host is, and in which folders it was active. */
export interface Mark extends ProcessIdentity {
  readonly folders: ReadonlyMap<string, Noted>
}

/** What a host has noted about a folder: the number of its last note, and how many of its turns are active. */
export interface Noted {
  readonly number: number
  readonly active: number
}

/** Writes a mark in place: a rename would wait for the disk. What is left of a longer text is overwritten with spaces. */
export function writeMark(path: string, { folders, ...identity }: Mark): void {
  const rows = [...folders].map(([folder, { number, active }]) => [folder, number, active])
  const text = Buffer.from(JSON.stringify({ version: 1, ...identity, folders: rows }))
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const file = openSync(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    const stat = fstatSync(file)
    if (!stat.isFile() || stat.size > mostBytes) return
    writeSync(file, Buffer.concat([text, Buffer.alloc(Math.max(stat.size - text.length, 0), ' ')]))
  } finally {
    closeSync(file)
  }
}

/** A mark that was found. `age`: how long ago it was written, in ms. */
export interface Found {
  readonly mark: Mark | undefined
  readonly age: number
}

/**
 * Reads a mark. Anybody who can write to a repository can put anything in its place. So links are not followed, a FIFO is not
 * waited for, and a file that is large or belongs to another user is no mark.
 */
export function readMark(path: string): Found {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  let file: number | undefined
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    const stat = fstatSync(file)
    const isOwn = process.getuid === undefined || stat.uid === process.getuid()
    const isRead = stat.isFile() && isOwn && stat.size <= mostBytes
    const age = Date.now() - stat.mtimeMs
    // The host may be writing. This takes less time than a second attempt.
    for (let i = 0; isRead && i < attempts; i++) {
      const buffer = Buffer.alloc(stat.size)
      const mark = parseMark(buffer.toString('utf8', 0, readSync(file, buffer, { position: 0 })))
      if (mark) return { mark, age }
    }
    return { mark: undefined, age }
  } catch {
    return { mark: undefined, age: 0 }
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function parseMark(text: string): Mark | undefined {
  const read = parsed(text)
  if (typeof read !== 'object' || read === null) return undefined
  const { version, machine, boot, namespace, pid, started, folders }: Partial<Record<string, unknown>> = {
    ...read,
  }
  if (version !== 1 || typeof pid !== 'number' || !(pid > 0) || !Array.isArray(folders)) return undefined
  if (typeof machine !== 'string' || typeof boot !== 'string') return undefined
  if (typeof namespace !== 'string' || typeof started !== 'string') return undefined
  const noted = folders.flatMap((row: unknown) => {
    const [path, number, active]: readonly unknown[] = Array.isArray(row) ? row : []
    return typeof path === 'string' && typeof number === 'number' && typeof active === 'number'
      ? [[path, { number, active }] as const]
      : []
  })
  return { machine, boot, namespace, pid, started, folders: new Map(noted) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const attempts = 3

/** In bytes. */
const mostBytes = 256 * 1024
