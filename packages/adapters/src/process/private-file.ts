import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { codeOf } from './error-code.ts'

/**
 * Returns the text of a file that holds a secret. If there is no such file, it is created with the text of `made`,
 * readable for its owner only. A file that others can read is refused.
 */
export async function privateFile(path: string, made: () => string): Promise<string> {
  const found = await readPrivateFile(path)
  if (found !== undefined) return found
  const fresh = await written(path, made())
  // `link` is atomic and never replaces a file, so a secret that another process has just made is kept.
  await link(fresh, path).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  await rm(fresh)
  return (await readPrivateFile(path)) ?? ''
}

/** Replaces a file that holds secrets. A crash leaves the old text or the new one. */
export async function replacePrivateFile(path: string, text: string): Promise<void> {
  await rename(await written(path, text), path)
}

/** Writes a text to a new file beside `path`, readable for its owner only. Returns the path of the new file. */
async function written(path: string, text: string): Promise<string> {
  const fresh = `${path}.${randomBytes(8).toString('hex')}`
  const file = await open(fresh, 'wx', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  return fresh
}

/** Returns the text of a file that holds secrets; undefined if there is none. A file that others can read is refused. */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)
  const file = await open(path, flags).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const { mode } = await file.stat()
    if (process.getuid !== undefined && (mode & 0o077) !== 0)
      throw new Error(`${path} is open to others; run: chmod 600 '${path}'`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
