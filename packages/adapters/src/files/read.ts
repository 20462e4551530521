import { Buffer } from 'node:buffer'
import { constants } from 'node:fs'
import type { ContainedPath } from '@atrium/host/ports/files'
import { isADirectory, notRegular, unfit } from './errors.ts'
import type { Operation } from './operation.ts'

/** Reads a regular file. Throws if it has more than `most` bytes. */
export async function read(
  { containment, descriptors }: Operation,
  place: ContainedPath,
  most: number,
): Promise<Uint8Array> {
  const file = await containment.resolve(descriptors, place)
  if (!file.stat.isFile()) throw file.stat.isDirectory() ? isADirectory() : notRegular()
  if (file.stat.size > most) throw tooLarge(most)
  const handle = await file.open(constants.O_RDONLY)
  try {
    // The buffer is one byte longer than the reported size. So the read notices a file that has grown since, and a file system
    // that reports 0 for every size.
    const size = Number(file.stat.size)
    let buffer = Buffer.allocUnsafe(size + 1)
    let length = 0
    for (;;) {
      const { bytesRead } = await handle.read(buffer, length, buffer.length - length, length)
      length += bytesRead
      // The read ends when the expected size is reached, which saves a second read of most files.
      if (bytesRead === 0 || length === size) return buffer.subarray(0, length)
      if (length > most) throw tooLarge(most)
      if (length === buffer.length) buffer = Buffer.concat([buffer], Math.min(most + 1, length * 2))
    }
  } finally {
    await handle.close()
  }
}

const tooLarge = (most: number) => unfit(`It is larger than ${most} bytes.`)
