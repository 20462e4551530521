import type { Database } from '../database.ts'
import type { RecordChunk, StoreApi } from '../worker-api.ts'

/** Reads records. */
export function records(db: Database): Pick<StoreApi, 'record' | 'kinds' | 'records'> {
  const sql = statements(db)
  return {
    record: (key) => sql.record.get(key)?.text,

    kinds: () => sql.kinds.all().map(({ kind }) => kind),

    records(prefix) {
      const chunks: RecordChunk[] = []
      for (let [from, first]: [string | Uint8Array, number] = [prefix, 1]; ; first = 0) {
        const { last, marks, text } = sql.recordChunk.get(from, prefix, first)
        if (last === null || text === null) return chunks
        const pairs = () => sql.records.all(from, prefix, first).map((row) => [row.key, row.text] as const)
        chunks.push(marks === 0 ? text : pairs())
        from = last
      }
    },
  }
}

// A flipped bit can make a NUL, which would end the text of a record here. What is left is then read in hexadecimal, with the mark of
// a checksum in front of it that cannot be right.
export const TEXT = `iif(instr(text, char(0)), char(2) || hex(text), text) AS text`

// A thousand records from a key on, or after it. The key is given in bytes, because a damaged one may be no text: as a text it would be
// another key. UTF-8 never contains the byte FF, so the upper bound is greater than every
// key with this prefix.
const RECORDS = `SELECT key, ${TEXT} FROM records
  WHERE key >= CAST(?1 AS TEXT) AND (key > CAST(?1 AS TEXT) OR ?3) AND key < ?2 || CAST(x'ff' AS TEXT) ORDER BY key LIMIT 1000`

/** A thousand records as one text. `marks` is 0 if none of them contains a separator. All are null if there are none. */
interface Chunk {
  readonly last: Uint8Array | null
  readonly marks: number | null
  readonly text: string | null
}

function statements(db: Database) {
  return {
    record: db.prepare<{ readonly text: string }>(`SELECT ${TEXT} FROM records WHERE key = ?`),
    kinds: db.prepare<{ readonly kind: string }>(
      `SELECT DISTINCT substr(key, 1, instr(key || '/', '/')) AS kind FROM records`,
    ),
    records: db.prepare<{ readonly key: string; readonly text: string }>(RECORDS),
    recordChunk: db.prepare<Chunk, never>(
      `SELECT CAST(max(key) AS BLOB) AS last,
         sum(instr(key, char(30)) + instr(key, char(31)) + instr(text, char(30)) + instr(text, char(31))) AS marks,
         group_concat(concat_ws(char(31), key, text), char(30) ORDER BY key) AS text
       FROM (${RECORDS})`,
    ),
  }
}
