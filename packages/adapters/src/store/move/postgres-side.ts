import pg from 'pg'
import { keyOf } from '../postgres/key.ts'
import { postgresLease } from '../postgres/lease.ts'
import type { PostgresLease } from '../postgres/lease.ts'
import type { PostgresPlace } from '../postgres/place.ts'
import { openPostgres } from '../postgres/postgres.ts'
import { MoveRefused } from './move.ts'
import type { MovedRow, Progress, Side, Table, Value } from './table.ts'

/** The length of the lease of a move, in milliseconds. */
const LEASE = 30_000
/** The type of numbers with 64 bits. Every number of the store fits into a JavaScript number. */
const INT8 = 20

/** The store in a database, of which the move is the owner. Dropped channels are deleted from a source first. */
export async function postgresSide(place: PostgresPlace, how: 'source' | 'target'): Promise<Side> {
  const lease = await postgresLease(place, { node: 'atrium move', ms: LEASE })
  try {
    const epoch = await lease.acquire()
    if (epoch === undefined)
      throw new MoveRefused(`The store at ${place.name} is in use by the host ${(await lease.read())?.node}.`)
    if (how === 'source') {
      const { log } = await openPostgres(place, { epoch })
      while (await log.shrink());
      await log.close()
    }
    const client = new pg.Client({
      ...place.config,
      types: {
        getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)),
      },
    })
    client.on('error', () => {})
    await client.connect()
    await client.query(`SET search_path TO "${place.schema}"`)
    return new PostgresSide({ client, lease, epoch, name: place.name })
  } catch (error) {
    await lease.close()
    throw error
  }
}

interface Opened {
  readonly client: pg.Client
  readonly lease: PostgresLease
  readonly epoch: number
  readonly name: string
}

class PostgresSide implements Side {
  readonly name: string
  readonly id: string
  readonly #opened: Opened
  readonly #renewing: NodeJS.Timeout

  constructor(opened: Opened) {
    this.#opened = opened
    this.name = opened.name
    this.id = opened.lease.host
    this.#renewing = setInterval(() => void opened.lease.renew(opened.epoch).catch(() => {}), LEASE / 3)
  }

  async upTo(): Promise<number> {
    const [found] = await this.#query('SELECT up_to FROM bounds, epoch WHERE epoch = $1', [
      this.#opened.epoch,
    ])
    // A host that has taken over meanwhile may have changed what was read.
    if (!found) throw this.#deposed()
    return Number(found['up_to'])
  }

  async read(table: Table, after: readonly Value[] | null): Promise<readonly MovedRow[]> {
    const { name, slice } = table
    const order = table.order.map((column) => orderOf(name, column))
    const place = after
      ? `WHERE (${order.join(', ')}) > (${order.map((_, i) => `$${i + 1}`).join(', ')})`
      : ''
    const columns = table.columns.map((column) => `${sourceOf(name, column)} AS ${column}`).join(', ')
    return this.#query(
      `SELECT ${columns} FROM ${name} ${place} ORDER BY ${order.join(', ')} LIMIT ${slice}`,
      after ?? [],
    )
  }

  async write({ name, columns }: Table, rows: readonly MovedRow[], progress: Progress): Promise<void> {
    await this.#transaction(async () => {
      const all = rows.map((row): MovedRow => ({
        ...Object.fromEntries(columns.map((column) => [sourceOf(name, column), row[column] ?? null])),
        ...derived(name, row),
      }))
      const names = Object.keys(all[0] ?? {})
      const arrays = names.map((column, i) => `$${i + 1}::${typeOf(name, column)}[]`)
      await this.#query(
        `INSERT INTO ${name} (${names.join(', ')}) ${name === 'segments' ? 'OVERRIDING SYSTEM VALUE ' : ''}
         SELECT * FROM unnest(${arrays.join(', ')})`,
        names.map((column) => all.map((row) => bytesOf(row[column]))),
      )
      await this.#put({ ...(await this.progress()), ...progress })
    })
  }

  async progress(): Promise<(Progress & { readonly from: string }) | undefined> {
    const text = (await this.#query(`SELECT value FROM meta WHERE key = 'move'`))[0]?.['value']
    // The cast is safe: this class has written the text.
    return typeof text === 'string' ? (JSON.parse(text) as Progress & { readonly from: string }) : undefined
  }

  async begin(from: string): Promise<void> {
    await this.#transaction(() => this.#put({ from, table: 'channels', after: null }))
  }

  async end(upTo: number): Promise<void> {
    await this.#transaction(async () => {
      await this.#query('UPDATE bounds SET up_to = greatest(up_to, $1)', [upTo])
      await this.#query(
        `UPDATE tails SET places = coalesce((SELECT max(place) FROM rows r WHERE r.channel = tails.channel), 0)`,
      )
      await this.#query(`SELECT setval('channel_ids', greatest(1, (SELECT max(id) FROM channels)))`)
      await this.#query(
        `SELECT setval(pg_get_serial_sequence('segments', 'id'), greatest(1, (SELECT max(id) FROM segments)))`,
      )
      await this.#query(`DELETE FROM meta WHERE key = 'move'`)
    })
  }

  async close(): Promise<void> {
    clearInterval(this.#renewing)
    const { client, lease, epoch } = this.#opened
    await client.end()
    await lease.release(epoch).catch(() => {})
    await lease.close()
  }

  async #put(progress: object): Promise<void> {
    await this.#query(
      `INSERT INTO meta VALUES ('move', $1) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
      [JSON.stringify(progress)],
    )
  }

  async #transaction(work: () => Promise<void>): Promise<void> {
    const { client, epoch } = this.#opened
    await client.query('BEGIN')
    try {
      const { rowCount } = await client.query('SELECT 1 FROM epoch WHERE epoch = $1 FOR SHARE', [epoch])
      if (rowCount === 0) throw this.#deposed()
      await work()
      await client.query('COMMIT')
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      throw error
    }
  }

  #deposed(): MoveRefused {
    return new MoveRefused(`Another host has become the owner of ${this.name}; start the move again.`)
  }

  async #query(sql: string, values: readonly unknown[] = []): Promise<readonly MovedRow[]> {
    const { rows } = await this.#opened.client.query<MovedRow>(sql, [...values])
    return rows
  }
}

/** The column of PostgreSQL that holds a column of SQLite. */
const sourceOf = (table: string, column: string): string =>
  table === 'records' && column === 'key' ? 'name' : column

const NUMBERS = 'seq sum channel chain rows first last count before after segment place places'.split(' ')

function typeOf(table: string, column: string): string {
  if (column === 'bytes') return 'bytea'
  return NUMBERS.includes(column) || (column === 'id' && table !== 'rows') ? 'bigint' : 'text'
}

/** The library writes bytes only of a Buffer. */
const bytesOf = (value: Value | undefined): Value =>
  value instanceof Uint8Array ? Buffer.from(value) : (value ?? null)

/** The expression by which PostgreSQL sorts a column as SQLite does: texts by their bytes. */
const orderOf = (table: string, column: string): string =>
  ['key', 'session', 'hash', 'client'].includes(column) ? `${sourceOf(table, column)} COLLATE "C"` : column

/** The columns that only PostgreSQL has, of a row. */
function derived(table: string, row: MovedRow): MovedRow {
  const key = (column: string) => ({ key: keyOf(String(row[column])) })
  if (table === 'channels') return key('uri')
  if (table === 'rows') return key('id')
  if (table === 'segment_clients') return key('client')
  if (table === 'records') return key('key')
  if (table === 'blobs') return key('session')
  if (table === 'tails') return { places: 0 }
  if (table !== 'envelopes' && table !== 'kept') return {}
  const origin = row['origin'] ?? null
  if (origin === null) return { key: null }
  // The cast names the member that every stored origin has.
  const { clientId } = JSON.parse(String(origin)) as { readonly clientId: string }
  return { key: keyOf(clientId) }
}
