import type { Database } from '../database.ts'
import { LINE_END } from '../lines.ts'
import type { Line } from '../lines.ts'
import { segmentReader } from './segments.ts'

/** The maximum size of one slice of lines: their number, and the number of characters of their actions. */
interface Most {
  readonly lines: number
  readonly length: number
}

export interface LineReader {
  /** Returns the next lines of a channel that are stored as rows: as many as fit into a slice, and at least one. */
  rowsOf(id: number, after: number, upTo: number, most?: Most): readonly Line[]
  /** Returns the next lines of a channel: those of a segment or, after the last segment, rows. */
  linesOf(uri: string, id: number, after: number, upTo: number): readonly Line[]
}

/** Separates the fields of a line. The fields are JSON, which escapes this character, so no field contains it. */
const FIELD_END = '\x1f'

const MOST: Most = { lines: 2000, length: 1024 * 1024 }

/**
 * Reads the lines of channels. A query joins the lines to one text, because SQLite's binding returns one text many times faster than many
 * rows.
 */
export function lineReader(db: Database): LineReader {
  const sql = statements(db)
  const segments = segmentReader(db)

  const rowsOf = (id: number, after: number, upTo: number, most = MOST): readonly Line[] => {
    const { last: lastOfChunk, size } = sql.size.get(id, after, upTo, most.lines)
    // A chunk of lines nearly always fits into a slice. If it does not, a second query finds the last line of the slice.
    const last =
      (size ?? 0) <= most.length ? lastOfChunk : sql.chunk.get(id, after, upTo, most.lines, most.length).last
    const text = last ? sql.lines.get(id, after, last).text : null
    return text ? text.split(LINE_END).map(toLine) : []
  }

  return {
    rowsOf,

    linesOf(uri, id, after, upTo) {
      const sealed = segments.lines(uri, id, after, upTo)
      return sealed.length > 0 ? sealed : rowsOf(id, after, upTo)
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

function statements(db: Database) {
  return {
    size: db.prepare<{ readonly last: number | null; readonly size: number | null }, never>(
      `SELECT max(seq) AS last, sum(length(action)) AS size FROM
         (SELECT seq, action FROM envelopes WHERE channel = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?)`,
    ),
    // Finds the last line of a slice. The slice is limited by count and by size, and has at least one line.
    chunk: db.prepare<{ readonly last: number | null }, never>(
      `SELECT max(seq) AS last FROM
         (SELECT seq, size, sum(size) OVER (ORDER BY seq) AS total FROM
           (SELECT seq, length(action) AS size FROM envelopes
            WHERE channel = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?))
       WHERE total - size < ?`,
    ),
    lines: db.prepare<{ readonly text: string | null }, never>(
      `SELECT group_concat(concat_ws(char(31), seq, action, ifnull(origin, ''), sum, chain), char(30) ORDER BY seq) AS text
       FROM envelopes WHERE channel = ? AND seq > ? AND seq <= ?`,
    ),
  }
}
