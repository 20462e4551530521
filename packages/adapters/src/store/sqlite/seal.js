import { promisify } from 'node:util'
import { brotliCompress, brotliDecompress, constants } from 'node:zlib'
import { link } from './checksums.js'
import { checkpointReader } from './forget.js'
import { Damage, orDamaged, verify } from './lines.js'
import { clientOf, segmentContent, segmentHash, segmentText } from './segments.js'

/** @typedef {import('./open.js').Database} Database */
/** @typedef {import('./lines.js').Line} Line */
/** @typedef {import('./segments.js').Segment} Segment */
/** @typedef {import('@atrium/host/ports/log').Sealed} Sealed */

/** The maximum size of a segment. Deleting more rows at once would hold up a flush for too long. */
const MOST = { lines: 500, length: 256 * 1024 }
/** The quality of compression. Higher ones save little, and take much more time. */
const QUALITY = 5
/** @type {Sealed} */
const NOTHING = { envelopes: 0, more: false }

/**
 * Returns a function that seals a slice of a channel. Compression and the decompression for the first check happen in other
 * threads, so that flushes go on in between. The rows are read before that. The transaction at the end checks that they are
 * still there.
 * @param {Database} db
 * @param {(id: number, after: number, upTo: number, most: { lines: number, length: number }) => Line[]} rowsOf
 */
export function sealer(db, rowsOf) {
  const sql = statements(db)
  const checkpoints = checkpointReader(db)

  /**
   * Returns the oldest rows of a channel and the chain before them, verified.
   * @param {string} uri
   * @param {number} upTo
   */
  const slice = (uri, upTo) => {
    const channel = sql.channel.get(uri)
    if (!channel) return undefined
    const lines = rowsOf(channel.id, 0, upTo, MOST)
    const before = sql.newest.get(channel.id)?.after ?? checkpoints.firstChain(uri, channel.id)
    let chain = before
    for (const line of lines) {
      verify(uri, line)
      chain = link(chain, line.sum ?? 0)
      if (chain !== line.chain) throw new Damage(`number ${line.seq} does not continue the one before it`)
    }
    return { id: channel.id, lines, before, after: chain }
  }

  /**
   * Stores a segment and deletes the rows of its envelopes. Returns false if the rows have changed since they were read,
   * because the channel was dropped.
   * @param {string} uri
   * @param {number} id
   * @param {Segment} segment
   * @param {ReadonlyMap<string, number>} clients
   */
  const replace = (uri, id, segment, clients) => {
    const { first, last, count, before, after, hash, bytes } = segment
    db.exec('BEGIN IMMEDIATE')
    try {
      const same = sql.rows.get(id, last)?.count === count && sql.chain.get(id, last)?.chain === after
      if (!same || sql.channel.get(uri)?.id !== id) {
        db.exec('ROLLBACK')
        return false
      }
      const { lastInsertRowid } = sql.putSegment.run(id, first, last, count, before, after, hash, bytes)
      for (const [client, newest] of clients) sql.putClient.run(client, newest, lastInsertRowid, id)
      const stored = sql.segment.get(lastInsertRowid)
      if (segmentHash(uri, stored) !== hash) throw new Error(`a new segment of ${uri} could not be read back`)
      sql.deleteRows.run(id, last)
      db.exec('COMMIT')
      return true
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  return {
    /**
     * @param {string} uri
     * @param {number} upTo
     * @param {number} least
     * @returns {Promise<Sealed>}
     */
    async seal(uri, upTo, least) {
      const found = orDamaged(() => slice(uri, upTo))
      if (!found) return NOTHING
      if ('damaged' in found) return { ...NOTHING, damaged: found.damaged }
      const { id, lines, before, after } = found
      const [oldest, newest] = [lines.at(0), lines.at(-1)]
      if (!oldest || !newest || lengthOf(lines) < least) return NOTHING
      const text = segmentText(lines)
      const params = { [constants.BROTLI_PARAM_QUALITY]: QUALITY }
      const bytes = await promisify(brotliCompress)(text, { params })
      const read = segmentContent((await promisify(brotliDecompress)(bytes)).toString())
      if (!lines.every((line, i) => sameContent(line, read[i])) || read.length !== lines.length)
        throw new Error(
          `the numbers ${oldest.seq} to ${newest.seq} of ${uri} could not be compressed without loss`,
        )
      const bounds = { first: oldest.seq, last: newest.seq, count: lines.length, before, after }
      const segment = { ...bounds, bytes, hash: segmentHash(uri, { ...bounds, bytes }) }
      if (!db.isOpen || !replace(uri, id, segment, clientsOf(lines))) return NOTHING
      return { envelopes: lines.length, more: true }
    },
  }
}

/** @param {readonly Line[]} lines */
const lengthOf = (lines) => lines.reduce((sum, { action }) => sum + action.length, 0)

/**
 * @param {Line} line
 * @param {import('./segments.js').Content | undefined} other
 */
const sameContent = (line, other) =>
  line.seq === other?.seq && line.action === other.action && line.origin === other.origin

/**
 * Returns the clients that dispatched some of the lines, each with the number of its last line.
 * @param {readonly Line[]} lines
 */
function clientsOf(lines) {
  /** @type {Map<string, number>} */
  const clients = new Map()
  for (const { seq, origin } of lines) {
    const client = clientOf(origin)
    if (client !== undefined) clients.set(client, seq)
  }
  return clients
}

/** @param {Database} db */
function statements(db) {
  return {
    channel: db.prepare(`SELECT id FROM channels WHERE uri = ?`),
    newest: db.prepare(`SELECT after FROM segments WHERE channel = ? ORDER BY last DESC LIMIT 1`),
    rows: db.prepare(`SELECT count(*) AS count FROM envelopes WHERE channel = ? AND seq <= ?`),
    chain: db.prepare(`SELECT chain FROM envelopes WHERE channel = ? AND seq = ?`),
    putSegment: db.prepare(
      `INSERT INTO segments (channel, first, last, count, before, after, hash, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    putClient: db.prepare(`INSERT INTO segment_clients (client, last, segment, channel) VALUES (?, ?, ?, ?)`),
    segment: db.prepare(`SELECT first, last, count, before, after, bytes FROM segments WHERE id = ?`),
    deleteRows: db.prepare(`DELETE FROM envelopes WHERE channel = ? AND seq <= ?`),
  }
}
