import { isDamage } from './open.js'
import { Damage } from '../lines.js'

/** @typedef {import('@atrium/host/ports/log').DamagedChannel} DamagedChannel */
/** @typedef {import('../lines.js').Line} Line */

/** The separator between the fields of a line. JSON always escapes it, so it never occurs in JSON. */
const FIELD_END = '\x1f'

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
