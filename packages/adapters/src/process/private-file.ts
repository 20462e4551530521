import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, open, rm } from 'node:fs/promises'
import { codeOf } from './error-code.ts'

/**
 * Returns the text of a file that holds a secret. If there is no such file, it is created with the text of `made`,
 * readable for its owner only. A file that others can read is refused.
 */
export async function privateFile(path: string, made: () => string): Promise<string> {
  const found = await read(path)
  if (found !== undefined) return found
  const fresh = `${path}.${randomBytes(8).toString('hex')}`
  const file = await open(fresh, 'wx', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(made())
    await file.sync()
  } finally {
    await file.close()
  }
  // `link` is atomic and never replaces a file, so a secret that another process has just made is kept.
  await link(fresh, path).catch((error: unknown) => {
    if (codeOf(error) !== 'EEXIST') throw error
  })
  await rm(fresh)
  return (await read(path)) ?? ''
}

async function read(path: string): Promise<string | undefined> {
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
