import { lineSum, link } from '../checksums.js'
import { toEnvelope } from '../lines.js'
import { clientOf, contentOf } from '../segment-text.js'
import { orDamaged } from './lines.js'

/** @typedef {import('./open.js').Database} Database */
/** @typedef {import('../lines.js').Line} Line */
/** @typedef {import('../segment-text.js').Segment} Segment */

/**
 * Reads sealed envelopes.
 * @param {Database} db
 */
export function segmentReader(db) {
  const columns = 's.first, s.last, s.count, s.before, s.after, s.hash, s.bytes'
  const next = db.prepare(
    `SELECT ${columns} FROM segments s WHERE channel = ? AND last > ? AND first <= ? ORDER BY last LIMIT 1`,
  )
  const ended = db.prepare(
    `SELECT after FROM segments WHERE channel = ? AND last <= ? ORDER BY last DESC LIMIT 1`,
  )
  const ofClient = db.prepare(
    `SELECT c.last AS newest, uri, ${columns} FROM segment_clients c
     JOIN segments s ON s.id = c.segment JOIN channels ch ON ch.id = c.channel
     WHERE client = ? AND c.last > ? AND typeof(uri) = 'text' ORDER BY c.last DESC`,
  )

  return {
    /**
     * Returns the lines of the next segment of a channel. They have no checksums of their own, because the hash of the
     * segment covers them; the last line of the segment has the chain. The list is empty if no segment is in this range.
     * @param {string} uri
     * @param {number} channel
     * @param {number} after
     * @param {number} upTo
     * @returns {Line[]}
     */
    lines(uri, channel, after, upTo) {
      const segment = /** @type {Segment | undefined} */ (next.get(channel, after, upTo))
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
     * @returns {number | undefined}
     */
    chainAt(uri, channel, seq) {
      const segment = /** @type {Segment | undefined} */ (next.get(channel, seq, seq))
      if (!segment) return ended.get(channel, seq)?.after
      const lines = contentOf(uri, segment).filter((line) => line.seq <= seq)
      return lines.reduce((chain, line) => link(chain, lineSum({ ...line, channel: uri })), segment.before)
    },

    /**
     * Adds the sealed envelopes of a client to its newest other envelopes. Returns the newest of both, newest first. Damaged
     * segments are left out.
     * @param {string} clientId
     * @param {number} after
     * @param {number} most
     * @param {import('../lines.js').StoredEnvelope[]} others newest first
     */
    dispatchedBy(clientId, after, most, others) {
      let found = others
      for (const { newest, uri, ...segment } of ofClient.iterate(clientId, after)) {
        // The segments come in the order of the client's last envelope in each, newest first. So later segments cannot have
        // newer envelopes.
        if (found.length >= most && (found[most - 1]?.seq ?? 0) > newest) break
        const content = orDamaged(() => contentOf(uri, /** @type {Segment} */ (segment)))
        if ('damaged' in content) continue
        const own = content
          .filter(({ seq, origin }) => seq > after && clientOf(origin) === clientId)
          .map((line) => toEnvelope(uri, { ...line, sum: null, chain: null }))
        found = [...found, ...own].toSorted((a, b) => b.seq - a.seq).slice(0, most)
      }
      return found
    },
  }
}
