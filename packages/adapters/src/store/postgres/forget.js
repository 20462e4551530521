import { checkpointSum, creationSum, lineSum } from '../checksums.js'
import { Damage, toEnvelope } from '../lines.js'
import { keyOf } from './key.js'
import { transaction } from './link.js'
import { segmentReader, undamaged } from './segments.js'
import { fence } from './fence.js'

/** @typedef {import('./link.js').Query} Query */
/** @typedef {import('../lines.js').StoredEnvelope} StoredEnvelope */

/**
 * Reads what is left of forgotten envelopes.
 * @param {Query} query
 */
export function checkpointReader(query) {
  const segments = segmentReader(query)

  /**
   * Returns the checkpoint with which a channel begins. Undefined if the channel begins with its creation.
   * @param {string} uri
   * @param {number} channel
   * @returns {Promise<{ seq: number, chain: number } | undefined>}
   */
  const checkpointOf = async (uri, channel) => {
    const { rows } = await query('SELECT seq, chain, sum FROM forgotten WHERE channel = $1', [channel])
    return verified(uri, rows[0])
  }

  /**
   * Returns the chain before the first envelope of a channel.
   * @param {string} uri
   * @param {number} channel
   * @returns {Promise<number>}
   */
  const firstChain = async (uri, channel) =>
    (await checkpointOf(uri, channel))?.chain ??
    (await query('SELECT sum FROM channels WHERE id = $1', [channel])).rows[0]?.sum

  return {
    checkpointOf,
    firstChain,

    /**
     * Returns the chain after the last envelope of a channel whose sequence number is at most `seq`.
     * @param {string} uri
     * @param {number} channel
     * @param {number} seq
     * @returns {Promise<number>}
     */
    async chainAt(uri, channel, seq) {
      const { rows } = await query(
        `SELECT chain FROM envelopes WHERE channel = $1 AND seq <= $2 ORDER BY seq DESC LIMIT 1`,
        [channel, seq],
      )
      return rows[0]?.chain ?? (await segments.chainAt(uri, channel, seq)) ?? (await firstChain(uri, channel))
    },

    /**
     * Returns forgotten envelopes that a client may send again, newest first. Damaged ones are left out.
     * @param {string} clientId
     * @param {number} after
     * @param {number} most
     * @returns {Promise<StoredEnvelope[]>}
     */
    async keptOf(clientId, after, most) {
      const { rows } = await query(
        `SELECT k.seq AS seq, action, origin, k.sum AS sum, NULL AS chain, uri FROM kept k JOIN channels c ON id = k.channel
         WHERE k.key = $1 AND k.seq > $2 AND c.key IS NOT NULL ORDER BY k.seq DESC LIMIT $3`,
        [keyOf(clientId), after, most],
      )
      return rows.flatMap(({ uri, ...line }) => undamaged(() => [toEnvelope(uri, line)]))
    },
  }
}

/**
 * Returns a checkpoint after its checksum was verified.
 * @param {string} uri
 * @param {{ seq: number, chain: number, sum: number } | undefined} found
 */
export function verified(uri, found) {
  if (found && found.sum !== checkpointSum({ ...found, channel: uri }))
    throw new Damage('its checkpoint has a wrong checksum')
  return found
}

/**
 * Returns a function that forgets the envelopes of a channel up to a checkpoint.
 * @param {{ link: import('./link.js').Link, epoch: number }} owner
 * @param {(query: Query, client: string, most: number) => Promise<StoredEnvelope[]>} newestOf the newest actions of a client, which is given by its key
 */
export function forgetter({ link, epoch }, newestOf) {
  return {
    /**
     * @param {import('@atrium/host/ports/log').Head} checkpoint
     * @param {number} keys
     */
    forget: (checkpoint, keys) =>
      link.run(async (query, attempts) => {
        const { channel: uri, seq, state } = checkpoint
        const { rows } = await query('SELECT id, kind, seq FROM channels WHERE key = $1', [keyOf(uri)])
        const channel = rows[0]
        // An attempt before this one may have been committed.
        if (attempts > 0 && channel?.seq === seq) return true
        if (!channel || channel.seq >= seq) return false
        const { id, kind } = channel
        return transaction(query, async () => {
          await fence(query, epoch)
          const chain = await checkpointReader(query)
            .chainAt(uri, id, seq)
            .catch((error) => (error instanceof Damage ? undefined : Promise.reject(error)))
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
 * @param {Query} query
 * @param {number} id
 * @param {number} seq
 * @returns {Promise<number>}
 */
async function lastWhole(query, id, seq) {
  const divided = await query('SELECT 1 FROM segments WHERE channel = $1 AND first <= $2 AND last > $2', [
    id,
    seq,
  ])
  if (divided.rowCount === 0) return seq
  const { rows } = await query('SELECT max(last) AS last FROM segments WHERE channel = $1 AND last <= $2', [
    id,
    seq,
  ])
  return rows[0]?.last ?? 0
}

/**
 * Keeps some of the actions that are about to be forgotten: those that are among the newest actions of their client.
 * @param {Query} query
 * @param {{ uri: string, id: number, upTo: number, keys: number }} what
 * @param {(query: Query, clientId: string, most: number) => Promise<StoredEnvelope[]>} newestOf
 */
async function keep(query, { uri, id, upTo, keys }, newestOf) {
  const { rows } = await query(
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
