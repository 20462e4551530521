import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, link, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../process/error-code.ts'

/** Thrown for a token that must not be used. The message says why, and what to do. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
}

/** Returns the token of a data folder. It is created once and kept, so that clients can reconnect after a restart. */
export async function tokenOf(folder: string): Promise<string> {
  await privateFolder(folder)
  const path = tokenPath(folder)
  const found = await readToken(path).catch(ifMissing)
  if (found !== undefined) return found
  const fresh = await writeFresh(folder)
  // `link` is atomic and never replaces a file, so a token that another host has just created is kept.
  await link(fresh, path).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  await rm(fresh)
  return readToken(path)
}

/** Replaces the token. Clients with the old one are refused after the next start of the host. */
export async function rotateToken(folder: string): Promise<string> {
  await privateFolder(folder)
  const [fresh, path] = [await writeFresh(folder), tokenPath(folder)]
  await rename(fresh, path).catch(async (error: unknown) => {
    await rm(fresh)
    // Reading says what is wrong with the place.
    await readToken(path)
    throw error
  })
  return readToken(tokenPath(folder))
}

/** Reads a token file. Refuses a file that another user could have read or written. */
export async function readToken(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch((error: unknown) => {
    if (codeOf(error) === 'ELOOP')
      throw new TokenRefused(`${path} is a link; put the token file itself there.`)
    throw error
  })
  try {
    const found = await file.stat()
    const { mode, uid } = found
    if (found.isDirectory())
      throw new TokenRefused(
        `${path} is a folder where the token file belongs; move it away and start again.`,
      )
    const me = process.getuid?.()
    if (me !== undefined && uid !== me && uid !== 0)
      throw new TokenRefused(`${path} belongs to another user; remove it and start again.`)
    if (me !== undefined && (mode & 0o077) !== 0)
      throw new TokenRefused(`${path} is open to others; run: chmod 600 '${path}'`)
    return checkedToken((await file.readFile('utf8')).trim(), path)
  } finally {
    await file.close()
  }
}

/**
 * Returns a token if it can be used, else throws. A token must be too long to guess, and have only characters that
 * need no escaping in URLs, headers and protocol names.
 */
export function checkedToken(token: string, from: string): string {
  if (/^[A-Za-z0-9_-]{16,512}$/.test(token)) return token
  throw new TokenRefused(`The token from ${from} is not 16 to 512 letters, digits, '-' and '_'.`)
}

/** Makes sure that the folder exists and that only its owner can enter it, whatever the umask is. */
export async function privateFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    if (codeOf(error) === 'EEXIST' || codeOf(error) === 'ENOTDIR')
      throw new TokenRefused(
        `${folder} is no folder, or below a file; move the file away, or name a folder with --data.`,
      )
    throw error
  })
  const { mode } = await lstat(folder)
  if ((mode & 0o777) === 0o700 || process.getuid === undefined) return
  // A folder with other files, such as a home folder named by mistake, keeps its permissions.
  const names = made === undefined ? await readdir(folder) : []
  if (names.length > 0 && !names.includes('token'))
    throw new TokenRefused(
      `${folder} is open to others and holds other files; name another folder with --data, or run: chmod 700 '${folder}'`,
    )
  await chmod(folder, 0o700)
}

export function tokenPath(folder: string): string {
  return join(folder, 'token')
}

async function writeFresh(folder: string): Promise<string> {
  const path = join(folder, `token.${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(`${randomBytes(32).toString('base64url')}\n`)
    await file.sync()
  } finally {
    await file.close()
  }
  return path
}

function ifMissing(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}
