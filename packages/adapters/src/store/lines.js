import { lineSum } from './checksums.js'

/** @typedef {import('@atrium/host/ports/log').StoredEnvelope} StoredEnvelope */
/** @typedef {{ seq: number, action: string, origin: string | null, sum: number | null, chain: number | null }} Line a stored envelope; the lines of a segment have no sum, and only its last line has a chain */

/** The separator between joined lines. JSON always escapes this control character, so it never occurs in JSON. */
export const LINE_END = '\x1e'

/** Thrown for data that fails its checksum or does not fit the rest of its channel. */
export class Damage extends Error {}

/**
 * Verifies a line and converts it to an envelope.
 * @param {string} channel
 * @param {Line} line
 * @returns {StoredEnvelope}
 */
export function toEnvelope(channel, line) {
  verify(channel, line)
  const { seq, action, origin } = line
  return origin === null ? { seq, channel, action } : { seq, channel, action, origin: JSON.parse(origin) }
}

/**
 * Throws if the checksum of a line is wrong. A sealed line has no checksum, because the hash of its segment has verified it.
 * @param {string} channel
 * @param {Line} line
 */
export function verify(channel, { seq, action, origin, sum }) {
  if (sum !== null && sum !== lineSum({ seq, channel, action, origin }))
    throw new Damage(`number ${seq} has a wrong checksum`)
}

/**
 * Returns the source whose next line has the lowest sequence number.
 * @template {{ lines: Line[], at: number }} T
 * @param {T[]} sources
 */
export function nextSource(sources) {
  /** @type {T | undefined} */
  let first
  for (const source of sources) {
    const line = source.lines[source.at]
    if (line && (!first || line.seq < (first.lines[first.at]?.seq ?? Infinity))) first = source
  }
  return first
}
