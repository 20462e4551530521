import { rowSum, toggle } from '../checksums.ts'
import type { Database } from '../database.ts'

interface RowReader {
  /**
   * Returns the ids of a channel's rows in order, joined to one text. Returns null if there are no rows, and undefined if
   * the list is damaged. `set` is the xor of all sums, from the channel's tail.
   */
  ids(channel: number, set: number): string | null | undefined
  /** Returns the ids of the newest rows. */
  newest(channel: number, most: number): readonly string[]
  /** Returns the text of a row. Returns undefined if the row is missing or damaged. */
  text(uri: string, channel: number, id: string): string | undefined
}

/**
 * Reads and verifies the rows of channels. Rows may be many and long, so the text of a row is verified by its own sum only
 * when the text is read. When a channel is loaded, only the list of its rows is verified: the xor of all sums must equal the
 * value in the channel's tail. So no row is missing, misplaced or outdated. A sum in the list does not prove that the id
 * beside it is right, so the second index must have each row at the same place.
 */
export function rowReader(db: Database): RowReader {
  const sql = statements(db)
  return {
    ids(channel, set) {
      const { ids, sums } = sql.listed.get(channel)
      // The cast is right for what the store has written. Any other list has another sum.
      const sumList = JSON.parse(`[${sums ?? ''}]`) as readonly number[]
      if (sumList.reduce(toggle, 0) !== set) return undefined
      return sql.agreed.get(channel).count === sumList.length ? ids : undefined
    },

    newest: (channel, most) =>
      sql.newest
        .all(channel, Math.min(most, Number.MAX_SAFE_INTEGER))
        .map(({ id }) => id)
        .toReversed(),

    text(uri, channel, id) {
      const row = sql.row.get(channel, id)
      return row && row.sum === rowSum({ channel: uri, id, text: row.text }) ? row.text : undefined
    },
  }
}

function statements(db: Database) {
  return {
    // The ids are joined to one text, because SQLite's binding returns one text many times faster than many rows. An id
    // contains no control character (P6). Only the indexes are read, because the table contains the long texts.
    listed: db.prepare<{ readonly ids: string | null; readonly sums: string | null }, never>(
      `SELECT group_concat(id, char(30)) AS ids, group_concat(sum) AS sums FROM
         (SELECT id, sum FROM rows INDEXED BY rows_in_order WHERE channel = ? ORDER BY place)`,
    ),
    agreed: db.prepare<{ readonly count: number }, never>(
      `SELECT count(*) AS count FROM rows a INDEXED BY sqlite_autoindex_rows_1 WHERE channel = ? AND EXISTS
         (SELECT 1 FROM rows i INDEXED BY rows_in_order
          WHERE i.channel = a.channel AND i.place = a.place AND i.id = a.id)`,
    ),
    newest: db.prepare<{ readonly id: string }>(
      `SELECT id FROM rows WHERE channel = ? ORDER BY place DESC LIMIT ?`,
    ),
    row: db.prepare<{ readonly text: string; readonly sum: number }>(
      `SELECT text, sum FROM rows WHERE channel = ? AND id = ?`,
    ),
  }
}
