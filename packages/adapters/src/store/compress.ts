import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { clientOf, segmentContent, segmentHash, segmentText } from './segment-text.ts'
import type { Line } from './lines.ts'
import type { Bounds, Content, Segment } from './segment-text.ts'

/** The quality of compression. Higher ones save little, and take much more time. */
const QUALITY = 5

/**
 * Compresses lines to a segment, and decompresses them again to check it. Both happen in other threads. Throws if something
 * was lost. There is at least one line. `before` and `after` are the chain at both ends.
 */
export async function compressed(
  uri: string,
  lines: readonly Line[],
  { before, after }: Pick<Bounds, 'before' | 'after'>,
): Promise<Segment> {
  const [first, last] = [lines[0]?.seq ?? 0, lines.at(-1)?.seq ?? 0]
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY }
  const bytes = await promisify(brotliCompress)(segmentText(lines), { params })
  const read = segmentContent((await promisify(brotliDecompress)(bytes)).toString())
  if (!lines.every((line, i) => sameContent(line, read[i])) || read.length !== lines.length)
    throw new Error(`the numbers ${first} to ${last} of ${uri} could not be compressed without loss`)
  const bounds = { first, last, count: lines.length, before, after }
  return { ...bounds, bytes, hash: segmentHash(uri, { ...bounds, bytes }) }
}

export const lengthOf = (lines: readonly Line[]): number =>
  lines.reduce((sum, { action }) => sum + action.length, 0)

const sameContent = (line: Line, other: Content | undefined): boolean =>
  line.seq === other?.seq && line.action === other.action && line.origin === other.origin

/** Returns the clients that dispatched some of the lines, each with the number of its last line. */
export function clientsOf(lines: readonly Line[]): ReadonlyMap<string, number> {
  const clients = new Map<string, number>()
  for (const { seq, origin } of lines) {
    const client = clientOf(origin)
    if (client !== undefined) clients.set(client, seq)
  }
  return clients
}
