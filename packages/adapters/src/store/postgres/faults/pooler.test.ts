import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { creation, envelope, step } from '../../../../../host/src/ports/contracts/fixture.contract.ts'
import { behindPooler } from '../../../../test/postgres/pgbouncer.ts'
import { epochOf, open, patient, postgresTests } from '../../../../test/postgres/store.ts'
import type { PostgresPlace } from '../place.ts'
import { postgresLease } from '../lease.ts'
import { openPostgres } from '../postgres.ts'

const server = postgresTests()
const one = 'ahp-chat:/1'
const sentence =
  /^at 127\.0\.0\.1:\d+\/postgres is a connection pooler that does not keep sessions, .* Set pool_mode = session .*, or name the port of PostgreSQL itself in --store\.$/
const refused = { name: 'StoreUnreadable', message: expect.stringMatching(sentence) }

async function client(place: PostgresPlace): Promise<pg.Client> {
  const made = new pg.Client(place.config)
  made.on('error', () => {})
  await made.connect()
  onTestFinished(() => made.end().catch(() => {}))
  return made
}

test('[L51.1] a pooler that keeps no sessions is refused with what to do, and no setting stays at its connections', async (context) => {
  const place = await server().place()
  await (await open(place)).log.close()
  const pooled = await behindPooler(context, place, { mode: 'transaction' })
  // Two clients in a transaction at once have two connections of the pool.
  const clients = [await client(pooled), await client(pooled)]
  const settings = async () => {
    for (const each of clients) await each.query('BEGIN')
    const text = `SELECT name, setting FROM pg_settings WHERE name <> 'application_name' ORDER BY name`
    const all = [await clients[0]?.query(text), await clients[1]?.query(text)]
    for (const each of clients) await each.query('COMMIT')
    return all.map((result) => result?.rows)
  }
  const before = await settings()
  await expect(postgresLease(pooled, { node: 'one', ms: 250_000 })).rejects.toMatchObject(refused)
  await expect(openPostgres(pooled, patient)).rejects.toMatchObject(refused)
  expect(await settings()).toEqual(before)
})

test('[L51.1] it is also refused while others use it', async (context) => {
  const place = await server().place()
  await (await open(place)).log.close()
  const pooled = await behindPooler(context, place, { mode: 'transaction', size: 8 })
  const busy = { now: true }
  const others = Array.from({ length: 6 }, async () => {
    const other = await client(pooled)
    while (busy.now) await other.query('SELECT count(*) FROM generate_series(1, 1000)')
  })
  for (let round = 0; round < 5; round++)
    await expect(openPostgres(pooled, patient)).rejects.toMatchObject(refused)
  busy.now = false
  await Promise.all(others)
})

test('[L51.1] a pooler of single statements is refused', async (context) => {
  const pooled = await behindPooler(context, await server().place(), { mode: 'statement' })
  await expect(postgresLease(pooled, { node: 'one', ms: 250_000 })).rejects.toMatchObject(refused)
})

test('[L51.1] a pooler that keeps sessions is used, even if it has no connection to spare', async (context) => {
  const place = await server().place()
  const epoch = await epochOf(place)
  const pooled = await behindPooler(context, place, { mode: 'session', size: 2 })
  const { log } = await open(pooled, { epoch })
  log.append(step({ created: [creation(one, 1)], envelopes: [envelope(2)] }))
  await log.flush()
  expect(await log.load(one)).toMatchObject({ envelopes: [envelope(2)] })
})
