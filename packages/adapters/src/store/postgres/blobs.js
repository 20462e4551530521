import { createHash } from 'node:crypto'
import { keyOf } from './key.js'
import { deposed } from './fence.js'

const FENCE = 'WITH fence AS MATERIALIZED (SELECT epoch FROM epoch WHERE epoch = $1 FOR SHARE)'

/**
 * Reads and writes blobs. Each blob has its own transaction, because it must be durable before an action that names it is
 * appended.
 * @param {{ link: import('./link.js').Link, reading: import('./link.js').Link, epoch: number }} owner
 */
export function blobs({ link, reading, epoch }) {
  /**
   * Runs a statement that tells by its rows whether the epoch of the owner was still the present one.
   * @param {string} text
   * @param {readonly unknown[]} values
   */
  const change = (text, values) =>
    link.run(async (query) => {
      const { rows } = await query(`${FENCE}, ${text} SELECT count(*)::int AS fence FROM fence`, [
        epoch,
        ...values,
      ])
      if (rows[0].fence === 0) throw await deposed(query, epoch)
    })

  return {
    /**
     * @param {string} session
     * @param {Uint8Array} bytes
     */
    async putBlob(session, bytes) {
      const hash = hashOf(bytes)
      await change(
        `put AS (INSERT INTO blobs (key, session, hash, bytes) SELECT $2, $3, $4, $5::bytea FROM fence ON CONFLICT DO NOTHING)`,
        [keyOf(session), session, hash, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)],
      )
      return hash
    },

    /**
     * @param {string} session
     * @param {string} hash
     */
    async getBlob(session, hash) {
      const { rows } = await reading.run((query) =>
        query('SELECT bytes FROM blobs WHERE key = $1 AND hash = $2', [keyOf(session), hash]),
      )
      const bytes = rows[0]?.bytes
      if (bytes && hashOf(bytes) !== hash) throw new Error(`the blob ${hash} of ${session} is damaged`)
      return bytes && Uint8Array.from(bytes)
    },

    /** @param {string} session */
    dropBlobs: (session) =>
      change('dropped AS (DELETE FROM blobs USING fence WHERE key = $2)', [keyOf(session)]),
  }
}

/** @param {Uint8Array} bytes */
const hashOf = (bytes) => createHash('sha256').update(bytes).digest('hex')
