import { creationSum, headSum, rowSum, toggle } from '../checksums.js'
import { Damage } from '../lines.js'
import { checkpointReader } from './forget.js'
import { keyOf } from './key.js'

/** @typedef {import('./link.js').Query} Query */
/** @typedef {{ id: number, kind: string, seq: number, chain: number | null, rows: number }} Channel a channel and its tail */
/** @typedef {{ seq: number, state: string, chain: number, rowIds: string | null, rows: string[], fromCreation: boolean }} Start the state from which envelopes are replayed */

/**
 * Reads the states with which a channel may begin, and its rows.
 * @param {Query} query
 */
export function startOf(query) {
  /**
   * Returns the texts of rows. Missing and damaged rows are left out.
   * @param {string} uri
   * @param {number} channel
   * @param {readonly string[]} ids
   * @returns {Promise<Map<string, string>>}
   */
  const textsOf = async (uri, channel, ids) => {
    const { rows } = await query(
      'SELECT id, text, sum FROM rows WHERE channel = $1 AND key = ANY($2::text[])',
      [channel, ids.map(keyOf)],
    )
    return new Map(
      rows.flatMap(({ id, text, sum }) => (sum === rowSum({ channel: uri, id, text }) ? [[id, text]] : [])),
    )
  }

  return {
    textsOf,

    /**
     * @param {string} uri
     * @returns {Promise<Channel | undefined>}
     */
    async channelOf(uri) {
      const { rows } = await query(
        `SELECT id, kind, t.seq AS seq, chain, rows FROM channels LEFT JOIN tails t ON t.channel = id WHERE key = $1`,
        [keyOf(uri)],
      )
      return rows[0]
    },

    /**
     * @param {string} uri
     * @param {Channel} channel
     * @returns {Promise<Start>}
     */
    async creationOf(uri, { id, kind }) {
      const { rows } = await query('SELECT seq, state, sum FROM channels WHERE id = $1', [id])
      const { seq, state, sum } = rows[0]
      if (sum !== creationSum({ seq, channel: uri, kind, state }))
        throw new Damage('its creation has a wrong checksum')
      const chain = await checkpointReader(query).firstChain(uri, id)
      return { seq, state, chain, rowIds: null, rows: [], fromCreation: true }
    },

    /**
     * Returns the head with its newest rows. Returns undefined if any of this is damaged, because the envelopes can rebuild
     * the head and the rows. Of all rows, only the list is verified: the xor of all sums must equal the value in the channel's
     * tail.
     * @param {string} uri
     * @param {Channel} channel
     * @param {number} tail
     * @returns {Promise<Start | undefined>}
     */
    async headOf(uri, { id, kind, rows: set }, tail) {
      const head = (await query('SELECT seq, state, chain, sum FROM heads WHERE channel = $1', [id])).rows[0]
      if (!head || head.sum !== headSum({ ...head, channel: uri, kind })) return undefined
      const { rows: list } = await query('SELECT id, sum FROM rows WHERE channel = $1 ORDER BY place', [id])
      if (list.reduce((all, { sum }) => toggle(all, sum), 0) !== set) return undefined
      const ids = list.map((row) => row.id)
      const newest = ids.slice(Math.max(0, ids.length - tail))
      const texts = newest.length === 0 ? new Map() : await textsOf(uri, id, newest)
      if (texts.size < newest.length) return undefined
      const { seq, state, chain } = head
      const rows = newest.map((each) => texts.get(each))
      return {
        seq,
        state,
        chain,
        rowIds: ids.length === 0 ? null : ids.join('\x1e'),
        rows,
        fromCreation: false,
      }
    },
  }
}
