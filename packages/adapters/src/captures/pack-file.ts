import { createHash } from 'node:crypto'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflate, deflateSync } from 'node:zlib'
import { syncFolder } from '../process/sync-folder.ts'

/** An object of a pack. */
export interface PackedObject {
  readonly type: 'tree' | 'blob'
  /** In hex. */
  readonly hash: string
  readonly data: Uint8Array
  /** An object of the same pack that is much like this one. */
  readonly like?: { readonly hash: string; readonly data: Uint8Array }
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
  const records = await Promise.all(objects.map((object) => recordOf(object)))
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(objects.length, 8)
  const sum = (parts: readonly Buffer[]) => {
    const hash = createHash(format)
    for (const part of parts) hash.update(part)
    return hash.digest()
  }
  const checksum = sum([header, ...records])
  const offsets: number[] = []
  let at = header.length
  for (const record of records) {
    offsets.push(at)
    at += record.length
  }
  const index = indexOf(objects, records, offsets)
  const name = join(folder, `pack-${checksum.toString('hex')}`)
  const pack = [header, ...records, checksum]
  const idx = [...index, checksum]
  idx.push(sum(idx))
  const [bytes, more] = await Promise.all([
    writeFlushed(`${name}.tmp-pack`, pack),
    writeFlushed(`${name}.tmp-idx`, idx),
  ])
  // Git finds a pack by its index, so the index gets its name last.
  await rename(`${name}.tmp-pack`, `${name}.pack`)
  await rename(`${name}.tmp-idx`, `${name}.idx`)
  await syncFolder(folder)
  return bytes + more
}

async function writeFlushed(path: string, parts: readonly Buffer[]): Promise<number> {
  const file = await open(path, 'w', 0o444)
  try {
    const data = Buffer.concat(parts)
    await file.writeFile(data)
    await file.sync()
    return data.length
  } finally {
    await file.close()
  }
}

/** The name of the object that this one is a delta of stands between the header and the data. */
async function recordOf({ type, data, like }: PackedObject): Promise<Buffer> {
  const delta = like && deltaOf(like.data, data)
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

/** Small data is compressed at once: a change of threads takes longer. Trees are mostly hashes, which nothing compresses. */
async function compress(data: Uint8Array, level = 6): Promise<Buffer> {
  return data.length <= 64 * 1024 ? deflateSync(data, { level }) : promisify(deflate)(data)
}

const [tree, blob, refDelta] = [2, 3, 7]

/** The type and the size of an object: four bits of the size in the first byte, then seven in each. */
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

/** A delta that copies the common beginning and the common end, and inserts what is between. */
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

function sizeOf(size: number): Buffer {
  const bytes: number[] = []
  let rest = size
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

/** Commands that copy bytes, at most 65535 each: four bytes of an offset, two of a length. */
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

/** The parts of an index of version 2: counts by the first byte, sorted names, checksums, offsets. */
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
