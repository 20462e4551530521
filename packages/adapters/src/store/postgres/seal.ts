import type { Sealed } from '@atrium/host/ports/log'
import type { Handlers } from '../../process/thread-request.ts'
import { link as linked } from '../checksums.ts'
import { clientsOf, compressed, lengthOf } from '../compress.ts'
import { Damage, verify } from '../lines.ts'
import type { Line } from '../lines.ts'
import { segmentHash } from '../segment-text.ts'
import type { Compressed, Segment } from '../segment-text.ts'
import type { StoreApi } from '../worker-api.ts'
import { fence } from './fence.ts'
import type { Owner } from './fence.ts'
import { checkpointReader } from './forget.ts'
import { keyOf } from './key.ts'
import { only, transaction } from './link.ts'
import type { Query } from './link.ts'
import { rowsOf } from './read.ts'

/** The maximum size of a segment. Deleting more rows at once would hold up a flush for too long. */
const MOST = { lines: 500, length: 256 * 1024 }
const NOTHING: Sealed = { envelopes: 0, more: false }

/**
 * Returns a function that seals a slice of a channel. The slice is read and compressed while flushes go on. The transaction at the
 * end checks that its rows are still there.
 */
export function sealer({ link, reading, epoch }: Owner): Pick<Handlers<StoreApi>, 'seal'> {
  return {
    async seal(uri, upTo, least) {
      const found = await reading
        .run((query) => slice(query, uri, upTo))
        .catch((error: unknown) => {
          if (error instanceof Damage) return { damaged: error.message }
          throw error
        })
      if (!found) return NOTHING
      if ('damaged' in found) return { ...NOTHING, damaged: found.damaged }
      const { id, lines, before, after } = found
      if (lines.length === 0 || lengthOf(lines) < least) {
        // There may be little left to seal because another node owns the store now and has sealed it. Then the fence throws.
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

interface Id {
  readonly id: number
}

/** The oldest rows of a channel, and the chain at both ends. */
interface Slice extends Id {
  readonly lines: readonly Line[]
  readonly before: number
  readonly after: number
}

/** A segment, and the channel and the rows that it is made of. `attempts`: how many attempts there were before. */
interface Replacement extends Id {
  readonly uri: string
  readonly segment: Segment
  readonly clients: ReadonlyMap<string, number>
  readonly epoch: number
  readonly attempts: number
}

/** What is there of the rows of a segment: their number, the chain at their end, and whether the channel is still there. */
interface Now {
  readonly count: number
  readonly chain: number | null
  readonly channels: number
}

/** Returns the oldest rows of a channel and the chain before them, verified. */
async function slice(query: Query, uri: string, upTo: number): Promise<Slice | undefined> {
  const { rows } = await query<Id>('SELECT id FROM channels WHERE key = $1', [keyOf(uri)])
  const id = rows[0]?.id
  if (id === undefined) return undefined
  const lines = await rowsOf(query, id, { after: 0, upTo, most: MOST })
  const newest = await query<{ readonly after: number }>(
    'SELECT after FROM segments WHERE channel = $1 ORDER BY last DESC LIMIT 1',
    [id],
  )
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
 */
async function replace(
  query: Query,
  { uri, id, segment, clients, epoch, attempts }: Replacement,
): Promise<boolean> {
  const { first, last, count, before, after, hash, bytes } = segment
  // An attempt before this one may have been committed.
  if (attempts > 0) {
    const { rowCount } = await query('SELECT 1 FROM segments WHERE channel = $1 AND hash = $2', [id, hash])
    if (rowCount) return true
  }
  return transaction(query, async () => {
    await fence(query, epoch)
    const { rows } = await query<Now>(
      `SELECT (SELECT count(*) FROM envelopes WHERE channel = $1 AND seq <= $2) AS count,
         (SELECT chain FROM envelopes WHERE channel = $1 AND seq = $2) AS chain,
         (SELECT count(*) FROM channels WHERE id = $1 AND key = $3) AS channels`,
      [id, last, keyOf(uri)],
    )
    const now = only(rows)
    if (now.count !== count || now.chain !== after || now.channels !== 1) return false
    const put = await query<Id & Compressed>(
      `INSERT INTO segments (channel, first, last, count, before, after, hash, bytes)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id, first, last, count, before, after, bytes`,
      [id, first, last, count, before, after, hash, bytes],
    )
    const stored = only(put.rows)
    if (segmentHash(uri, stored) !== hash) throw new Error(`a new segment of ${uri} could not be read back`)
    await query(
      `INSERT INTO segment_clients (key, client, last, segment, channel)
       SELECT key, client, last, $4, $5 FROM unnest($1::text[], $2::text[], $3::bigint[]) c (key, client, last)`,
      [[...clients.keys()].map(keyOf), [...clients.keys()], [...clients.values()], stored.id, id],
    )
    await query('DELETE FROM envelopes WHERE channel = $1 AND seq <= $2', [id, last])
    return true
  })
}
