/**
 * The statement that stores a part of a batch. It is one statement, so that the usual batch costs one round trip: without `BEGIN`
 * and `COMMIT`, it is a transaction of its own. Its first members decide whether anything is written:
 *
 * - `fence` locks the epoch of the owner for sharing, and is empty if another epoch has begun.
 * - `turn` counts the batch, and is empty if the batch before it is not the last one: this batch was stored already. So a batch of
 *   unknown outcome can be sent again.
 *
 * Every other member joins `turn`, so it writes nothing if `turn` is empty.
 */
export const STORE = {
  name: 'store',
  text: `
    WITH fence AS MATERIALIZED (SELECT epoch FROM epoch WHERE epoch = $1 FOR SHARE),
    turn AS (
      UPDATE bounds SET batch = $3, up_to = greatest(up_to, $4) FROM fence WHERE batch = $2 RETURNING batch
    ),
    created AS (
      INSERT INTO channels (id, key, uri, kind, seq, state, sum) SELECT c.* FROM turn,
        unnest($5::bigint[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::text[], $11::bigint[]) c
    ),
    appended AS (
      INSERT INTO envelopes (seq, channel, action, origin, key, sum, chain) SELECT e.* FROM turn,
        unnest($12::bigint[], $13::bigint[], $14::text[], $15::text[], $16::text[], $17::bigint[], $18::bigint[]) e
    ),
    ends AS (
      INSERT INTO tails (channel, seq, chain, rows, places) SELECT t.* FROM turn,
        unnest($19::bigint[], $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[]) t
      ON CONFLICT (channel) DO UPDATE SET seq = excluded.seq, chain = excluded.chain, rows = excluded.rows,
        places = excluded.places
    ),
    put AS (
      INSERT INTO rows (channel, key, id, place, text, sum) SELECT r.* FROM turn,
        unnest($24::bigint[], $25::text[], $26::text[], $27::bigint[], $28::text[], $29::bigint[]) r
      ON CONFLICT (channel, key) DO UPDATE SET place = excluded.place, text = excluded.text, sum = excluded.sum
    ),
    deleted AS (
      DELETE FROM rows USING turn, unnest($30::bigint[], $31::text[]) d (channel, key)
      WHERE rows.channel = d.channel AND rows.key = d.key
    ),
    states AS (
      INSERT INTO heads (channel, seq, state, chain, sum) SELECT h.* FROM turn,
        unnest($32::bigint[], $33::bigint[], $34::text[], $35::bigint[], $36::bigint[]) h
      ON CONFLICT (channel) DO UPDATE SET seq = excluded.seq, state = excluded.state, chain = excluded.chain,
        sum = excluded.sum
    ),
    texts AS (
      INSERT INTO records (key, name, text) SELECT r.* FROM turn, unnest($37::text[], $38::text[], $39::text[]) r
      ON CONFLICT (key) DO UPDATE SET text = excluded.text
    ),
    removed AS (DELETE FROM records USING turn, unnest($40::text[]) d (key) WHERE records.key = d.key)
    SELECT (SELECT count(*) FROM fence)::int AS fence, (SELECT count(*) FROM turn)::int AS turn`,
}

/** @typedef {{ readonly [column: string]: unknown }} Row */

/**
 * The columns of some rows as arrays of PostgreSQL. An array of numbers is written here, because the library would put each
 * number into quotation marks.
 * @param {readonly Row[]} rows
 * @param {readonly string[]} names a name with a leading `#` has numbers
 */
export const columns = (rows, names) =>
  names.map((name) =>
    name.startsWith('#')
      ? `{${rows.map((row) => row[name.slice(1)]).join(',')}}`
      : rows.map((row) => row[name]),
  )

/**
 * Returns the values of the statement.
 * @param {{ epoch: number, before: number, batch: number, upTo: number }} bounds
 * @param {{ created: readonly Row[], envelopes: readonly Row[], tails: readonly Row[], rows: readonly Row[], deleted: readonly Row[], heads: readonly Row[] }} part
 * @param {{ put: readonly Row[], deleted: readonly Row[] }} records
 */
export const valuesOf = ({ epoch, before, batch, upTo }, part, records) => [
  epoch,
  before,
  batch,
  upTo,
  ...columns(part.created, ['#id', 'key', 'uri', 'kind', '#seq', 'state', '#sum']),
  ...columns(part.envelopes, ['#seq', '#channel', 'action', 'origin', 'key', '#sum', '#chain']),
  ...columns(part.tails, ['#id', '#seq', '#chain', '#rows', '#places']),
  ...columns(part.rows, ['#channel', 'key', 'id', '#place', 'text', '#sum']),
  ...columns(part.deleted, ['#channel', 'key']),
  ...columns(part.heads, ['#channel', '#seq', 'state', '#chain', '#sum']),
  ...columns(records.put, ['key', 'name', 'text']),
  ...columns(records.deleted, ['key']),
]
