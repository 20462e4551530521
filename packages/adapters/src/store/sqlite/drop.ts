import type { Database } from '../database.ts'

/** The maximum number of rows of one slice. Deleting more at once would hold up a flush for too long. */
export const SLICE = 500
/** The bytes that take as long to delete as a row. */
const ROW_BYTES = 512

/** The tables that may have many rows of one channel, each with its primary key and its long column. */
const LARGE: readonly (readonly [table: string, key: string, text: string])[] = [
  ['envelopes', 'seq', 'action'],
  ['segments', 'id', 'bytes'],
  ['kept', 'seq', 'action'],
  ['rows', 'place', 'text'],
]

interface Dropper {
  /**
   * Drops a channel, in the transaction of a flush. Stops deleting when it has deleted `room` rows. Returns how much of
   * the room it has used.
   */
  drop(id: number, room: number): number
  /**
   * Deletes a slice of what dropped channels have left, in a transaction of its own. Returns whether there was something
   * left.
   */
  deleteRest(): boolean
}

/** The next slice of a table: its last key, and its size in rows and in bytes. The key is null if nothing is left. */
interface Slice {
  readonly last: number | null
  readonly rows: number
  readonly bytes: number
}

/**
 * Drops channels. A small channel is deleted at once. The rest of a large channel is deleted slice by slice. Until the last
 * slice is deleted, the channel keeps its id, so that no new channel gets this id, and has a BLOB in place of its URI. No URI
 * is equal to a BLOB, so nobody finds the channel any more. Queries that do not start from a URI leave such channels out.
 */
export function dropper(db: Database): Dropper {
  const small = ['forgotten', 'heads', 'tails'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE channel = ?`),
  )
  const hide = db.prepare(`UPDATE channels SET uri = CAST(id AS BLOB), state = '' WHERE id = ?`)
  const remove = db.prepare(`DELETE FROM channels WHERE id = ?`)
  // BLOBs come after all texts.
  const hidden = db.prepare<{ readonly id: number }>(`SELECT id FROM channels WHERE uri >= x'' LIMIT 1`)
  const clients = db.prepare(
    `DELETE FROM segment_clients WHERE (client, last) IN
       (SELECT client, last FROM segment_clients WHERE channel = ? LIMIT ${SLICE})`,
  )
  const large = LARGE.map(([table, key, text]) => ({
    // The last row of the next slice. A slice is limited by count and by size, and has at least one row.
    last: db.prepare<Slice, never>(
      `SELECT max(key) AS last, count(*) AS rows, max(total) AS bytes FROM
         (SELECT key, size, sum(size) OVER (ORDER BY key) AS total FROM
           (SELECT ${key} AS key, octet_length(${text}) AS size FROM ${table}
            WHERE channel = ? ORDER BY ${key} LIMIT ${SLICE}))
       WHERE total - size < ${SLICE * ROW_BYTES}`,
    ),
    delete: db.prepare(`DELETE FROM ${table} WHERE channel = ? AND ${key} <= ?`),
  }))

  /** Deletes a slice of a channel. Returns its size, in rows; 0 if nothing was left. */
  const deleteSlice = (id: number): number => {
    for (const slice of large) {
      const { last, rows, bytes } = slice.last.get(id)
      if (last === null) continue
      slice.delete.run(id, last)
      return Math.max(rows, Math.floor(bytes / ROW_BYTES))
    }
    return Number(clients.run(id).changes)
  }

  return {
    drop(id, room) {
      for (const statement of small) statement.run(id)
      for (let deleted = 0; deleted < room;) {
        const rows = deleteSlice(id)
        deleted += rows
        if (rows > 0) continue
        remove.run(id)
        return deleted
      }
      hide.run(id)
      return room
    },

    deleteRest() {
      const id = hidden.get()?.id
      if (id === undefined) return false
      if (deleteSlice(id) === 0) remove.run(id)
      return true
    },
  }
}
