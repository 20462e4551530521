import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { syncFolder } from '../../process/sync-folder.ts'

/** An object of a pack. */
export interface PackedObject {
  readonly type: 'tree' | 'blob'
  /** In hex. */
  readonly hash: string
  readonly data: Uint8Array
  /**
   * The base for storing this object as a delta. The base is an object of the same pack. It is either similar to this
   * object, or contains this object as a part that begins at `from`.
   */
  readonly like?: { readonly hash: string; readonly data: Uint8Array; readonly from?: number }
}

/**
 * Writes a pack and its index as git would (version 2), without starting git. Both are on the disk when the promise
 * resolves. Returns the number of bytes.
 */
export async function writePackFile(
  folder: string,
  format: 'sha1' | 'sha256',
  objects: readonly PackedObject[],
): Promise<number> {
  const { name, pack, index } = packOf(format, objects, await Promise.all(objects.map(recordOf)))
  const path = join(folder, name)
  await Promise.all([writeFlushed(`${path}.tmp-pack`, pack), writeFlushed(`${path}.tmp-idx`, index)])
  // Git finds a pack by its index, so the index gets its name last.
  await rename(`${path}.tmp-pack`, `${path}.pack`)
  await rename(`${path}.tmp-idx`, `${path}.idx`)
  await syncFolder(folder)
  return pack.length + index.length
}

/**
 * Writes a pack of few small trees that are needed for a moment only. The pack is written synchronously and is not flushed,
 * because a flush and a change of threads would take longer.
 */
export function writeBriefPack(
  folder: string,
  format: 'sha1' | 'sha256',
  trees: readonly Pick<PackedObject, 'hash' | 'data'>[],
): void {
  const objects = trees.map(({ hash, data }) => ({ type: 'tree' as const, hash, data }))
  const records = objects.map(({ data }) =>
    Buffer.concat([headerOf(tree, data.length), deflateSync(data, { level: 1 })]),
  )
  const { name, pack, index } = packOf(format, objects, records)
  writeFileSync(join(folder, `${name}.pack`), pack)
  writeFileSync(join(folder, `${name}.idx`), index)
}

function packOf(
  format: 'sha1' | 'sha256',
  objects: readonly PackedObject[],
  records: readonly Buffer[],
): { readonly name: string; readonly pack: Buffer; readonly index: Buffer } {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(objects.length, 8)
  const content = Buffer.concat([header, ...records])
  const sum = (data: Buffer) => createHash(format).update(data).digest()
  const checksum = sum(content)
  const offsets: number[] = []
  let at = header.length
  for (const record of records) {
    offsets.push(at)
    at += record.length
  }
  const index = Buffer.concat([...indexOf(objects, records, offsets), checksum])
  return {
    name: `pack-${checksum.toString('hex')}`,
    pack: Buffer.concat([content, checksum]),
    index: Buffer.concat([index, sum(index)]),
  }
}

async function writeFlushed(path: string, data: Buffer): Promise<void> {
  const file = await open(path, 'w', 0o444)
  try {
    await file.writeFile(data)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Returns the record of an object in a pack. In the record of a delta, the hash of the base object is between the header and
 * the data.
 */
async function recordOf({ type, data, like }: PackedObject): Promise<Buffer> {
  const delta =
    like && (like.from === undefined ? deltaOf(like.data, data) : partOf(like.data, like.from, data))
  if (like && delta && delta.length < data.length / 2)
    return Buffer.concat([
      headerOf(refDelta, delta.length),
      Buffer.from(like.hash, 'hex'),
      await compress(delta),
    ])
  return Buffer.concat([
    headerOf(type === 'tree' ? tree : blob, data.length),
    await compress(data, type === 'tree' ? 1 : 6),
  ])
}

/**
 * Compresses data. Small data is compressed synchronously, because a change of threads takes longer. For trees the
 * level is low, because they consist mostly of hashes, which do not compress.
 */
async function compress(data: Uint8Array, level = 6): Promise<Buffer> {
  return data.length <= 64 * 1024 ? deflateSync(data, { level }) : promisify(deflate)(data)
}

const [tree, blob, refDelta] = [2, 3, 7]

/**
 * Encodes the type and the size of an object. The first byte has four bits of the size, each further byte has seven.
 */
function headerOf(type: number, size: number): Buffer {
  const bytes: number[] = []
  let rest = Math.floor(size / 16)
  let byte = (type << 4) | (size & 15)
  for (; rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push(byte | 0x80)
    byte = rest & 0x7f
  }
  return Buffer.from([...bytes, byte])
}

/** Returns a delta that copies the common beginning and the common end, and inserts what is between. */
export function deltaOf(from: Uint8Array, to: Uint8Array): Buffer {
  const most = Math.min(from.length, to.length)
  let start = 0
  while (start < most && from[start] === to[start]) start++
  let end = 0
  while (end < most - start && from[from.length - 1 - end] === to[to.length - 1 - end]) end++
  const parts: Uint8Array[] = [sizeOf(from.length), sizeOf(to.length), ...copyOf(0, start)]
  for (let at = start; at < to.length - end; at += 127) {
    const part = to.subarray(at, Math.min(at + 127, to.length - end))
    parts.push(Buffer.from([part.length]), part)
  }
  return Buffer.concat([...parts, ...copyOf(from.length - end, end)])
}

/** Returns a delta that copies one part of an object. */
function partOf(whole: Uint8Array, from: number, part: Uint8Array): Buffer {
  return Buffer.concat([sizeOf(whole.length), sizeOf(part.length), ...copyOf(from, part.length)])
}

function sizeOf(size: number): Buffer {
  const bytes: number[] = []
  let rest = size
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

/**
 * Returns the commands of a delta that copy `length` bytes. A command copies at most 65535 bytes. It has an offset of
 * four bytes and a length of two bytes.
 */
function copyOf(offset: number, length: number): readonly Buffer[] {
  const commands: Buffer[] = []
  for (let done = 0; done < length; done += 0xffff) {
    const command = Buffer.alloc(7)
    command[0] = 0x80 | 0x0f | 0x30
    command.writeUInt32LE(offset + done, 1)
    command.writeUInt16LE(Math.min(length - done, 0xffff), 5)
    commands.push(command)
  }
  return commands
}

/** Returns the parts of a pack index of version 2: counts by the first byte, sorted names, checksums, offsets. */
function indexOf(
  objects: readonly PackedObject[],
  records: readonly Buffer[],
  offsets: readonly number[],
): readonly Buffer[] {
  const order = objects.map(({ hash }, i) => ({ hash, i })).toSorted((a, b) => (a.hash < b.hash ? -1 : 1))
  const counts = Buffer.alloc(256 * 4)
  const sums = Buffer.alloc(order.length * 4)
  const places = Buffer.alloc(order.length * 4)
  for (const [at, { hash, i }] of order.entries()) {
    for (let byte = Number.parseInt(hash.slice(0, 2), 16); byte < 256; byte++)
      counts.writeUInt32BE(at + 1, byte * 4)
    sums.writeUInt32BE(crc32(records[i] ?? Buffer.alloc(0)), at * 4)
    places.writeUInt32BE(offsets[i] ?? 0, at * 4)
  }
  const names = Buffer.from(order.map(({ hash }) => hash).join(''), 'hex')
  return [Buffer.from('\xfftOc\0\0\0\x02', 'latin1'), counts, names, sums, places]
}

const crcTable = Uint32Array.from({ length: 256 }, (_, n) => {
  let value = n
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1
  return value
})

function crc32(data: Buffer): number {
  let value = 0xffffffff
  for (const byte of data) value = (crcTable[(value ^ byte) & 0xff] ?? 0) ^ (value >>> 8)
  return (value ^ 0xffffffff) >>> 0
}
