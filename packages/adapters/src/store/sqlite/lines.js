import { isDamage } from './open.js'
import { lineSum } from './checksums.js'

/** @typedef {import('@atrium/host/ports/log').DamagedChannel} DamagedChannel */
/** @typedef {import('@atrium/host/ports/log').StoredEnvelope} StoredEnvelope */
/** @typedef {{ seq: number, action: string, origin: string | null, sum: number | null, chain: number | null }} Line a stored envelope; the lines of a segment have no sum, and only its last line has a chain */

// The separators between joined lines and between their fields. JSON always escapes these two control characters, so they
// never occur in it.
export const LINE_END = '\x1e'
const FIELD_END = '\x1f'

/** Thrown for data that fails its checksum or does not fit the rest of its channel. */
export class Damage extends Error {}

/**
 * Runs a read. If the data is damaged, returns a value that describes the damage and does not throw, so that the other
 * channels stay usable.
 * @template T
 * @param {() => T} read
 * @returns {T | DamagedChannel}
 */
export function orDamaged(read) {
  try {
    return read()
  } catch (error) {
    if (error instanceof Damage) return { damaged: error.message }
    if (isDamage(error)) return { damaged: String(error) }
    throw error
  }
}

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
 * Splits the text of one line into its fields. The query `lines` has joined them.
 * @param {string} text
 * @returns {Line}
 */
export function toLine(text) {
  const [seq, action = '', origin = '', sum, chain] = text.split(FIELD_END)
  return {
    seq: Number(seq),
    action,
    origin: origin === '' ? null : origin,
    sum: Number(sum),
    chain: Number(chain),
  }
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
