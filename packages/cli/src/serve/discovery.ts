import { constants } from 'node:fs'
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Problem } from '../terminal/exit.ts'

/** Where the host of a data folder is, for the commands of the same user. */
export interface Found {
  readonly url: string
  /** Where its token is; absent where it has none, or one that was typed and stands in no file. */
  readonly tokenFile?: string
  readonly pid: number
  readonly version: string
}

/** Told by a host that listens. Whole or not at all, and for this user alone. */
export async function announceHost(data: string, found: Found): Promise<void> {
  const path = pathIn(data)
  const fresh = `${path}.${found.pid}`
  await writeFile(fresh, `${JSON.stringify(found)}\n`, { mode: 0o600 })
  await rename(fresh, path)
}

/** Taken back by the host that told it, and by no other. */
export async function withdrawHost(data: string, pid: number): Promise<void> {
  const found = await readHost(data).catch(() => undefined)
  if (found?.pid === pid) await rm(pathIn(data), { force: true })
}

/** What was told last; nothing when no host did, or when it was ended without a word and its process is gone. */
export async function findHost(data: string): Promise<Found | undefined> {
  const found = await readHost(data)
  return found && lives(found.pid) ? found : undefined
}

async function readHost(data: string): Promise<Found | undefined> {
  const path = pathIn(data)
  const text = await readOwn(path)
  if (text === undefined) return undefined
  try {
    const { url, tokenFile, pid, version } = JSON.parse(text) as Record<string, unknown>
    if (typeof url === 'string' && typeof pid === 'number' && typeof version === 'string')
      return { url, pid, version, ...(typeof tokenFile === 'string' && { tokenFile }) }
  } catch {
    // Said below.
  }
  throw new Problem(`${path} cannot be read; remove it and start the host again.`)
}

/** One that others could have written would lead a token, and all that is typed, to whom they please. */
async function readOwn(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw new Problem(`${path} cannot be read (${error.code ?? 'unknown'}); see to its modes or remove it.`)
    },
  )
  if (!file) return undefined
  try {
    const { mode, uid } = await file.stat()
    const me = process.getuid?.()
    if (me !== undefined && (uid !== me || (mode & 0o077) !== 0))
      throw new Problem(`${path} is not yours alone; remove it and start the host again.`)
    return await readFile(file, 'utf8')
  } finally {
    await file.close()
  }
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function pathIn(data: string): string {
  return join(data, 'host.json')
}
