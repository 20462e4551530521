import type { Sealed } from '@atrium/host/ports/log'
import type { Handlers } from '../../process/thread-request.ts'
import { link } from '../checksums.ts'
import { clientsOf, compressed, lengthOf } from '../compress.ts'
import { Damage, verify } from '../lines.ts'
import type { Line } from '../lines.ts'
import { segmentHash } from '../segment-text.ts'
import type { Compressed, Segment } from '../segment-text.ts'
import type { StoreApi } from '../worker-api.ts'
import { checkpointReader } from './checkpoints.ts'
import type { SqlDialect, SqlStore } from './dialect.ts'
import { only, orDamaged } from './work.ts'
import type { Work } from './work.ts'

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
export function sealer(store: SqlStore): Pick<Handlers<StoreApi>, 'seal'> {
  const { dialect } = store
  const sql = statements(dialect)
  const checkpoints = checkpointReader(dialect)

  /** Returns the oldest rows of a channel and the chain before them, verified. */
  function* slice(uri: string, upTo: number): Work<Slice | undefined> {
    const [channel] = yield* sql.channel(dialect.key(uri))
    if (!channel) return undefined
    const { id } = channel
    const lines = yield* dialect.lines(id, { after: 0, upTo, most: MOST })
    const [newest] = yield* sql.newest(id)
    const before = newest?.after ?? (yield* checkpoints.firstChain(uri, id))
    let chain = before
    for (const line of lines) {
      verify(uri, line)
      chain = link(chain, line.sum ?? 0)
      if (chain !== line.chain) throw new Damage(`number ${line.seq} does not continue the one before it`)
    }
    return { id, lines, before, after: chain }
  }

  /** Stores a segment and deletes the rows of its envelopes. Returns false if the channel was dropped since they were read. */
  function* replace(uri: string, { id, lines }: Slice, segment: Segment): Work<boolean> {
    const { first, last, count, before, after, hash, bytes } = segment
    const rows = only(yield* sql.rows(id, last))
    const [channel] = yield* sql.channel(dialect.key(uri))
    if (rows.count !== count || rows.chain !== after || channel?.id !== id) return false
    const put = only(yield* sql.putSegment(id, first, last, count, before, after, hash, bytes))
    for (const [client, newest] of clientsOf(lines)) yield* sql.putClient(client, newest, put.id, id)
    const [stored] = yield* sql.segment(put.id)
    if (!stored || segmentHash(uri, stored) !== hash)
      throw new Error(`a new segment of ${uri} could not be read back`)
    yield* sql.deleteRows(id, last)
    return true
  }

  return {
    async seal(uri, upTo, least) {
      const found = await store.read(() => orDamaged(dialect, slice(uri, upTo)))
      if (!found) return NOTHING
      if ('damaged' in found) return { ...NOTHING, damaged: found.damaged }
      const { id, lines, before, after } = found
      if (lines.length === 0 || lengthOf(lines) < least) {
        // There may be little left to seal because another node owns the store now and has sealed it. Then this throws.
        await store.write(() => sql.channel(dialect.key(uri)))
        return NOTHING
      }
      const segment = await compressed(uri, lines, { before, after })
      const stored = await store.write(function* (again): Work<boolean> {
        if (again && (yield* sql.sealed(id, segment.hash)).length > 0) return true
        return yield* replace(uri, found, segment)
      })
      return stored ? { envelopes: lines.length, more: true } : NOTHING
    },
  }
}

function statements(dialect: SqlDialect) {
  return {
    channel: dialect.statement<{ readonly id: number }>(
      `SELECT id FROM channels WHERE ${dialect.by('uri')} = ?1`,
    ),
    newest: dialect.statement<{ readonly after: number }>(
      'SELECT after FROM segments WHERE channel = ?1 ORDER BY last DESC LIMIT 1',
    ),
    rows: dialect.statement<{ readonly count: number; readonly chain: number | null }>(
      `SELECT (SELECT count(*) FROM envelopes WHERE channel = ?1 AND seq <= ?2) AS count,
         (SELECT chain FROM envelopes WHERE channel = ?1 AND seq = ?2) AS chain`,
    ),
    putSegment: dialect.statement<{ readonly id: number }>(
      `INSERT INTO segments (channel, first, last, count, before, after, hash, bytes)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) RETURNING id`,
    ),
    putClient: dialect.insert('segment_clients', ['client', 'last', 'segment', 'channel']),
    segment: dialect.statement<Compressed>(
      'SELECT first, last, count, before, after, bytes FROM segments WHERE id = ?1',
    ),
    sealed: dialect.statement<object>('SELECT id FROM segments WHERE channel = ?1 AND hash = ?2'),
    deleteRows: dialect.statement('DELETE FROM envelopes WHERE channel = ?1 AND seq <= ?2'),
  }
}
