import type { BigIntStats } from 'node:fs'
import type { FileStat } from '@atrium/host/ports/files'

export function fileStat(path: string, stats: BigIntStats): FileStat {
  return {
    path,
    type: stats.isSymbolicLink() ? 'symlink' : stats.isDirectory() ? 'directory' : 'file',
    size: Number(stats.size),
    mtime: Number(stats.mtimeNs / 1_000_000n),
    ctime: Number(stats.ctimeNs / 1_000_000n),
    etag: etagOf(stats),
  }
}

/**
 * Returns the etag of a file. It changes when the file is replaced (another inode) or written (another time). Limit:
 * on a file system with a coarse clock, two writes of the same length by other programs within one tick give the same
 * etag.
 */
export function etagOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join('-')
}
