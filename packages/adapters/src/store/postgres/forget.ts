import type { StoredEnvelope } from '@atrium/host/ports/log'
import type { Handlers } from '../../process/thread-request.ts'
import { checkpointSum, creationSum, lineSum } from '../checksums.ts'
import { Damage, toEnvelope } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { StoreApi } from '../worker-api.ts'
import { fence } from './fence.ts'
import type { Owner } from './fence.ts'
import { keyOf } from './key.ts'
import { only, transaction } from './link.ts'
import type { Query } from './link.ts'
import { segmentReader, undamaged } from './segments.ts'

/** The end of the envelopes that a channel has forgotten: its last number, and the chain there. */
export interface Checkpoint {
  readonly seq: number
  readonly chain: number
}

interface Sum {
  readonly sum: number
}

interface CheckpointReader {
  /** Returns the checkpoint with which a channel begins. Undefined if the channel begins with its creation. */
  checkpointOf(uri: string, channel: number): Promise<Checkpoint | undefined>
  /** Returns the chain before the first envelope of a channel. */
  firstChain(uri: string, channel: number): Promise<number>
  /** Returns the chain after the last envelope of a channel whose sequence number is at most `seq`. */
  chainAt(uri: string, channel: number, seq: number): Promise<number>
  /** Returns forgotten envelopes that a client may send again, newest first. Damaged ones are left out. */
  keptOf(clientId: string, after: number, most: number): Promise<readonly StoredEnvelope[]>
}

/** Reads the newest actions of a client, which is given by its key. */
type NewestOf = (query: Query, client: string, most: number) => Promise<readonly StoredEnvelope[]>

/** Reads what is left of forgotten envelopes. */
export function checkpointReader(query: Query): CheckpointReader {
  const segments = segmentReader(query)

  const checkpointOf = async (uri: string, channel: number): Promise<Checkpoint | undefined> => {
    const text = 'SELECT seq, chain, sum FROM forgotten WHERE channel = $1'
    const { rows } = await query<Checkpoint & Sum>(text, [channel])
    return verified(uri, rows[0])
  }

  const firstChain = async (uri: string, channel: number): Promise<number> => {
    const checkpoint = await checkpointOf(uri, channel)
    if (checkpoint) return checkpoint.chain
    const { rows } = await query<Sum>('SELECT sum FROM channels WHERE id = $1', [channel])
    if (!rows[0]) throw new Damage('its creation is missing')
    return rows[0].sum
  }

  return {
    checkpointOf,
    firstChain,

    async chainAt(uri, channel, seq) {
      const { rows } = await query<{ readonly chain: number }>(
        `SELECT chain FROM envelopes WHERE channel = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1`,
        [channel, seq],
      )
      return rows[0]?.chain ?? (await segments.chainAt(uri, channel, seq)) ?? (await firstChain(uri, channel))
    },

    async keptOf(clientId, after, most) {
      const { rows } = await query<Line & { readonly uri: string }>(
        `SELECT k.seq AS seq, action, origin, k.sum AS sum, NULL AS chain, uri FROM kept k JOIN channels c ON id = k.channel
         WHERE k.key = $1 AND k.seq > $2 AND c.key IS NOT NULL ORDER BY k.seq DESC LIMIT $3`,
        [keyOf(clientId), after, most],
      )
      return rows.flatMap(({ uri, ...line }) => undamaged(() => [toEnvelope(uri, line)]))
    },
  }
}

/** Returns a checkpoint after its checksum was verified. */
export function verified(uri: string, found: (Checkpoint & Sum) | undefined): Checkpoint | undefined {
  if (found && found.sum !== checkpointSum({ ...found, channel: uri }))
    throw new Damage('its checkpoint has a wrong checksum')
  return found
}

/** Returns a function that forgets the envelopes of a channel up to a checkpoint. */
export function forgetter({ link, epoch }: Owner, newestOf: NewestOf): Pick<Handlers<StoreApi>, 'forget'> {
  return {
    forget: (checkpoint, keys) =>
      link.run(async (query, attempts) => {
        const { channel: uri, seq, state } = checkpoint
        const { rows } = await query<{ readonly id: number; readonly kind: string; readonly seq: number }>(
          'SELECT id, kind, seq FROM channels WHERE key = $1',
          [keyOf(uri)],
        )
        const channel = rows[0]
        // An attempt before this one may have been committed.
        if (attempts > 0 && channel?.seq === seq) return true
        if (!channel || channel.seq >= seq) return false
        const { id, kind } = channel
        return transaction(query, async () => {
          await fence(query, epoch)
          const chain = await checkpointReader(query)
            .chainAt(uri, id, seq)
            .catch((error: unknown) => {
              if (error instanceof Damage) return undefined
              throw error
            })
          // A damaged channel is set aside, and nothing of it is deleted.
          if (chain === undefined) return false
          await keep(query, { uri, id, upTo: await lastWhole(query, id, seq), keys }, newestOf)
          for (const text of DELETE) await query(text, [id, seq])
          const sum = creationSum({ seq, channel: uri, kind, state })
          await query('UPDATE channels SET seq = $1, state = $2, sum = $3 WHERE id = $4', [
            seq,
            state,
            sum,
            id,
          ])
          await query(
            `INSERT INTO forgotten (channel, seq, chain, sum) VALUES ($1, $2, $3, $4)
             ON CONFLICT (channel) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, sum = excluded.sum`,
            [id, seq, chain, checkpointSum({ seq, channel: uri, chain })],
          )
          return true
        })
      }),
  }
}

/**
 * Returns the number up to which envelopes are forgotten. A segment that also has envelopes after the checkpoint stays as it
 * is, and so do the actions of clients in it.
 */
async function lastWhole(query: Query, id: number, seq: number): Promise<number> {
  const divided = await query('SELECT 1 FROM segments WHERE channel = $1 AND first <= $2 AND last > $2', [
    id,
    seq,
  ])
  if (divided.rowCount === 0) return seq
  const { rows } = await query<{ readonly last: number | null }>(
    'SELECT max(last) AS last FROM segments WHERE channel = $1 AND last <= $2',
    [id, seq],
  )
  return only(rows).last ?? 0
}

/** The envelopes of a channel that are forgotten: those up to a number. `keys`: how many actions of each client stay known. */
interface Forgotten {
  readonly uri: string
  readonly id: number
  readonly upTo: number
  readonly keys: number
}

/** Keeps some of the actions that are about to be forgotten: those that are among the newest actions of their client. */
async function keep(query: Query, { uri, id, upTo, keys }: Forgotten, newestOf: NewestOf): Promise<void> {
  const { rows } = await query<{ readonly key: string }>(
    `SELECT key FROM segment_clients c JOIN segments s ON s.id = c.segment WHERE s.channel = $1 AND s.last <= $2
     UNION SELECT key FROM envelopes WHERE key IS NOT NULL AND channel = $1 AND seq <= $2`,
    [id, upTo],
  )
  for (const { key } of rows) {
    const newest = await newestOf(query, key, keys)
    for (const { seq, channel, action, origin: by } of newest)
      if (channel === uri && seq <= upTo && by) {
        const origin = JSON.stringify(by)
        await query(
          `INSERT INTO kept (seq, key, channel, action, origin, sum) VALUES ($1, $2, $3, $4, $5, $6)
           ON CONFLICT (seq) DO NOTHING`,
          [seq, key, id, action, origin, lineSum({ seq, channel, action, origin })],
        )
      }
    if (newest.length === keys)
      await query('DELETE FROM kept WHERE key = $1 AND seq < $2', [key, newest[0]?.seq ?? 0])
  }
}

const DELETE = [
  `DELETE FROM segment_clients WHERE segment IN (SELECT id FROM segments WHERE channel = $1 AND last <= $2)`,
  `DELETE FROM segments WHERE channel = $1 AND last <= $2`,
  `DELETE FROM envelopes WHERE channel = $1 AND seq <= $2`,
  // An older head could not be continued: the envelopes after it are gone.
  `DELETE FROM heads WHERE channel = $1 AND seq < $2`,
]
