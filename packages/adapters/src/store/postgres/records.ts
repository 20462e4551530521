import type { Handlers } from '../../process/thread-request.ts'
import type { RecordChunk, StoreApi } from '../worker-api.ts'
import { afterPrefix, keyOf } from './key.ts'
import type { Link } from './link.ts'

/** The number of characters of a name that are in the index. */
const INDEXED = 200
/** The number of records of one query. */
const CHUNK = 1000

const RECORD = { name: 'record', text: 'SELECT text FROM records WHERE key = $1' }
const KINDS = `SELECT DISTINCT substr(name, 1, strpos(name || '/', '/')) AS kind FROM records`

/** Reads records. */
export function records(link: Link): Pick<Handlers<StoreApi>, 'record' | 'kinds' | 'records'> {
  return {
    record: (name) =>
      link.run(async (query) => {
        const { rows } = await query<{ readonly text: string }>(RECORD, [keyOf(name)])
        return rows[0]?.text
      }),

    kinds: () =>
      link.run(async (query) => {
        const { rows } = await query<{ readonly kind: string }>(KINDS)
        return rows.map(({ kind }) => kind)
      }),

    records: (prefix) =>
      link.run(async (query) => {
        // Cut by code points, as PostgreSQL does.
        const first = Array.from(prefix).slice(0, INDEXED).join('')
        const end = afterPrefix(first)
        const { rows } = await query<{ readonly name: string; readonly text: string }>(
          `SELECT name, text FROM records WHERE left(name, ${INDEXED}) >= $1 ${end === undefined ? '' : `AND left(name, ${INDEXED}) < $3`}
             AND starts_with(name, $2) ORDER BY name`,
          end === undefined ? [first, prefix] : [first, prefix, end],
        )
        const chunks: RecordChunk[] = []
        for (let at = 0; at < rows.length; at += CHUNK)
          chunks.push(rows.slice(at, at + CHUNK).map(({ name, text }) => [name, text] as const))
        return chunks
      }),
  }
}
