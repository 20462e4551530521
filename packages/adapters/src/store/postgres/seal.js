import { link as linked } from '../checksums.js'
import { clientsOf, compressed, lengthOf } from '../compress.js'
import { Damage, verify } from '../lines.js'
import { segmentHash } from '../segment-text.js'
import { checkpointReader } from './forget.js'
import { keyOf } from './key.js'
import { transaction } from './link.js'
import { rowsOf } from './read.js'
import { fence } from './fence.js'

/** @typedef {import('./link.js').Query} Query */
/** @typedef {import('../segment-text.js').Segment} Segment */
/** @typedef {import('@atrium/host/ports/log').Sealed} Sealed */

/** The maximum size of a segment. Deleting more rows at once would hold up a flush for too long. */
const MOST = { lines: 500, length: 256 * 1024 }
/** @type {Sealed} */
const NOTHING = { envelopes: 0, more: false }

/**
 * Returns a function that seals a slice of a channel. The slice is read and compressed while flushes go on. The transaction at the
 * end checks that its rows are still there.
 * @param {{ link: import('./link.js').Link, reading: import('./link.js').Link, epoch: number }} owner
 */
export function sealer({ link, reading, epoch }) {
  return {
    /**
     * @param {string} uri
     * @param {number} upTo
     * @param {number} least
     * @returns {Promise<Sealed>}
     */
    async seal(uri, upTo, least) {
      const found = await reading
        .run((query) => slice(query, uri, upTo))
        .catch((error) => (error instanceof Damage ? { damaged: error.message } : Promise.reject(error)))
      if (!found) return NOTHING
      if ('damaged' in found) return { ...NOTHING, damaged: found.damaged }
      const { id, lines, before, after } = found
      if (lines.length === 0 || lengthOf(lines) < least) {
        // The slice may be small because the epoch is over, and others have sealed it.
        await link.run((query) => fence(query, epoch))
        return NOTHING
      }
      const segment = await compressed(uri, lines, { before, after })
      const stored = await link.run((query, attempts) =>
        replace(query, { uri, id, segment, clients: clientsOf(lines), epoch, attempts }),
      )
      return stored ? { envelopes: lines.length, more: true } : NOTHING
    },
  }
}

/**
 * Returns the oldest rows of a channel and the chain before them, verified.
 * @param {Query} query
 * @param {string} uri
 * @param {number} upTo
 */
async function slice(query, uri, upTo) {
  const { rows } = await query('SELECT id FROM channels WHERE key = $1', [keyOf(uri)])
  const id = rows[0]?.id
  if (id === undefined) return undefined
  const lines = await rowsOf(query, id, { after: 0, upTo, most: MOST })
  const newest = await query('SELECT after FROM segments WHERE channel = $1 ORDER BY last DESC LIMIT 1', [id])
  const before = newest.rows[0]?.after ?? (await checkpointReader(query).firstChain(uri, id))
  let chain = before
  for (const line of lines) {
    verify(uri, line)
    chain = linked(chain, line.sum ?? 0)
    if (chain !== line.chain) throw new Damage(`number ${line.seq} does not continue the one before it`)
  }
  return { id, lines, before, after: chain }
}

/**
 * Stores a segment and deletes the rows of its envelopes. Returns false if the rows have changed since they were read, because
 * the channel was dropped.
 * @param {Query} query
 * @param {{ uri: string, id: number, segment: Segment, clients: ReadonlyMap<string, number>, epoch: number, attempts: number }} what
 */
async function replace(query, { uri, id, segment, clients, epoch, attempts }) {
  const { first, last, count, before, after, hash, bytes } = segment
  // An attempt before this one may have been committed.
  if (attempts > 0) {
    const { rowCount } = await query('SELECT 1 FROM segments WHERE channel = $1 AND hash = $2', [id, hash])
    if (rowCount) return true
  }
  return transaction(query, async () => {
    await fence(query, epoch)
    const { rows } = await query(
      `SELECT (SELECT count(*) FROM envelopes WHERE channel = $1 AND seq <= $2) AS count,
         (SELECT chain FROM envelopes WHERE channel = $1 AND seq = $2) AS chain,
         (SELECT count(*) FROM channels WHERE id = $1 AND key = $3) AS channels`,
      [id, last, keyOf(uri)],
    )
    const now = rows[0]
    if (now.count !== count || now.chain !== after || now.channels !== 1) return false
    const put = await query(
      `INSERT INTO segments (channel, first, last, count, before, after, hash, bytes)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id, first, last, count, before, after, bytes`,
      [id, first, last, count, before, after, hash, bytes],
    )
    if (segmentHash(uri, put.rows[0]) !== hash)
      throw new Error(`a new segment of ${uri} could not be read back`)
    await query(
      `INSERT INTO segment_clients (key, client, last, segment, channel)
       SELECT key, client, last, $4, $5 FROM unnest($1::text[], $2::text[], $3::bigint[]) c (key, client, last)`,
      [[...clients.keys()].map(keyOf), [...clients.keys()], [...clients.values()], put.rows[0].id, id],
    )
    await query('DELETE FROM envelopes WHERE channel = $1 AND seq <= $2', [id, last])
    return true
  })
}
