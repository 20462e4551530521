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

/** A row of a table, by the names of its columns. Only a type alias fits it, since an interface could get further members. */
export interface Row {
  readonly [column: string]: unknown
}

interface Bounds {
  readonly epoch: number
  /** The number of the batch before this one. */
  readonly before: number
  readonly batch: number
  readonly upTo: number
}

/** The rows of the tables that a step writes, and those that it deletes. */
export interface Part {
  readonly created: readonly Row[]
  readonly envelopes: readonly Row[]
  readonly tails: readonly Row[]
  readonly rows: readonly Row[]
  readonly deleted: readonly Row[]
  readonly heads: readonly Row[]
}

interface Records {
  readonly put: readonly Row[]
  readonly deleted: readonly Row[]
}

type Column = readonly [name: string, type: string]

interface Member {
  readonly columns: readonly Column[]
  readonly text: (rows: string) => string
}

const FENCE = `
  WITH fence AS MATERIALIZED (SELECT epoch FROM epoch WHERE epoch = $1 FOR SHARE),
  turn AS (UPDATE bounds SET batch = $3, up_to = greatest(up_to, $4) FROM fence WHERE batch = $2 RETURNING batch)`

const ENDS = `
  SELECT (SELECT count(*) FROM fence)::int AS fence, (SELECT count(*) FROM turn)::int AS turn`

/** The members after the first ones. `rows` is the list of the member's arrays. */
const MEMBERS: { readonly [name: string]: Member } = {
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
 */
export function statementOf(
  { epoch, before, batch, upTo }: Bounds,
  part: Part,
  { put, deleted }: Records,
): { readonly statement: NamedStatement; readonly values: readonly unknown[] } {
  const rows: { readonly [name: string]: readonly Row[] } = { ...part, records: put, removed: deleted }
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

interface NamedStatement {
  readonly name: string
  readonly text: string
}

/** The statements by the names of their members. */
const statements = new Map<string, NamedStatement>()

function statementWith(members: readonly (readonly [name: string, member: Member])[]): NamedStatement {
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
 */
const arrayOf = (rows: readonly Row[], [name, type]: Column): string | readonly unknown[] =>
  type === 'bigint' ? `{${rows.map((row) => row[name]).join(',')}}` : rows.map((row) => row[name])

/** Reads a list of columns and their types. */
function columnsOf(text: string): readonly Column[] {
  return text.split(', ').map((each) => {
    const [name = '', type = ''] = each.split(' ')
    return [name, type]
  })
}
