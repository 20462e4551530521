import { open } from 'node:fs/promises'
import { codeOf } from './error-code.ts'

/**
 * Flushes the names in a folder, so that they survive a power cut. Does nothing on systems that cannot flush folders.
 */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path).catch(() => undefined)
  try {
    await folder?.sync()
  } catch (error) {
    if (!unable.has(codeOf(error) ?? '')) throw error
  } finally {
    await folder?.close()
  }
}

const unable = new Set(['EPERM', 'EINVAL', 'EISDIR', 'EBADF', 'EACCES', 'ENOTSUP'])
