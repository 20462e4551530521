import { lineSum, link } from '../checksums.js'
import { Damage, toEnvelope } from '../lines.js'
import { clientOf, contentOf } from '../segment-text.js'
import { keyOf } from './key.js'

/** @typedef {import('./link.js').Query} Query */
/** @typedef {import('../lines.js').Line} Line */
/** @typedef {import('../lines.js').StoredEnvelope} StoredEnvelope */

const COLUMNS = 's.first, s.last, s.count, s.before, s.after, s.hash, s.bytes'

/**
 * Reads sealed envelopes.
 * @param {Query} query
 */
export function segmentReader(query) {
  /**
   * @param {number} channel
   * @param {number} after
   * @param {number} upTo
   */
  const next = async (channel, after, upTo) => {
    const { rows } = await query(
      `SELECT ${COLUMNS} FROM segments s WHERE channel = $1 AND last > $2 AND first <= $3 ORDER BY last LIMIT 1`,
      [channel, after, upTo],
    )
    return rows[0]
  }

  return {
    /**
     * Returns which of the channels have sealed envelopes after a number.
     * @param {readonly number[]} channels
     * @param {number} after
     * @returns {Promise<Set<number>>}
     */
    async among(channels, after) {
      const { rows } = await query(
        `SELECT DISTINCT channel FROM segments WHERE channel = ANY($1::bigint[]) AND last > $2`,
        [channels, after],
      )
      return new Set(rows.map(({ channel }) => channel))
    },

    /**
     * Returns the lines of the next segment of a channel. They have no checksums of their own, because the hash of the
     * segment covers them; the last line of the segment has the chain. The list is empty if no segment is in this range.
     * @param {string} uri
     * @param {number} channel
     * @param {number} after
     * @param {number} upTo
     * @returns {Promise<Line[]>}
     */
    async lines(uri, channel, after, upTo) {
      const segment = await next(channel, after, upTo)
      if (!segment) return []
      return contentOf(uri, segment)
        .map((line) => ({ ...line, sum: null, chain: line.seq === segment.last ? segment.after : null }))
        .filter(({ seq }) => seq > after && seq <= upTo)
    },

    /**
     * Returns the chain after the last sealed envelope whose sequence number is at most `seq`. Undefined if there is no such
     * envelope.
     * @param {string} uri
     * @param {number} channel
     * @param {number} seq
     * @returns {Promise<number | undefined>}
     */
    async chainAt(uri, channel, seq) {
      const segment = await next(channel, seq, seq)
      if (!segment) {
        const { rows } = await query(
          `SELECT after FROM segments WHERE channel = $1 AND last <= $2 ORDER BY last DESC LIMIT 1`,
          [channel, seq],
        )
        return rows[0]?.after
      }
      const lines = contentOf(uri, segment).filter((line) => line.seq <= seq)
      return lines.reduce((chain, line) => link(chain, lineSum({ ...line, channel: uri })), segment.before)
    },

    /**
     * Adds the sealed envelopes of a client to its newest other envelopes. Returns the newest of both, newest first. Damaged
     * segments are left out.
     * @param {string} clientId
     * @param {number} after
     * @param {number} most
     * @param {StoredEnvelope[]} others newest first
     */
    async dispatchedBy(clientId, after, most, others) {
      let found = others
      for (let below = Number.MAX_SAFE_INTEGER; ;) {
        const { rows } = await query(
          `SELECT c.last AS newest, uri, ${COLUMNS} FROM segment_clients c
           JOIN segments s ON s.id = c.segment JOIN channels ch ON ch.id = c.channel
           WHERE c.key = $1 AND c.last > $2 AND c.last < $3 AND ch.key IS NOT NULL ORDER BY c.last DESC LIMIT 1`,
          [keyOf(clientId), after, below],
        )
        const segment = rows[0]
        // The segments come in the order of the client's last envelope in each, newest first. So later segments cannot have
        // newer envelopes.
        if (!segment || (found.length >= most && (found[most - 1]?.seq ?? 0) > segment.newest)) return found
        below = segment.newest
        const own = undamaged(() => contentOf(segment.uri, segment))
          .filter(({ seq, origin }) => seq > after && isOf(origin, clientId))
          .map((line) => toEnvelope(segment.uri, { ...line, sum: null, chain: null }))
        found = [...found, ...own].toSorted((a, b) => b.seq - a.seq).slice(0, most)
      }
    },
  }
}

/**
 * Returns what a function reads; nothing if that is damaged.
 * @template T
 * @param {() => T[]} read
 * @returns {T[]}
 */
export function undamaged(read) {
  try {
    return read()
  } catch (error) {
    if (error instanceof Damage) return []
    throw error
  }
}

/**
 * Whether a client has dispatched an action. The client is given by its id or by its key.
 * @param {string | null} origin
 * @param {string} client
 */
function isOf(origin, client) {
  const id = clientOf(origin)
  return id !== undefined && keyOf(id) === keyOf(client)
}
