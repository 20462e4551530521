import * as crypto from 'node:crypto'

/** @typedef {{ seq: number, channel: string, action: string, origin: string | null }} Line a stored envelope */

/** @param {Line} line */
export const lineSum = ({ seq, channel, action, origin }) =>
  sum(`${seq}\n${channel}\n${origin ?? ''}\n${action}`)

/** @param {{ seq: number, channel: string, kind: string, state: string }} creation */
export const creationSum = ({ seq, channel, kind, state }) => sum(`${seq}\n${channel}\n${kind}\n${state}`)

/** @param {{ seq: number, channel: string, chain: number }} checkpoint */
export const checkpointSum = ({ seq, channel, chain }) => sum(`${seq}\n${channel}\n${chain}`)

/** @param {{ channel: string, id: string, text: string }} row */
export const rowSum = ({ channel, id, text }) => sum(`${channel}\n${id}\n${text}`)

/**
 * Returns the checksum of a head. It covers the kind of the channel too, so that a valid head can be loaded without reading
 * the creation.
 * @param {{ seq: number, channel: string, kind: string, state: string, chain: number }} head
 */
export const headSum = ({ seq, channel, kind, state, chain }) =>
  sum(`${seq}\n${chain}\n${channel}\n${kind}\n${state}`)

/** @param {number} upTo */
export const boundSum = (upTo) => sum(`upTo\n${upTo}`)

/**
 * Returns the value of a chain after one more envelope. The chain must detect accidents and not attacks, so mixing bits is
 * enough. A second hash would double the cost.
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
 * Adds a sum to a set of sums. If the set contains the sum, removes it. Both are the same operation (xor).
 * @param {number} set
 * @param {number} sum
 */
export const toggle = (set, sum) => join((set / HALF) ^ (sum / HALF), set ^ sum)

const HALF = 2 ** 32

/**
 * Joins two halves to a number of 52 bits, which fits into a JavaScript number and an SQLite integer.
 * @param {number} high
 * @param {number} low
 */
const join = (high, low) => (high & 0xfffff) * HALF + (low >>> 0)

/** SHA-256 in hex. `crypto.hash` of newer Node versions takes half the time. @type {(text: string) => string} */
const sha256 = crypto.hash
  ? (text) => crypto.hash('sha256', text)
  : (text) => crypto.createHash('sha256').update(text).digest('hex')

/** The first 52 bits of the hash. @param {string} text */
const sum = (text) => Number.parseInt(sha256(text).slice(0, 13), 16)
