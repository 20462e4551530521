import { Buffer } from 'node:buffer'
import type { FileHandle } from 'node:fs/promises'

const chunk = 1024 * 1024
const zeros = Buffer.alloc(chunk)

/** What to copy: bytes of the source up to an end, to a place in the sink. */
export interface Stretch {
  readonly from: number
  readonly to: number
  readonly at: number
}

/** Copies what there is of a stretch, and says how much that was. Holes stay holes: the sink must be new, or empty there. */
export async function pour(
  source: FileHandle,
  sink: FileHandle,
  { from, to, at }: Stretch,
  spend: (bytes: number) => void,
): Promise<number> {
  const buffer = Buffer.allocUnsafe(Math.min(chunk, Math.max(1, to - from)))
  let done = 0
  while (from + done < to) {
    const most = Math.min(buffer.length, to - from - done)
    const { bytesRead } = await source.read(buffer, 0, most, from + done)
    if (bytesRead === 0) break
    spend(bytesRead)
    const piece = buffer.subarray(0, bytesRead)
    if (!zeros.subarray(0, bytesRead).equals(piece)) await writeAll(sink, piece, at + done)
    done += bytesRead
  }
  return done
}

/** The system may take a part at a time. */
export async function writeAll(file: FileHandle, data: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < data.length;) {
    const { bytesWritten } = await file.write(data, done, data.length - done, at + done)
    done += bytesWritten
  }
}
