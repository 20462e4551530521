import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import type { BigIntStats } from 'node:fs'
import { lstat, open, readlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { CapturedFile } from '@atrium/host/ports/captures'

/** A version of a file: the hash of its content in the store, its mode, and its size in bytes. */
export interface Version {
  readonly hash: string
  readonly mode: CapturedFile['mode']
  readonly size: number
}

/** What exists at a path now. */
export type Present =
  | { readonly type: 'absent' }
  | {
      readonly type: 'file'
      readonly mode: CapturedFile['mode']
      /** Absent if no version has the size of the file, or if the file cannot be read. */
      readonly hash?: string
      readonly stat: BigIntStats
    }
  /** Something that an edit must not replace, such as a folder. `reason` is a sentence for users. */
  | { readonly type: 'other'; readonly reason: string }

/**
 * Looks at a path of a folder. A file is read only if it has the size of one of the versions.
 */
export async function presentAt(
  directory: string,
  path: string,
  versions: readonly (Version | undefined)[],
): Promise<Present> {
  for (const parent of parentsOf(path)) {
    const info = await lstat(join(directory, parent)).catch(() => undefined)
    if (!info) return { type: 'absent' }
    if (info.isSymbolicLink()) return { type: 'other', reason: 'A folder of its path is a link now.' }
    // If a file is in the place of a parent folder, nothing exists at the path. Another edit may delete that file
    // first.
    if (!info.isDirectory()) return { type: 'absent' }
  }
  const full = join(directory, path)
  const stat = await lstat(full, { bigint: true }).catch(() => undefined)
  if (!stat) return { type: 'absent' }
  if (stat.isDirectory()) return { type: 'other', reason: 'It is a folder now.' }
  if (!stat.isFile() && !stat.isSymbolicLink())
    return { type: 'other', reason: 'It is neither a file nor a link now.' }
  const mode = stat.isSymbolicLink() ? '120000' : (stat.mode & 0o100n) === 0n ? '100644' : '100755'
  const lengths = versions.flatMap((version) => (version ? [version.hash.length] : []))
  const fits = versions.some((version) => version && BigInt(version.size) === stat.size)
  const content = fits ? await contentOf(full, stat).catch(() => undefined) : undefined
  return { type: 'file', mode, stat, ...(content && { hash: blobHash(content, lengths[0] ?? 40) }) }
}

export function hasVersion(present: Present, version: Version | undefined): boolean {
  if (!version) return present.type === 'absent'
  return present.type === 'file' && present.hash === version.hash && present.mode === version.mode
}

/** Returns the object id that git gives to a content, with `length` hex digits: 40 for SHA-1, 64 for SHA-256. */
export function blobHash(content: Uint8Array, length: number): string {
  const hash = createHash(length === 64 ? 'sha256' : 'sha1')
  return hash.update(`blob ${content.length}\0`).update(content).digest('hex')
}

/** Whether a path is one that an edit may have: below the folder, and not in a `.git`. */
export function isEditable(path: string): boolean {
  const isName = (name: string) => !['', '.', '..'].includes(name) && name.toLowerCase() !== '.git'
  return !path.includes('\0') && path.split('/').every(isName)
}

/** Returns the folders that contain a path, from the top down, without the root. */
export function parentsOf(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === '.' ? [] : [...parentsOf(parent), parent]
}

async function contentOf(path: string, stat: BigIntStats): Promise<Uint8Array> {
  if (stat.isSymbolicLink()) return readlink(path, 'buffer')
  // Between `lstat` and `open`, a FIFO or a link may have taken the place of the file. The flags refuse a link, and
  // do not wait for the other end of a FIFO.
  const file = await open(
    path,
    constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0),
  )
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}
