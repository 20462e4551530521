import { toggle } from '../checksums.ts'
import { LINE_END } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { OldRow, RowText, SqlDialect, SqlStore } from '../sql/dialect.ts'
import { asked } from '../sql/work.ts'
import type { Work } from '../sql/work.ts'
import { fence } from './fence.ts'
import type { Owner } from './fence.ts'
import { keyOf } from './key.ts'
import { READING, transaction } from './link.ts'
import type { Query } from './link.ts'

/** The store in a database of PostgreSQL. A work that writes is refused if another epoch has begun. */
export const postgresStore = ({ link, reading, epoch }: Owner): SqlStore => ({
  dialect,
  read: (work) => reading.run((query) => transaction(query, () => ran(query, work()), READING)),
  write: (work) =>
    link.run((query, attempts) =>
      transaction(query, async () => {
        await fence(query, epoch)
        return ran(query, work(attempts > 0))
      }),
    ),
})

/** Does a work with a connection. */
export async function ran<T>(query: Query, work: Work<T>): Promise<T> {
  let next = work.next()
  while (!next.done) {
    const { text, name, values } = next.value
    let rows: readonly unknown[]
    try {
      rows = (await query<unknown>(name === undefined ? text : { name, text }, values)).rows
    } catch (error) {
      next = work.throw(error)
      continue
    }
    next = work.next(rows)
  }
  return next.value
}

const statement: SqlDialect['statement'] = (text, name) => asked(text.replaceAll(/\?(?=\d)/g, '$'), name)

const sql = {
  lines: statement<Line>(
    `SELECT seq, action, origin, sum, chain FROM
       (SELECT *, sum(octet_length(action)) OVER (ORDER BY seq) - octet_length(action) AS before FROM
         (SELECT seq, action, origin, sum, chain FROM envelopes
          WHERE channel = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4) chunk) slice
     WHERE before < ?5 ORDER BY seq`,
    'lines',
  ),
  listed: statement<{ readonly id: string; readonly sum: number }>(
    'SELECT id, sum FROM rows WHERE channel = ?1 ORDER BY place',
  ),
  newIds: statement<{ readonly id: number }>(
    `SELECT nextval('channel_ids') AS id FROM generate_series(1, ?1)`,
  ),
  old: statement<OldRow>(
    `SELECT r.channel AS channel, r.key AS key, place, sum FROM rows r JOIN unnest(?1::bigint[], ?2::text[]) a (channel, key)
     ON r.channel = a.channel AND r.key = a.key`,
  ),
  texts: statement<RowText>('SELECT id, text, sum FROM rows WHERE channel = ?1 AND key = ANY(?2::text[])'),
}

export const dialect: SqlDialect = {
  statement,
  insert(table, columns, rest = '') {
    const all = ['key', ...columns]
    const put = statement(
      `INSERT INTO ${table} (${all.join(', ')}) VALUES (${all.map((_, i) => `?${i + 1}`).join(', ')}) ${rest}`,
    )
    return (...values) => put(keyOf(String(values[0])), ...values)
  },
  key: keyOf,
  by: () => 'key',
  origin: 'e.key',
  hiding: `key = NULL, uri = ''`,
  hidden: 'key IS NULL',
  there: (channels) => `${channels}.key IS NOT NULL`,
  list: (type) => `unnest(?1::${type}[]) l (value)`,
  damageOf: () => undefined,
  lines: (channel, { after, upTo, most }) => sql.lines(channel, after, upTo, most.lines, most.length),
  *rowIds(channel, set) {
    const rows = yield* sql.listed(channel)
    if (rows.reduce((all, { sum }) => toggle(all, sum), 0) !== set) return undefined
    return rows.length === 0 ? null : rows.map(({ id }) => id).join(LINE_END)
  },
  texts: (channel, ids) => sql.texts(channel, ids.map(keyOf)),
  textsAtOnce: 50,
  places: 'places',
  *newIds(count) {
    return (yield* sql.newIds(count)).map(({ id }) => id)
  },
  oldRows: (keys) =>
    sql.old(
      keys.map(({ channel }) => channel),
      keys.map(({ key }) => key),
    ),
}
