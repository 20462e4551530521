import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { chmod, link, lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** What keeps a token from being used, as a sentence with the way out. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused'
}

/** The token of a data folder; made when there is none, so that clients survive a restart. */
export async function tokenOf(folder: string): Promise<string> {
  await privateFolder(folder)
  const path = tokenPath(folder)
  const found = await readToken(path).catch(ifMissing)
  if (found !== undefined) return found
  const fresh = await writeFresh(folder)
  // A link appears whole or not at all, and never over one that another host has just made.
  await link(fresh, path).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  await rm(fresh)
  return readToken(path)
}

/** A new token in place of the old one. Whoever holds the old one is refused once the host has started again. */
export async function rotateToken(folder: string): Promise<string> {
  await privateFolder(folder)
  await rename(await writeFresh(folder), tokenPath(folder))
  return readToken(tokenPath(folder))
}

/** A token that somebody else could have read, or put there, is none. */
export async function readToken(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)).catch((error: unknown) => {
    if (codeOf(error) === 'ELOOP')
      throw new TokenRefused(`${path} is a link; put the token file itself there.`)
    throw error
  })
  try {
    const { mode, uid } = await file.stat()
    const me = process.getuid?.()
    if (me !== undefined && uid !== me && uid !== 0)
      throw new TokenRefused(`${path} belongs to another user; remove it and start again.`)
    if (me !== undefined && (mode & 0o077) !== 0)
      throw new TokenRefused(`${path} can be read by others; run: chmod 600 '${path}'`)
    return checkedToken((await file.readFile('utf8')).trim(), path)
  } finally {
    await file.close()
  }
}

/** A token stands in URLs, headers and protocol names without being escaped, and is not to be guessed. */
export function checkedToken(token: string, from: string): string {
  if (/^[A-Za-z0-9_-]{16,512}$/.test(token)) return token
  throw new TokenRefused(`The token from ${from} is not 16 to 512 letters, digits, '-' and '_'.`)
}

/** The folder exists and is ours alone, whatever the umask. */
export async function privateFolder(folder: string): Promise<void> {
  const made = await mkdir(folder, { recursive: true, mode: 0o700 })
  const { mode } = await lstat(folder)
  if ((mode & 0o777) === 0o700 || process.getuid === undefined) return
  // Somebody's home or /tmp, named by mistake, keeps its modes.
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

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}
