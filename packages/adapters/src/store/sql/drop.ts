import type { SqlDialect } from './dialect.ts'
import { only } from './work.ts'
import type { Work } from './work.ts'

/** The maximum number of rows of one slice. Deleting more at once would hold up a flush for too long. */
export const SLICE = 500
/** The bytes that take as long to delete as a row. */
const ROW_BYTES = 512

/** The tables that may have many rows of one channel, each with a column that orders these rows and its long column. */
const LARGE: readonly (readonly [table: string, order: string, text: string])[] = [
  ['envelopes', 'seq', 'action'],
  ['segments', 'last', 'bytes'],
  ['kept', 'seq', 'action'],
  ['rows', 'place', 'text'],
  ['segment_clients', 'last', 'client'],
]

/** The next slice of a table: its last row, and its size in rows and in bytes. All are null or 0 if nothing is left. */
interface Slice {
  readonly last: number | null
  readonly rows: number
  readonly bytes: number
}

/**
 * Drops channels. A small channel is deleted at once if there is room. The rest of a large channel is deleted slice by slice. Until the
 * last slice is deleted, the channel keeps its id, so that no new channel gets this id, and is hidden: nobody finds it any more.
 * Queries that do not start from a URI leave such channels out.
 */
export function dropper(dialect: SqlDialect) {
  const sql = statements(dialect)

  /** Deletes a slice of a channel. Returns its size, in rows; 0 if nothing was left. */
  function* deleteSlice(id: number): Work<number> {
    for (const slice of sql.large) {
      const { last, rows, bytes } = only(yield* slice.next(id))
      if (last === null) continue
      yield* slice.delete(id, last)
      return Math.max(rows, Math.floor(bytes / ROW_BYTES))
    }
    return 0
  }

  return {
    /**
     * Drops channels, in the transaction of a flush. Stops deleting when it has deleted `room` rows. Returns how much of the room it has
     * used.
     */
    *drop(uris: readonly string[], room: number): Work<number> {
      if (uris.length === 0) return 0
      const found = yield* sql.channels(uris.map((uri) => dialect.key(uri)))
      const ids = found.map(({ id }) => id)
      for (const remove of sql.small) yield* remove(ids)
      yield* sql.hide(ids)
      let used = 0
      for (const id of ids)
        while (used < room) {
          const rows = yield* deleteSlice(id)
          used += rows
          if (rows > 0) continue
          yield* sql.remove(id)
          break
        }
      return used
    },

    /** Deletes a slice of what dropped channels have left. Returns whether there was something left. */
    *deleteRest(): Work<boolean> {
      const [hidden] = yield* sql.hidden()
      if (!hidden) return false
      if ((yield* deleteSlice(hidden.id)) === 0) yield* sql.remove(hidden.id)
      return true
    },
  }
}

function statements(dialect: SqlDialect) {
  const ids = `(SELECT value FROM ${dialect.list('bigint')})`
  return {
    channels: dialect.statement<{ readonly id: number }>(
      `SELECT id FROM ${dialect.list('text')} JOIN channels c ON c.${dialect.by('uri')} = l.value`,
    ),
    small: ['forgotten', 'heads', 'tails'].map((table) =>
      dialect.statement(`DELETE FROM ${table} WHERE channel IN ${ids}`),
    ),
    hide: dialect.statement(`UPDATE channels SET ${dialect.hiding}, state = '' WHERE id IN ${ids}`),
    hidden: dialect.statement<{ readonly id: number }>(
      `SELECT id FROM channels WHERE ${dialect.hidden} LIMIT 1`,
    ),
    remove: dialect.statement('DELETE FROM channels WHERE id = ?1'),
    large: LARGE.map(([table, order, text]) => ({
      // The last row of the next slice. A slice is limited by count and by size, and has at least one row.
      next: dialect.statement<Slice>(
        `SELECT max(nr) AS last, count(*) AS rows, max(total) AS bytes FROM
           (SELECT nr, size, sum(size) OVER (ORDER BY nr) AS total FROM
             (SELECT ${order} AS nr, octet_length(${text}) AS size FROM ${table}
              WHERE channel = ?1 ORDER BY ${order} LIMIT ${SLICE}) chunk) slice
         WHERE total - size < ${SLICE * ROW_BYTES}`,
      ),
      delete: dialect.statement(`DELETE FROM ${table} WHERE channel = ?1 AND ${order} <= ?2`),
    })),
  }
}
