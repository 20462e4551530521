import { createHash } from 'node:crypto'
import { brotliDecompressSync } from 'node:zlib'
import { lineSum, link } from './checksums.js'
import { Damage, LINE_END, orDamaged, toEnvelope } from './lines.js'

/** @typedef {import('./open.js').Database} Database */
/** @typedef {import('./lines.js').Line} Line */
/** @typedef {{ first: number, last: number, count: number, before: number, after: number }} Bounds a segment without its content */
/** @typedef {Bounds & { hash: string, bytes: Uint8Array }} Segment */
/** @typedef {Pick<Line, 'seq' | 'action' | 'origin'>} Content */

/** The separator between the columns of a segment. JSON always escapes it. */
const COLUMN_END = '\x1d'

/**
 * Returns the text of a segment: its numbers, origins and actions as columns. Similar texts stand together, so that they
 * compress well. The checksums of the lines are left out, because they do not compress, and follow from the lines.
 * @param {readonly Content[]} lines
 */
export function segmentText(lines) {
  let before = 0
  const distances = lines.map(({ seq }) => {
    const distance = seq - before
    before = seq
    return distance
  })
  const origins = lines.map(({ origin }) => origin ?? '')
  const actions = lines.map(({ action }) => action)
  return [distances, origins, actions].map((column) => column.join(LINE_END)).join(COLUMN_END)
}

/**
 * Returns the lines of the text of a segment.
 * @param {string} text
 * @returns {Content[]}
 */
export function segmentContent(text) {
  const [distances = [], origins = [], actions = []] = text
    .split(COLUMN_END)
    .map((column) => column.split(LINE_END))
  let seq = 0
  return distances.map((distance, i) => {
    seq += Number(distance)
    return { seq, action: actions[i] ?? '', origin: origins[i] || null }
  })
}

/**
 * Returns the hash of a segment. It covers the channel and the bounds, so that no segment can pass for another.
 * @param {string} channel
 * @param {Bounds & { bytes: Uint8Array }} segment
 */
export function segmentHash(channel, { first, last, count, before, after, bytes }) {
  const bounds = [channel, first, last, count, before, after].join('\n')
  return createHash('sha256').update(`${bounds}\n`).update(bytes).digest('hex')
}

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
     * @param {import('./lines.js').StoredEnvelope[]} others newest first
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

/** @param {string | null} origin */
export const clientOf = (origin) => (origin === null ? undefined : String(JSON.parse(origin).clientId))

/**
 * @param {string} uri
 * @param {Segment} segment
 */
function contentOf(uri, segment) {
  const { first, last, bytes, hash } = segment
  if (hash !== segmentHash(uri, segment))
    throw new Damage(`the segment of the numbers ${first} to ${last} has a wrong checksum`)
  return segmentContent(brotliDecompressSync(bytes).toString())
}
