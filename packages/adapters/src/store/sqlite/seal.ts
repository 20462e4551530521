import type { Sealed } from '@atrium/host/ports/log'
import type { Handlers } from '../../process/thread-request.ts'
import { link } from '../checksums.ts'
import { clientsOf, compressed, lengthOf } from '../compress.ts'
import type { Database } from '../database.ts'
import { Damage, verify } from '../lines.ts'
import type { Line } from '../lines.ts'
import { segmentHash } from '../segment-text.ts'
import type { Compressed, Segment } from '../segment-text.ts'
import type { StoreApi } from '../worker-api.ts'
import { orDamaged } from './failure.ts'
import { checkpointReader } from './forget.ts'
import type { LineReader } from './line-reader.ts'

/** The maximum size of a segment. Deleting more rows at once would hold up a flush for too long. */
const MOST = { lines: 500, length: 256 * 1024 }
const NOTHING: Sealed = { envelopes: 0, more: false }

/** The oldest rows of a channel, and the chain at both ends. */
interface Slice {
  readonly id: number
  readonly lines: readonly Line[]
  readonly before: number
  readonly after: number
}

/**
 * Returns a function that seals a slice of a channel. Compression and the decompression for the first check happen in other
 * threads, so that flushes go on in between. The rows are read before that. The transaction at the end checks that they are
 * still there.
 */
export function sealer(db: Database, rowsOf: LineReader['rowsOf']): Pick<Handlers<StoreApi>, 'seal'> {
  const sql = statements(db)
  const checkpoints = checkpointReader(db)

  /** Returns the oldest rows of a channel and the chain before them, verified. */
  const slice = (uri: string, upTo: number): Slice | undefined => {
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
   */
  const replace = (
    uri: string,
    id: number,
    segment: Segment,
    clients: ReadonlyMap<string, number>,
  ): boolean => {
    const { first, last, count, before, after, hash, bytes } = segment
    db.exec('BEGIN IMMEDIATE')
    try {
      const same = sql.rows.get(id, last).count === count && sql.chain.get(id, last)?.chain === after
      if (!same || sql.channel.get(uri)?.id !== id) {
        db.exec('ROLLBACK')
        return false
      }
      const { lastInsertRowid } = sql.putSegment.run(id, first, last, count, before, after, hash, bytes)
      for (const [client, newest] of clients) sql.putClient.run(client, newest, lastInsertRowid, id)
      const stored = sql.segment.get(lastInsertRowid)
      if (!stored || segmentHash(uri, stored) !== hash)
        throw new Error(`a new segment of ${uri} could not be read back`)
      sql.deleteRows.run(id, last)
      db.exec('COMMIT')
      return true
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  return {
    async seal(uri, upTo, least) {
      const found = orDamaged(() => slice(uri, upTo))
      if (!found) return NOTHING
      if ('damaged' in found) return { ...NOTHING, damaged: found.damaged }
      const { id, lines, before, after } = found
      if (lines.length === 0 || lengthOf(lines) < least) return NOTHING
      const segment = await compressed(uri, lines, { before, after })
      if (!db.isOpen || !replace(uri, id, segment, clientsOf(lines))) return NOTHING
      return { envelopes: lines.length, more: true }
    },
  }
}

function statements(db: Database) {
  return {
    channel: db.prepare<{ readonly id: number }>(`SELECT id FROM channels WHERE uri = ?`),
    newest: db.prepare<{ readonly after: number }>(
      `SELECT after FROM segments WHERE channel = ? ORDER BY last DESC LIMIT 1`,
    ),
    rows: db.prepare<{ readonly count: number }, never>(
      `SELECT count(*) AS count FROM envelopes WHERE channel = ? AND seq <= ?`,
    ),
    chain: db.prepare<{ readonly chain: number }>(
      `SELECT chain FROM envelopes WHERE channel = ? AND seq = ?`,
    ),
    putSegment: db.prepare(
      `INSERT INTO segments (channel, first, last, count, before, after, hash, bytes) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    putClient: db.prepare(`INSERT INTO segment_clients (client, last, segment, channel) VALUES (?, ?, ?, ?)`),
    segment: db.prepare<Compressed>(
      `SELECT first, last, count, before, after, bytes FROM segments WHERE id = ?`,
    ),
    deleteRows: db.prepare(`DELETE FROM envelopes WHERE channel = ? AND seq <= ?`),
  }
}
