import { createHash } from 'node:crypto'
import { brotliDecompressSync } from 'node:zlib'
import { Damage, LINE_END } from './lines.js'

/** @typedef {import('./lines.js').Line} Line */
/** @typedef {{ first: number, last: number, count: number, before: number, after: number }} Bounds a segment without its content */
/** @typedef {Bounds & { hash: string, bytes: Uint8Array }} Segment */
/** @typedef {Pick<Line, 'seq' | 'action' | 'origin'>} Content */

/** The separator between the columns of a segment. JSON always escapes it. */
const COLUMN_END = '\x1d'

/**
 * Returns the text of a segment: its numbers, origins and actions as columns. Similar texts stand together, so that they
 * compress well. The checksums of the lines are left out, because they do not compress, and follow from the lines.
 * @param {readonly Content[]} lines
 */
export function segmentText(lines) {
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

/**
 * Returns the lines of the text of a segment.
 * @param {string} text
 * @returns {Content[]}
 */
export function segmentContent(text) {
  const [distances = [], origins = [], actions = []] = text
    .split(COLUMN_END)
    .map((column) => column.split(LINE_END))
  let seq = 0
  return distances.map((distance, i) => {
    seq += Number(distance)
    return { seq, action: actions[i] ?? '', origin: origins[i] || null }
  })
}

/**
 * Returns the hash of a segment. It covers the channel and the bounds, so that no segment can pass for another.
 * @param {string} channel
 * @param {Bounds & { bytes: Uint8Array }} segment
 */
export function segmentHash(channel, { first, last, count, before, after, bytes }) {
  const bounds = [channel, first, last, count, before, after].join('\n')
  return createHash('sha256').update(`${bounds}\n`).update(bytes).digest('hex')
}

/** @param {string | null} origin */
export const clientOf = (origin) => (origin === null ? undefined : String(JSON.parse(origin).clientId))

/**
 * Returns the content of a segment. Throws if the segment is damaged.
 * @param {string} uri
 * @param {Segment} segment
 */
export function contentOf(uri, segment) {
  const { first, last, bytes, hash } = segment
  if (hash !== segmentHash(uri, segment))
    throw new Damage(`the segment of the numbers ${first} to ${last} has a wrong checksum`)
  return segmentContent(brotliDecompressSync(bytes).toString())
}
