import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { clientOf, segmentContent, segmentHash, segmentText } from './segment-text.js'

/** @typedef {import('./lines.js').Line} Line */

/** The quality of compression. Higher ones save little, and take much more time. */
const QUALITY = 5

/**
 * Compresses lines to a segment, and decompresses them again to check it. Both happen in other threads. Throws if something
 * was lost.
 * @param {string} uri
 * @param {readonly Line[]} lines at least one
 * @param {{ before: number, after: number }} chain the chain at both ends
 * @returns {Promise<import('./segment-text.js').Segment>}
 */
export async function compressed(uri, lines, { before, after }) {
  const [first, last] = [lines[0]?.seq ?? 0, lines.at(-1)?.seq ?? 0]
  const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY }
  const bytes = await promisify(brotliCompress)(segmentText(lines), { params })
  const read = segmentContent((await promisify(brotliDecompress)(bytes)).toString())
  if (!lines.every((line, i) => sameContent(line, read[i])) || read.length !== lines.length)
    throw new Error(`the numbers ${first} to ${last} of ${uri} could not be compressed without loss`)
  const bounds = { first, last, count: lines.length, before, after }
  return { ...bounds, bytes, hash: segmentHash(uri, { ...bounds, bytes }) }
}

/** @param {readonly Line[]} lines */
export const lengthOf = (lines) => lines.reduce((sum, { action }) => sum + action.length, 0)

/**
 * @param {Line} line
 * @param {import('./segment-text.js').Content | undefined} other
 */
const sameContent = (line, other) =>
  line.seq === other?.seq && line.action === other.action && line.origin === other.origin

/**
 * Returns the clients that dispatched some of the lines, each with the number of its last line.
 * @param {readonly Line[]} lines
 */
export function clientsOf(lines) {
  /** @type {Map<string, number>} */
  const clients = new Map()
  for (const { seq, origin } of lines) {
    const client = clientOf(origin)
    if (client !== undefined) clients.set(client, seq)
  }
  return clients
}
