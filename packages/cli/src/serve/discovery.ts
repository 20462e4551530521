import { constants, readFileSync } from 'node:fs'
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CommandError, systemCode } from '../terminal/exit.ts'

/** The content of `host.json`: the address of the running host of a data folder, for commands of the same user. */
export interface HostFile {
  readonly url: string
  /** Absent for a host without a token, and for a token that is in no file. */
  readonly tokenFile?: string
  readonly pid: number
  readonly version: string
}

/** Writes `host.json` atomically, readable for this user only. */
export async function announceHost(data: string, host: HostFile): Promise<void> {
  const path = pathIn(data)
  const temporary = `${path}.${host.pid}`
  await writeFile(temporary, `${JSON.stringify(host)}\n`, { mode: 0o600 })
  await rename(temporary, path)
}

/** Removes `host.json` if this process wrote it: another host may have replaced it. */
export async function withdrawHost(data: string, pid: number): Promise<void> {
  const found = await readHost(data).catch(() => undefined)
  if (found?.pid === pid) await rm(pathIn(data), { force: true })
}

/** Returns the host of a data folder, or undefined if no host was announced or its process is gone. */
export async function findHost(data: string): Promise<HostFile | undefined> {
  const found = await readHost(data)
  return found && isRunning(found.pid) ? found : undefined
}

async function readHost(data: string): Promise<HostFile | undefined> {
  const path = pathIn(data)
  const text = await readOwn(path)
  if (text === undefined) return undefined
  try {
    // Every field is checked below.
    const { url, tokenFile, pid, version } = JSON.parse(text) as Record<string, unknown>
    if (typeof url === 'string' && typeof pid === 'number' && typeof version === 'string')
      return { url, pid, version, ...(typeof tokenFile === 'string' && { tokenFile }) }
  } catch {
    // Malformed JSON is reported below.
  }
  throw new CommandError(`${path} cannot be read; remove it and start the host again.`)
}

/**
 * Reads a file that only this user can write. If another user could write it, that user could redirect the token and the
 * messages to another host.
 */
async function readOwn(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined
      throw new CommandError(
        `${path} cannot be read (${error.code ?? 'unknown'}); check its permissions or remove it.`,
      )
    },
  )
  if (!file) return undefined
  try {
    const { mode, uid } = await file.stat()
    const me = process.getuid?.()
    if (me !== undefined && (uid !== me || (mode & 0o077) !== 0))
      throw new CommandError(
        `${path} can be read or changed by other users; remove it and start the host again.`,
      )
    return await readFile(file, 'utf8')
  } finally {
    await file.close()
  }
}

/** Whether a process runs. The error `EPERM` means that it does, and belongs to another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch (error) {
    return systemCode(error) === 'EPERM'
  }
}

/** Whether a process has ended, but its parent has not noticed yet. Known on Linux only. */
function isZombie(pid: number): boolean {
  try {
    // The name of the program is in parentheses, and may contain parentheses itself.
    return /^.*\) [ZX] /s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

function pathIn(data: string): string {
  return join(data, 'host.json')
}
