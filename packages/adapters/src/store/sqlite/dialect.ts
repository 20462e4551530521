import { toggle } from '../checksums.ts'
import { LINE_END } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { OldRow, RowText, SqlDialect } from '../sql/dialect.ts'
import { only, orDamaged } from '../sql/work.ts'
import type { Work } from '../sql/work.ts'
import { damageOf } from './failure.ts'

/** What is different about SQLite. `ran` does a work. */
export function sqliteDialect(statement: SqlDialect['statement'], ran: <T>(work: Work<T>) => T): SqlDialect {
  return {
    ...names,
    statement,
    insert: (table, columns, rest = '') =>
      statement(
        `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')}) ${rest}`,
      ),
    ...reads(statement, ran),
  }
}

const names = {
  key: (text) => text,
  by: (column) => column,
  origin: `e.origin ->> 'clientId'`,
  // A channel that is dropped and not deleted yet has a BLOB in place of its URI. BLOBs come after all texts.
  hiding: 'uri = CAST(id AS BLOB)',
  hidden: `uri >= x''`,
  there: (channels) => `typeof(${channels}.uri) = 'text'`,
  list: () => '(SELECT value FROM json_each(?1)) l',
  damageOf,
  // One number orders the rows of all channels. SQLite assigns it.
  places: '0',
  // A damaged page must not hide the rows beside it.
  textsAtOnce: 1,
} satisfies Partial<SqlDialect>

/** Separates the fields of a line. The fields are JSON, which escapes this character, so no field contains it. */
const FIELD_END = '\x1f'

/**
 * The reads that are made for SQLite. They join rows to one text, because SQLite's binding returns one text many times faster than many
 * rows.
 */
function reads(
  statement: SqlDialect['statement'],
  ran: <T>(work: Work<T>) => T,
): Pick<SqlDialect, 'isLost' | 'lines' | 'newIds' | 'oldRows' | 'rowIds' | 'texts'> {
  const sql = statements(statement)
  // The channels that are missing in a damaged index. Without this list the store would take them for channels that do not
  // exist.
  const found = ran(orDamaged({ damageOf }, sql.unindexed()))
  const unindexed = 'damaged' in found ? undefined : new Set(found.map(({ uri }) => uri))

  return {
    *isLost(uri) {
      const [indexed] = yield* sql.id(uri)
      return indexed !== undefined || unindexed === undefined || unindexed.has(uri)
    },

    *lines(channel, { after, upTo, most }) {
      const { last: lastOfChunk, size } = only(yield* sql.size(channel, after, upTo, most.lines))
      // A chunk of lines nearly always fits into a slice. If it does not, a second query finds the last line of the slice.
      const last =
        (size ?? 0) <= most.length
          ? lastOfChunk
          : only(yield* sql.chunk(channel, after, upTo, most.lines, most.length)).last
      const text = last === null ? null : only(yield* sql.lines(channel, after, last)).text
      return text ? text.split(LINE_END).map(toLine) : []
    },

    *rowIds(channel, set) {
      const { ids, sums } = only(yield* sql.listed(channel))
      // The cast is right for what the store has written. Any other list has another sum.
      const sumList = JSON.parse(`[${sums ?? ''}]`) as readonly number[]
      if (sumList.reduce(toggle, 0) !== set) return undefined
      // A sum in the list does not prove that the id beside it is right, so the second index must have each row at the same place.
      return only(yield* sql.agreed(channel)).count === sumList.length ? ids : undefined
    },

    *texts(channel, ids) {
      const texts: RowText[] = []
      for (const id of ids) {
        const rows = yield* orDamaged({ damageOf }, sql.row(channel, id))
        if (!('damaged' in rows)) texts.push(...rows)
      }
      return texts
    },

    *newIds(count) {
      const { last } = only(yield* sql.lastId())
      return Array.from({ length: count }, (_, i) => last + 1 + i)
    },

    *oldRows(keys) {
      const rows: OldRow[] = []
      for (const { channel, key } of keys) rows.push(...(yield* sql.old(channel, key)))
      return rows
    },
  }
}

/** Splits the text of one line into its fields. The query `lines` has joined them. */
function toLine(text: string): Line {
  const [seq, action = '', origin = '', sum, chain] = text.split(FIELD_END)
  return {
    seq: Number(seq),
    action,
    origin: origin === '' ? null : origin,
    sum: Number(sum),
    chain: Number(chain),
  }
}

function statements(statement: SqlDialect['statement']) {
  return {
    id: statement<object>('SELECT id FROM channels WHERE uri = ?1'),
    unindexed: statement<{ readonly uri: string }>(
      `SELECT uri FROM channels c NOT INDEXED WHERE NOT EXISTS
         (SELECT 1 FROM channels i INDEXED BY sqlite_autoindex_channels_1 WHERE i.uri = c.uri AND i.id = c.id)`,
    ),
    size: statement<{ readonly last: number | null; readonly size: number | null }>(
      `SELECT max(seq) AS last, sum(length(action)) AS size FROM
         (SELECT seq, action FROM envelopes WHERE channel = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4)`,
    ),
    // Finds the last line of a slice. The slice is limited by count and by size, and has at least one line.
    chunk: statement<{ readonly last: number | null }>(
      `SELECT max(seq) AS last FROM
         (SELECT seq, size, sum(size) OVER (ORDER BY seq) AS total FROM
           (SELECT seq, length(action) AS size FROM envelopes
            WHERE channel = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4))
       WHERE total - size < ?5`,
    ),
    lines: statement<{ readonly text: string | null }>(
      `SELECT group_concat(concat_ws(char(31), seq, action, ifnull(origin, ''), sum, chain), char(30) ORDER BY seq) AS text
       FROM envelopes WHERE channel = ?1 AND seq > ?2 AND seq <= ?3`,
    ),
    // An id contains no control character (P6). Only the indexes are read, because the table contains the long texts.
    listed: statement<{ readonly ids: string | null; readonly sums: string | null }>(
      `SELECT group_concat(id, char(30)) AS ids, group_concat(sum) AS sums FROM
         (SELECT id, sum FROM rows INDEXED BY rows_in_order WHERE channel = ?1 ORDER BY place)`,
    ),
    agreed: statement<{ readonly count: number }>(
      `SELECT count(*) AS count FROM rows a INDEXED BY sqlite_autoindex_rows_1 WHERE channel = ?1 AND EXISTS
         (SELECT 1 FROM rows i INDEXED BY rows_in_order
          WHERE i.channel = a.channel AND i.place = a.place AND i.id = a.id)`,
    ),
    // The id that SQLite itself would assign.
    lastId: statement<{ readonly last: number }>('SELECT ifnull(max(id), 0) AS last FROM channels'),
    old: statement<OldRow>('SELECT channel, id AS key, place, sum FROM rows WHERE channel = ?1 AND id = ?2'),
    row: statement<RowText>('SELECT id, text, sum FROM rows WHERE channel = ?1 AND id = ?2'),
  }
}
