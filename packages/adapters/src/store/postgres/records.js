import { afterPrefix, keyOf } from './key.js'

/** The number of characters of a name that are in the index. */
const INDEXED = 200
/** The number of records of one query. */
const CHUNK = 1000

/**
 * Reads records.
 * @param {import('./link.js').Link} link
 */
export function records(link) {
  return {
    /** @param {string} name */
    record: (name) =>
      link.run(async (query) => {
        const { rows } = await query({ name: 'record', text: 'SELECT text FROM records WHERE key = $1' }, [
          keyOf(name),
        ])
        return rows[0]?.text
      }),

    /** @returns {Promise<string[]>} */
    kinds: () =>
      link.run(async (query) => {
        const kind = `substr(name, 1, strpos(name || '/', '/'))`
        return (await query(`SELECT DISTINCT ${kind} AS kind FROM records`)).rows.map(({ kind }) => kind)
      }),

    /**
     * Returns all records whose name begins with a prefix, in chunks.
     * @param {string} prefix
     * @returns {Promise<import('../worker-api.ts').RecordChunk[]>}
     */
    records: (prefix) =>
      link.run(async (query) => {
        // Cut by code points, as PostgreSQL does.
        const first = Array.from(prefix).slice(0, INDEXED).join('')
        const end = afterPrefix(first)
        const { rows } = await query(
          `SELECT name, text FROM records WHERE left(name, ${INDEXED}) >= $1 ${end === undefined ? '' : `AND left(name, ${INDEXED}) < $3`}
             AND starts_with(name, $2) ORDER BY name`,
          end === undefined ? [first, prefix] : [first, prefix, end],
        )
        const chunks = []
        for (let at = 0; at < rows.length; at += CHUNK)
          chunks.push(rows.slice(at, at + CHUNK).map(({ name, text }) => [name, text]))
        return chunks
      }),
  }
}
