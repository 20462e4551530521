import type { BigIntStats } from 'node:fs'

/** An entry of a git index. */
export interface IndexEntry {
  /** The path as bytes: a file name need not be valid text. */
  readonly path: Buffer
  readonly mode: number
  /** In hex. */
  readonly hash: string
  /** The size of the file when it was added, modulo 2 ** 32. */
  readonly size: number
  /** The fixed part of the entry: stat data, mode and hash. */
  readonly fixed: Buffer
  /**
   * True if the entry says nothing certain about the disk: a side of a conflict, an entry that git was told not to check, one
   * that is not checked out, one without content.
   */
  readonly doubtful: boolean
}

export type HashLength = 20 | 32

/**
 * Reads the entries of a git index (versions 2 to 4). Returns undefined if the file is not an index, or has a required
 * extension that is not supported here: a split index or a sparse index.
 */
export function parseIndex(file: Buffer, hashLength: HashLength): readonly IndexEntry[] | undefined {
  if (file.length < 12 + hashLength || file.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const version = file.readUInt32BE(4)
  if (version < 2 || version > 4) return undefined
  const count = file.readUInt32BE(8)
  const end = file.length - hashLength
  const entries: IndexEntry[] = []
  let at = 12
  let previous: Buffer = Buffer.alloc(0)
  for (let i = 0; i < count; i++) {
    const flagsAt = at + statBytes + hashLength
    if (flagsAt + 2 > end) return undefined
    const flags = file.readUInt16BE(flagsAt)
    const extended = (flags & extendedFlag) !== 0
    const pathAt = flagsAt + (extended ? 4 : 2)
    const more = extended ? file.readUInt16BE(flagsAt + 2) : 0
    const found = version === 4 ? compressedPath(file, pathAt, previous) : plainPath(file, pathAt)
    if (!found || found.end > end) return undefined
    const { path } = found
    previous = path
    entries.push({
      path,
      mode: file.readUInt32BE(at + 24),
      hash: file.toString('hex', at + statBytes, flagsAt),
      size: file.readUInt32BE(at + 36),
      fixed: file.subarray(at, flagsAt),
      doubtful: (flags & (assumeValid | stageMask)) !== 0 || (more & (skipWorktree | intentToAdd)) !== 0,
    })
    // An entry of versions 2 and 3 ends with one to eight NULs, so that its length is a multiple of eight.
    at = version === 4 ? found.end : at + (Math.floor((found.end - 1 - at) / 8) + 1) * 8
  }
  for (; at + 8 <= end; at += 8 + file.readUInt32BE(at + 4)) {
    const letter = file[at] ?? 0
    // The name of a required extension begins with a small letter.
    if (letter >= 97 && letter <= 122) return undefined
  }
  return entries
}

/**
 * Whether no entry of an index of version 2 or 3 is doubtful. Such an index can be copied as it is. The check creates
 * no objects for the entries, because an index may have very many.
 */
export function isPlain(file: Buffer, hashLength: HashLength): boolean {
  const version = file.length < 12 + hashLength ? 0 : file.readUInt32BE(4)
  if (version !== 2 && version !== 3) return false
  const end = file.length - hashLength
  let at = 12
  for (let count = file.readUInt32BE(8); count > 0; count--) {
    const flagsAt = at + statBytes + hashLength
    if (flagsAt + 2 > end || (file.readUInt16BE(at + 26) & 0o170000) === submodule) return false
    const flags = file.readUInt16BE(flagsAt)
    const length = flags & lengthMask
    // Extended flags, and path lengths that do not fit into the flags, are rare. So an index with them does not count as plain.
    if ((flags & (assumeValid | extendedFlag | stageMask)) !== 0 || length === lengthMask) return false
    at += Math.floor((statBytes + hashLength + 2 + length) / 8 + 1) * 8
  }
  for (; at + 8 <= end; at += 8 + file.readUInt32BE(at + 4)) {
    const letter = file[at] ?? 0
    if (letter >= 97 && letter <= 122) return false
  }
  return at === end
}

/** Returns a git index of version 2 with these sorted entries. `checksum` computes the checksum at its end. */
export function writeIndex(entries: readonly IndexEntry[], checksum: (data: Buffer) => Buffer): Buffer {
  const lengthOf = ({ fixed, path }: IndexEntry) => Math.floor((fixed.length + 2 + path.length) / 8 + 1) * 8
  const length = entries.reduce((sum, entry) => sum + lengthOf(entry), 12)
  const data = Buffer.alloc(length)
  data.write('DIRC', 'latin1')
  data.writeUInt32BE(2, 4)
  data.writeUInt32BE(entries.length, 8)
  let at = 12
  for (const entry of entries) {
    const { fixed, path } = entry
    fixed.copy(data, at)
    data.writeUInt16BE(Math.min(path.length, 0xfff), at + fixed.length)
    path.copy(data, at + fixed.length + 2)
    at += lengthOf(entry)
  }
  return Buffer.concat([data, checksum(data)])
}

/**
 * How far the stat data of an index can be trusted: only for files that are older than `written`. `ctime` and `inode`
 * tell whether these two members are compared.
 */
export interface StatTrust {
  /**
   * The time at which the index was written, in ns. A file that is not older than the index may have changed although its stat
   * data has not.
   */
  readonly written: bigint
  readonly ctime: boolean
  readonly inode: boolean
}

/** Whether a file is as it was when git put it into the index, by its times and its size. */
export function isUnchanged(entry: IndexEntry, info: BigIntStats, trust: StatTrust): boolean {
  const at = (offset: number) => BigInt(entry.fixed.readUInt32BE(offset))
  const [seconds, fraction] = [at(8), at(12)]
  const isTime = (offset: number, ns: bigint) =>
    at(offset) === BigInt.asUintN(32, ns / billion) &&
    // Some programs write whole seconds only. Then the fraction is 0 and is not compared.
    (at(offset + 4) === 0n || at(offset + 4) === ns % billion)
  const latest = seconds * billion + (fraction === 0n ? billion - 1n : fraction)
  return (
    !entry.doubtful &&
    latest < trust.written &&
    isTime(8, info.mtimeNs) &&
    (!trust.ctime || isTime(0, info.ctimeNs)) &&
    (!trust.inode || at(20) === BigInt.asUintN(32, info.ino)) &&
    at(36) === BigInt.asUintN(32, info.size)
  )
}

const billion = 1_000_000_000n

interface FoundPath {
  readonly path: Buffer
  /** The offset after the NUL that ends the path. */
  readonly end: number
}

function plainPath(file: Buffer, at: number): FoundPath | undefined {
  const nul = file.indexOf(0, at)
  return nul < 0 ? undefined : { path: file.subarray(at, nul), end: nul + 1 }
}

/**
 * Reads a path of version 4. It is stored as the number of bytes to remove from the end of the previous path, and the
 * bytes to append.
 */
function compressedPath(file: Buffer, start: number, previous: Buffer): FoundPath | undefined {
  let at = start
  let byte = file[at++] ?? 0
  let removed = byte & 0x7f
  while (byte & 0x80) {
    byte = file[at++] ?? 0
    removed = (removed + 1) * 128 + (byte & 0x7f)
  }
  const rest = removed > previous.length ? undefined : plainPath(file, at)
  if (!rest) return undefined
  return { path: Buffer.concat([previous.subarray(0, previous.length - removed), rest.path]), end: rest.end }
}

/** The number of bytes that the stat data and the mode of an entry take. */
const statBytes = 40
const submodule = 0o160000
const lengthMask = 0xfff
const assumeValid = 0x8000
const extendedFlag = 0x4000
const stageMask = 0x3000
const skipWorktree = 0x4000
const intentToAdd = 0x2000
