import { keyOf } from './key.js'
import { Damage } from '../lines.js'

/** @typedef {import('./link.js').Query} Query */
/** @typedef {{ id: number, kind: string, seq: number, chain: number, rows: number, places: number }} Tail the end of a channel */

/** The maximum number of tails in memory. */
const MOST = 20_000

/**
 * The ends of the channels that were written last. Only the owner writes, so they stay true in memory, and the usual flush
 * reads nothing.
 */
export class Tails {
  constructor() {
    /** @type {Map<string, Tail>} */
    this.known = new Map()
  }

  /** Forgets everything, because a write has failed. */
  clear() {
    this.known.clear()
  }

  /**
   * Takes the tails of a batch that was stored. A URI without a tail was dropped.
   * @param {ReadonlyMap<string, Tail | undefined>} written
   */
  take(written) {
    for (const [uri, tail] of written) {
      this.known.delete(uri)
      if (tail) this.known.set(uri, tail)
    }
    for (const uri of this.known.keys()) {
      if (this.known.size <= MOST) return
      this.known.delete(uri)
    }
  }

  /**
   * Returns copies of the tails of channels, from memory or else from the database. Missing channels are left out.
   * @param {Query} query
   * @param {readonly string[]} uris
   * @returns {Promise<Map<string, Tail>>}
   */
  async of(query, uris) {
    /** @type {Map<string, Tail>} */
    const found = new Map()
    const unknown = []
    for (const uri of uris) {
      const tail = this.known.get(uri)
      if (tail) found.set(uri, { ...tail })
      else unknown.push(uri)
    }
    if (unknown.length > 0)
      for (const { uri, ...tail } of (await query(TAILS, [unknown.map(keyOf)])).rows) {
        if (tail.chain === null) throw new Damage(`the tail of ${uri} is missing`)
        found.set(uri, tail)
      }
    return found
  }
}

const TAILS = {
  name: 'tails',
  text: `SELECT uri, id, kind, t.seq AS seq, chain, rows, places FROM channels LEFT JOIN tails t ON t.channel = id
    WHERE key = ANY($1::text[])`,
}
