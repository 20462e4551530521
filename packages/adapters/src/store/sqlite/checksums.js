import * as crypto from 'node:crypto'

/** @typedef {{ seq: number, channel: string, action: string, origin: string | null }} Line an envelope as it is kept */

/** @param {Line} line */
export const lineSum = ({ seq, channel, action, origin }) =>
  sum(`${seq}\n${channel}\n${origin ?? ''}\n${action}`)

/** @param {{ seq: number, channel: string, kind: string, state: string }} creation */
export const creationSum = ({ seq, channel, kind, state }) => sum(`${seq}\n${channel}\n${kind}\n${state}`)

/** @param {{ channel: string, id: string, text: string }} row */
export const rowSum = ({ channel, id, text }) => sum(`${channel}\n${id}\n${text}`)

/**
 * The kind is in it, so that a good head needs no look at the birth.
 * @param {{ seq: number, channel: string, kind: string, state: string, chain: number }} head
 */
export const headSum = ({ seq, channel, kind, state, chain }) =>
  sum(`${seq}\n${chain}\n${channel}\n${kind}\n${state}`)

/**
 * The chain after one more envelope. Only accidents must be noticed, so mixing is enough: a second hash would cost as
 * much as the first.
 * @param {number} chain
 * @param {number} sum
 */
export function link(chain, sum) {
  let low = Math.imul(chain ^ (chain >>> 15), 0x2c1b3c6d) ^ sum
  let high = Math.imul((chain / HALF) ^ low, 0x297a2d39) ^ (sum / HALF)
  low = Math.imul(low ^ (high >>> 13), 0x85ebca6b)
  high = Math.imul(high ^ (low >>> 16), 0xc2b2ae35)
  return join(high ^ (high >>> 16), low ^ (low >>> 13))
}

/**
 * Adds a sum to a set of them, or takes it out again.
 * @param {number} set
 * @param {number} sum
 */
export const toggle = (set, sum) => join((set / HALF) ^ (sum / HALF), set ^ sum)

const HALF = 2 ** 32

/**
 * 52 bits, which a JavaScript number and an SQLite integer both hold.
 * @param {number} high
 * @param {number} low
 */
const join = (high, low) => (high & 0xfffff) * HALF + (low >>> 0)

/** Newer Node hashes in one call, which takes half the time. @type {(text: string) => string} */
const sha256 = crypto.hash
  ? (text) => crypto.hash('sha256', text)
  : (text) => crypto.createHash('sha256').update(text).digest('hex')

/** @param {string} text */
const sum = (text) => Number.parseInt(sha256(text).slice(0, 13), 16)
