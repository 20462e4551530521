import { Buffer } from 'node:buffer'
import type { FileHandle } from 'node:fs/promises'

const chunk = 1024 * 1024
const zeros = Buffer.alloc(chunk)

/** Offsets of a copy: source bytes from `from` up to `to`, written at `at` in the target. */
export interface ByteRange {
  readonly from: number
  readonly to: number
  readonly at: number
}

export const wholeFile: ByteRange = { from: 0, to: Infinity, at: 0 }

/**
 * Copies those bytes of a range that exist in the source, and returns their number. Chunks of zeros are skipped, so that
 * sparse files stay sparse; therefore the target must be new, or empty in that range. `spend` is called with the size of
 * each chunk before the chunk is written, and may throw.
 */
export async function copyBytes(
  source: FileHandle,
  target: FileHandle,
  { from, to, at }: ByteRange,
  spend: (bytes: number) => void = () => {},
): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(chunk, Math.max(1, to - from)))
  let copied = 0
  while (from + copied < to) {
    const length = Math.min(buffer.length, to - from - copied)
    const { bytesRead } = await source.read(buffer, 0, length, from + copied)
    if (bytesRead === 0) break
    spend(bytesRead)
    const bytes = buffer.subarray(0, bytesRead)
    if (!zeros.subarray(0, bytesRead).equals(bytes)) await writeAll(target, bytes, at + copied)
    copied += bytesRead
  }
  return copied
}

/** Writes all bytes. Repeats `write`, because one call may write only a part. */
export async function writeAll(file: FileHandle, data: Uint8Array, at: number): Promise<void> {
  for (let written = 0; written < data.length;) {
    const { bytesWritten } = await file.write(data, written, data.length - written, at + written)
    written += bytesWritten
  }
}
