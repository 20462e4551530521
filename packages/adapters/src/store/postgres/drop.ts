import type { Handlers } from '../../process/thread-request.ts'
import type { StoreApi } from '../worker-api.ts'
import { fence } from './fence.ts'
import type { Owner } from './fence.ts'
import { keyOf } from './key.ts'
import { transaction } from './link.ts'
import type { Query } from './link.ts'

/** The maximum number of rows of one slice. Deleting more at once would hold up a flush for too long. */
const SLICE = 500

/** The tables that may have many rows of one channel, each with the column that orders them. */
const LARGE: readonly (readonly [table: string, column: string])[] = [
  ['envelopes', 'seq'],
  ['segments', 'last'],
  ['kept', 'seq'],
  ['rows', 'place'],
  ['segment_clients', 'last'],
]

interface Id {
  readonly id: number
}

/**
 * Drops channels, in the transaction of a flush. The channel loses its key, so nobody finds it any more. Its data is deleted later,
 * slice by slice. Queries that do not start from a key leave such channels out.
 */
export async function dropChannels(query: Query, uris: readonly string[]): Promise<void> {
  if (uris.length === 0) return
  const { rows } = await query<Id>(
    `UPDATE channels SET key = NULL, uri = '', state = '' WHERE key = ANY($1::text[]) RETURNING id`,
    [uris.map(keyOf)],
  )
  const ids = rows.map(({ id }) => id)
  for (const table of ['forgotten', 'heads', 'tails'])
    await query(`DELETE FROM ${table} WHERE channel = ANY($1::bigint[])`, [ids])
}

/**
 * Returns a function that deletes a slice of what dropped channels have left, and tells whether there was something left.
 * PostgreSQL itself gives free space back (VACUUM).
 */
export function shrinker({ link, epoch }: Owner): Pick<Handlers<StoreApi>, 'shrink'> {
  return {
    shrink: () =>
      link.run(async (query) => {
        const { rows } = await query<Id>('SELECT id FROM channels WHERE key IS NULL LIMIT 1')
        const id = rows[0]?.id
        if (id === undefined) return false
        await transaction(query, async () => {
          await fence(query, epoch)
          if ((await deleteSlice(query, id)) === 0) await query('DELETE FROM channels WHERE id = $1', [id])
        })
        return true
      }),
  }
}

/** Deletes a slice of a channel. Returns the number of deleted rows; 0 if nothing was left. */
async function deleteSlice(query: Query, id: number): Promise<number> {
  for (const [table, column] of LARGE) {
    const { rowCount } = await query(
      `DELETE FROM ${table} WHERE ctid IN
         (SELECT ctid FROM ${table} WHERE channel = $1 ORDER BY ${column} LIMIT ${SLICE})`,
      [id],
    )
    if (rowCount) return rowCount
  }
  return 0
}
