import pg from 'pg'
import { postgresPlace } from '../../src/store/postgres/place.ts'
import type { PostgresPlace } from '../../src/store/postgres/place.ts'

let count = 0

/** The place of a new, empty store. */
export function newPlace(
  { host, port, user, database }: { host: string; port: number; user: string; database: string },
  secret: string,
): Promise<PostgresPlace> {
  const schema = `t_${process.pid}_${Date.now().toString(36)}_${++count}`
  return postgresPlace(`postgres://${user}@${host}:${port}/${database}?schema=${schema}`, {
    PGPASSWORD: secret,
  })
}

/** Runs SQL in the schema of a store, past the store. */
export async function tamper(
  place: PostgresPlace,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly object[]> {
  const client = new pg.Client(place.config)
  await client.connect()
  try {
    await client.query(`SET search_path TO ${place.schema}`)
    const { rows } = await client.query<object>(sql, [...values])
    return rows
  } finally {
    await client.end()
  }
}
