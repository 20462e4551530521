import { createHash } from 'node:crypto'
import { brotliDecompressSync } from 'node:zlib'
import { Damage, LINE_END } from './lines.ts'
import type { Line } from './lines.ts'

/** A segment without its content. */
export interface Bounds {
  readonly first: number
  readonly last: number
  readonly count: number
  readonly before: number
  readonly after: number
}

/** A segment without its hash. */
export interface Compressed extends Bounds {
  readonly bytes: Uint8Array
}

export interface Segment extends Compressed {
  readonly hash: string
}

/** What a segment keeps of a line. */
export type Content = Pick<Line, 'seq' | 'action' | 'origin'>

/** The separator between the columns of a segment. JSON always escapes it. */
const COLUMN_END = '\x1d'

/**
 * Returns the text of a segment: its numbers, origins and actions as columns. Similar texts stand together, so that they
 * compress well. The checksums of the lines are left out, because they do not compress, and follow from the lines.
 */
export function segmentText(lines: readonly Content[]): string {
  let before = 0
  const distances = lines.map(({ seq }) => {
    const distance = seq - before
    before = seq
    return distance
  })
  const origins = lines.map(({ origin }) => origin ?? '')
  const actions = lines.map(({ action }) => action)
  return [distances, origins, actions].map((column) => column.join(LINE_END)).join(COLUMN_END)
}

/** Returns the lines of the text of a segment. */
export function segmentContent(text: string): Content[] {
  const [distances = [], origins = [], actions = []] = text
    .split(COLUMN_END)
    .map((column) => column.split(LINE_END))
  let seq = 0
  return distances.map((distance, i) => {
    seq += Number(distance)
    return { seq, action: actions[i] ?? '', origin: origins[i] || null }
  })
}

/** Returns the hash of a segment. It covers the channel and the bounds, so that no segment can pass for another. */
export function segmentHash(channel: string, segment: Compressed): string {
  const { first, last, count, before, after, bytes } = segment
  const bounds = [channel, first, last, count, before, after].join('\n')
  return createHash('sha256').update(`${bounds}\n`).update(bytes).digest('hex')
}

/** Returns the id of the client in an origin. The cast names the member that is read. */
export const clientOf = (origin: string | null): string | undefined =>
  origin === null ? undefined : String((JSON.parse(origin) as { readonly clientId?: unknown }).clientId)

/** Returns the content of a segment. Throws if the segment is damaged. */
export function contentOf(uri: string, segment: Segment): readonly Content[] {
  const { first, last, bytes, hash } = segment
  if (hash !== segmentHash(uri, segment))
    throw new Damage(`the segment of the numbers ${first} to ${last} has a wrong checksum`)
  return segmentContent(brotliDecompressSync(bytes).toString())
}
