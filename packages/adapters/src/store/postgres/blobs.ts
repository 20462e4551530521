import { createHash } from 'node:crypto'
import type { Handlers } from '../../process/thread-request.ts'
import type { StoreApi } from '../worker-api.ts'
import { deposed } from './fence.ts'
import type { Owner } from './fence.ts'
import { keyOf } from './key.ts'
import { only } from './link.ts'

const FENCE = 'WITH fence AS MATERIALIZED (SELECT epoch FROM epoch WHERE epoch = $1 FOR SHARE)'

/**
 * Reads and writes blobs. Each blob has its own transaction, because it must be durable before an action that names it is
 * appended.
 */
export function blobs({
  link,
  reading,
  epoch,
}: Owner): Pick<Handlers<StoreApi>, 'putBlob' | 'getBlob' | 'dropBlobs'> {
  /** Runs a statement that tells by its rows whether the epoch of the owner was still the present one. */
  const change = (text: string, values: readonly unknown[]): Promise<void> =>
    link.run(async (query) => {
      const { rows } = await query<{ readonly fence: number }>(
        `${FENCE}, ${text} SELECT count(*)::int AS fence FROM fence`,
        [epoch, ...values],
      )
      if (only(rows).fence === 0) throw await deposed(query, epoch)
    })

  return {
    async putBlob(session, bytes) {
      const hash = hashOf(bytes)
      await change(
        `put AS (INSERT INTO blobs (key, session, hash, bytes) SELECT $2, $3, $4, $5::bytea FROM fence ON CONFLICT DO NOTHING)`,
        [keyOf(session), session, hash, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)],
      )
      return hash
    },

    async getBlob(session, hash) {
      const { rows } = await reading.run((query) =>
        query<{ readonly bytes: Uint8Array }>('SELECT bytes FROM blobs WHERE key = $1 AND hash = $2', [
          keyOf(session),
          hash,
        ]),
      )
      const bytes = rows[0]?.bytes
      if (bytes && hashOf(bytes) !== hash) throw new Error(`the blob ${hash} of ${session} is damaged`)
      return bytes && Uint8Array.from(bytes)
    },

    dropBlobs: (session) =>
      change('dropped AS (DELETE FROM blobs USING fence WHERE key = $2)', [keyOf(session)]),
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
