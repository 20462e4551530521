import * as crypto from 'node:crypto'

/** An envelope as it is stored; `origin` is JSON. */
interface Line {
  readonly seq: number
  readonly channel: string
  readonly action: string
  readonly origin: string | null
}

interface Creation {
  readonly seq: number
  readonly channel: string
  readonly kind: string
  readonly state: string
}

interface Checkpoint {
  readonly seq: number
  readonly channel: string
  readonly chain: number
}

interface Row {
  readonly channel: string
  readonly id: string
  readonly text: string
}

export const lineSum = ({ seq, channel, action, origin }: Line): number =>
  sum(`${seq}\n${channel}\n${origin ?? ''}\n${action}`)

export const creationSum = ({ seq, channel, kind, state }: Creation): number =>
  sum(`${seq}\n${channel}\n${kind}\n${state}`)

export const checkpointSum = ({ seq, channel, chain }: Checkpoint): number =>
  sum(`${seq}\n${channel}\n${chain}`)

export const rowSum = ({ channel, id, text }: Row): number => sum(`${channel}\n${id}\n${text}`)

/**
 * Returns the checksum of a head. It covers the kind of the channel too, so that a valid head can be loaded without reading
 * the creation.
 */
export const headSum = ({ seq, channel, kind, state, chain }: Creation & Checkpoint): number =>
  sum(`${seq}\n${chain}\n${channel}\n${kind}\n${state}`)

export const boundSum = (upTo: number): number => sum(`upTo\n${upTo}`)

/**
 * Returns the value of a chain after one more envelope. The chain must detect accidents and not attacks, so mixing bits is
 * enough. A second hash would double the cost.
 */
export function link(chain: number, sum: number): number {
  let low = Math.imul(chain ^ (chain >>> 15), 0x2c1b3c6d) ^ sum
  let high = Math.imul((chain / HALF) ^ low, 0x297a2d39) ^ (sum / HALF)
  low = Math.imul(low ^ (high >>> 13), 0x85ebca6b)
  high = Math.imul(high ^ (low >>> 16), 0xc2b2ae35)
  return join(high ^ (high >>> 16), low ^ (low >>> 13))
}

/** Adds a sum to a set of sums. If the set contains the sum, removes it. Both are the same operation (xor). */
export const toggle = (set: number, sum: number): number => join((set / HALF) ^ (sum / HALF), set ^ sum)

const HALF = 2 ** 32

/** Joins two halves to a number of 52 bits, which fits into a JavaScript number and an SQLite integer. */
const join = (high: number, low: number): number => (high & 0xfffff) * HALF + (low >>> 0)

/** SHA-256 in hex. `crypto.hash` of newer Node versions takes half the time. */
const sha256: (text: string) => string =
  // Node 20.12 and older have no `crypto.hash`, whatever the types say.
  typeof crypto.hash === 'function'
    ? (text) => crypto.hash('sha256', text)
    : (text) => crypto.createHash('sha256').update(text).digest('hex')

/** The first 52 bits of the hash. */
const sum = (text: string): number => Number.parseInt(sha256(text).slice(0, 13), 16)
