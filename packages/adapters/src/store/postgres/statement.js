/**
 * The statements that store a part of a batch. Each is one statement, so that the usual batch costs one round trip: without `BEGIN`
 * and `COMMIT`, it is a transaction of its own. Its first members decide whether anything is written:
 *
 * - `fence` locks the epoch of the owner for sharing, and is empty if another epoch has begun.
 * - `turn` counts the batch, and is empty if the batch before it is not the last one: this batch was stored already. So a batch of
 *   unknown outcome can be sent again.
 *
 * Every other member joins `turn`, so it writes nothing if `turn` is empty. A member without rows is left out, because the server
 * prepares it at each execution, too: a statement with all members takes as long as a commit.
 */

/** @typedef {{ readonly [column: string]: unknown }} Row */
/** @typedef {{ epoch: number, before: number, batch: number, upTo: number }} Bounds */
/** @typedef {{ created: readonly Row[], envelopes: readonly Row[], tails: readonly Row[], rows: readonly Row[], deleted: readonly Row[], heads: readonly Row[] }} Part */
/** @typedef {{ put: readonly Row[], deleted: readonly Row[] }} Records */
/** @typedef {{ readonly columns: readonly (readonly [name: string, type: string])[], readonly text: (rows: string) => string }} Member */

const FENCE = `
  WITH fence AS MATERIALIZED (SELECT epoch FROM epoch WHERE epoch = $1 FOR SHARE),
  turn AS (UPDATE bounds SET batch = $3, up_to = greatest(up_to, $4) FROM fence WHERE batch = $2 RETURNING batch)`

const ENDS = `
  SELECT (SELECT count(*) FROM fence)::int AS fence, (SELECT count(*) FROM turn)::int AS turn`

/** The members after the first ones. `rows` is the list of the member's arrays. @type {{ readonly [name: string]: Member }} */
const MEMBERS = {
  created: {
    columns: columnsOf('id bigint, key text, uri text, kind text, seq bigint, state text, sum bigint'),
    text: (rows) => `
      INSERT INTO channels (id, key, uri, kind, seq, state, sum) SELECT r.* FROM turn, unnest(${rows}) r`,
  },
  envelopes: {
    columns: columnsOf(
      'seq bigint, channel bigint, action text, origin text, key text, sum bigint, chain bigint',
    ),
    text: (rows) => `
      INSERT INTO envelopes (seq, channel, action, origin, key, sum, chain) SELECT r.* FROM turn, unnest(${rows}) r`,
  },
  tails: {
    columns: columnsOf('id bigint, seq bigint, chain bigint, rows bigint, places bigint'),
    text: (rows) => `
      INSERT INTO tails (channel, seq, chain, rows, places) SELECT r.* FROM turn, unnest(${rows}) r
      ON CONFLICT (channel) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, rows = excluded.rows,
        places = excluded.places`,
  },
  rows: {
    columns: columnsOf('channel bigint, key text, id text, place bigint, text text, sum bigint'),
    text: (rows) => `
      INSERT INTO rows (channel, key, id, place, text, sum) SELECT r.* FROM turn, unnest(${rows}) r
      ON CONFLICT (channel, key) DO UPDATE SET place = excluded.place, text = excluded.text, sum = excluded.sum`,
  },
  deleted: {
    columns: columnsOf('channel bigint, key text'),
    text: (rows) => `
      DELETE FROM rows USING turn, unnest(${rows}) d (channel, key) WHERE rows.channel = d.channel AND rows.key = d.key`,
  },
  heads: {
    columns: columnsOf('channel bigint, seq bigint, state text, chain bigint, sum bigint'),
    text: (rows) => `
      INSERT INTO heads (channel, seq, state, chain, sum) SELECT r.* FROM turn, unnest(${rows}) r
      ON CONFLICT (channel) DO UPDATE SET seq = excluded.seq, state = excluded.state, chain = excluded.chain,
        sum = excluded.sum`,
  },
  records: {
    columns: columnsOf('key text, name text, text text'),
    text: (rows) => `
      INSERT INTO records (key, name, text) SELECT r.* FROM turn, unnest(${rows}) r
      ON CONFLICT (key) DO UPDATE SET text = excluded.text`,
  },
  removed: {
    columns: columnsOf('key text'),
    text: (rows) => `DELETE FROM records USING turn, unnest(${rows}) d (key) WHERE records.key = d.key`,
  },
}

/**
 * Returns the statement for a part of a batch, and its values. Parts with rows for the same members share a statement, which the
 * server parses once.
 * @param {Bounds} bounds
 * @param {Part} part
 * @param {Records} records
 * @returns {{ statement: { name: string, text: string }, values: readonly unknown[] }}
 */
export function statementOf({ epoch, before, batch, upTo }, part, { put, deleted }) {
  /** @type {{ readonly [name: string]: readonly Row[] }} */
  const rows = { ...part, records: put, removed: deleted }
  const used = Object.entries(MEMBERS).filter(([name]) => rows[name]?.length)
  const values = [
    epoch,
    before,
    batch,
    upTo,
    ...used.flatMap(([name, { columns }]) => columns.map((column) => arrayOf(rows[name] ?? [], column))),
  ]
  return { statement: statementWith(used), values }
}

/** The statements by the names of their members. @type {Map<string, { name: string, text: string }>} */
const statements = new Map()

/** @param {readonly (readonly [name: string, member: Member])[]} members */
function statementWith(members) {
  const key = members.map(([name]) => name).join(' ')
  const known = statements.get(key)
  if (known) return known
  let place = 4
  const texts = members.map(([each, { columns, text }]) => {
    const list = columns.map(([, type]) => `$${++place}::${type}[]`).join(', ')
    return `,\n  ${each}_ AS (${text(list)})`
  })
  const statement = { name: `store ${statements.size}`, text: `${FENCE}${texts.join('')}${ENDS}` }
  statements.set(key, statement)
  return statement
}

/**
 * A column of some rows as an array of PostgreSQL. An array of numbers is written here, because the library would put each
 * number into quotation marks.
 * @param {readonly Row[]} rows
 * @param {readonly [name: string, type: string]} column
 */
const arrayOf = (rows, [name, type]) =>
  type === 'bigint' ? `{${rows.map((row) => row[name]).join(',')}}` : rows.map((row) => row[name])

/**
 * Reads a list of columns and their types.
 * @param {string} text
 * @returns {readonly (readonly [name: string, type: string])[]}
 */
function columnsOf(text) {
  return text.split(', ').map((each) => {
    const [name = '', type = ''] = each.split(' ')
    return [name, type]
  })
}
