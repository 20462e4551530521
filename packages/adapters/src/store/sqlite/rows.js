import { rowSum, toggle } from './checksums.js'

/** @typedef {import('./open.js').Database} Database */

/**
 * The rows of channels. They may be many and long, so their texts are judged when they are read, each by its own sum, and
 * their list when a channel is loaded: the sums in it must make what the channel's end says, so that no row is missing,
 * strayed or of another time, and the other index must have each of them in the same place, for a sum alone does not tell
 * whether the id beside it is right.
 * @param {Database} db
 */
export function rowReader(db) {
  const sql = statements(db)
  return {
    /**
     * The ids of a channel's rows, in order and as one text (null: none); nothing when they are not those that it ended with.
     * @param {number} channel
     * @param {number} set the sums that it ended with
     * @returns {string | null | undefined}
     */
    ids(channel, set) {
      const { ids, sums } = sql.listed.get(channel)
      /** @type {number[]} */
      const all = JSON.parse(`[${sums ?? ''}]`)
      if (all.reduce(toggle, 0) !== set) return undefined
      return sql.agreed.get(channel).count === all.length ? ids : undefined
    },

    /**
     * The ids of the newest of them.
     * @param {number} channel
     * @param {number} most
     * @returns {string[]}
     */
    newest: (channel, most) =>
      sql.newest
        .all(channel, Math.min(most, Number.MAX_SAFE_INTEGER))
        .map(({ id }) => id)
        .toReversed(),

    /**
     * Nothing when it is not there, or not what was put there.
     * @param {string} uri
     * @param {number} channel
     * @param {string} id
     * @returns {string | undefined}
     */
    text(uri, channel, id) {
      const row = sql.row.get(channel, id)
      return row && row.sum === rowSum({ channel: uri, id, text: row.text }) ? row.text : undefined
    },
  }
}

/** @param {Database} db */
function statements(db) {
  return {
    // As texts, which the binding hands over many times faster than rows (an id holds no control character, P6); and out
    // of the indexes alone, because the table has the long texts in it.
    listed: db.prepare(
      `SELECT group_concat(id, char(30)) AS ids, group_concat(sum) AS sums FROM
         (SELECT id, sum FROM rows INDEXED BY rows_in_order WHERE channel = ? ORDER BY place)`,
    ),
    agreed: db.prepare(
      `SELECT count(*) AS count FROM rows a INDEXED BY sqlite_autoindex_rows_1 WHERE channel = ? AND EXISTS
         (SELECT 1 FROM rows i INDEXED BY rows_in_order
          WHERE i.channel = a.channel AND i.place = a.place AND i.id = a.id)`,
    ),
    newest: db.prepare(`SELECT id FROM rows WHERE channel = ? ORDER BY place DESC LIMIT ?`),
    row: db.prepare(`SELECT text, sum FROM rows WHERE channel = ? AND id = ?`),
  }
}
