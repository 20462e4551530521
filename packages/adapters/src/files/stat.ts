import type { BigIntStats } from 'node:fs'
import type { FileStat } from '@atrium/host/ports/files'

export function factsAt(path: string, stats: BigIntStats): FileStat {
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
 * A file that was replaced is another inode, one that was written to has another time. Where the clock of a filesystem is
 * coarse, two changes of the same length within one tick of it by other programs may look like one.
 */
export function etagOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].map((part) => part.toString(36)).join('-')
}
