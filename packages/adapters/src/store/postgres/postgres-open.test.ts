import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { creation, envelope, step } from '../../../../host/src/ports/contracts/fixture.contract.ts'
import { epochOf, open, patient, postgresTests } from '../../../test/postgres/store.ts'
import { tamper } from '../../../test/postgres/place.ts'
import { clusterState, postgresLease } from './lease.ts'
import type { PostgresPlace } from './place.ts'
import { openPostgres, postgresPlace } from './postgres.ts'

const server = postgresTests()
const one = 'ahp-chat:/1'
const patiently = { timeout: 200_000 }

/** The error of opening a store for reading. */
const refusal = async (place: PostgresPlace) => {
  const error = await openPostgres(place, patient).then(
    (store) => store.log.close(),
    (reason: unknown) => reason,
  )
  expect(JSON.stringify(error) + String(error)).not.toContain(server().password)
  return error
}

/** Makes a store with one channel, and closes it. */
async function filled(): Promise<PostgresPlace> {
  const place = await server().place()
  const { log } = await open(place)
  log.append(step({ created: [creation(one, 1)], envelopes: [envelope(2)], upTo: 50 }))
  await log.flush()
  await log.close()
  return place
}

const openPostgresAgain = async (...given: Parameters<typeof openPostgres>) => {
  const store = await openPostgres(...given)
  await store.log.close()
  return store
}

const changed = (place: PostgresPlace, config: Partial<PostgresPlace['config']>): PostgresPlace => ({
  ...place,
  ...(config.database !== undefined && { database: config.database }),
  config: { ...place.config, ...config },
})

test('[L54] a wrong password, no password, a wrong database and a closed port are named, and no error has the password', async () => {
  const place = await filled()
  const wrong = { ...place, config: { ...place.config, password: 'a wrong one' } }
  expect(String(await refusal(wrong))).toMatch(/does not let the user "\w+" in: .*password/)
  const { password: _, ...without } = place.config
  expect(String(await refusal({ ...place, config: without }))).toContain(
    'asks for a password: set PGPASSWORD',
  )
  const absent = await refusal(changed(place, { database: 'nowhere' }))
  expect(absent).toMatchObject({
    name: 'StoreUnreadable',
    message: expect.stringContaining('no database "nowhere"'),
  })
  expect(String(await refusal(changed(place, { port: 1 })))).toContain('cannot be reached')
})

test('[L54.3] a user without a right is named, at a new store and at an old one', async (context) => {
  if (!server().own) return context.skip('skipped: no postgres that may be changed')
  const old = await filled()
  await tamper(old, `CREATE ROLE poor LOGIN PASSWORD 'poor'`)
  for (const place of [old, await server().place()]) {
    const poor = { ...place, user: 'poor', config: { ...place.config, user: 'poor', password: 'poor' } }
    await expect(postgresLease(poor, { node: 'one', ms: 250_000 })).rejects.toMatchObject({
      name: 'StoreUnreadable',
      message: expect.stringMatching(/does not permit this to "poor": permission denied/),
    })
  }
})

test.for(['fsync', 'full_page_writes', 'synchronous_commit'])(
  '[L51] a server with %s = off is refused, and the setting is named',
  async (setting, context) => {
    if (!server().own) return context.skip('skipped: no postgres that may be changed')
    const place = await filled()
    const set = async (sql: string) => {
      await tamper(place, sql)
      await tamper(place, 'SELECT pg_reload_conf()')
    }
    await set(`ALTER SYSTEM SET ${setting} = off`)
    try {
      await expect
        .poll(() => refusal(place).then(String), patiently)
        .toContain(`has ${setting} = off; Atrium needs on, or a `)
    } finally {
      await set(`ALTER SYSTEM RESET ${setting}`)
    }
    await expect.poll(() => refusal(place), patiently).toBeUndefined()
  },
)

test('[L53] [L53.1] a newer schema is refused with both versions, by readers, owners and the lease, and stays as it is', async () => {
  const place = await filled()
  const epoch = await epochOf(place)
  await tamper(place, `UPDATE meta SET value = '7' WHERE key = 'schema'`)
  const sentence = /has schema version 7, and this Atrium knows versions up to 2\. Start a newer Atrium\./
  expect(String(await refusal(place))).toMatch(sentence)
  await expect(openPostgres(place, { ...patient, epoch })).rejects.toThrow(sentence)
  await expect(epochOf(place)).rejects.toThrow(sentence)
})

test('[L53.2] an older store is migrated by its owner in one transaction, and the old tables are kept in a schema of their version', async () => {
  const place = await filled()
  const laterMigrations = ['ALTER TABLE records ADD COLUMN extra text', 'CREATE TABLE third (a bigint)']
  const epoch = await epochOf(place)
  const { log, host } = await open(place, { epoch, laterMigrations })
  expect(await log.load(one)).toMatchObject({ seq: 1, envelopes: [envelope(2)] })
  expect(await tamper(place, `SELECT value FROM meta WHERE key = 'schema'`)).toEqual([{ value: '4' }])
  expect(await tamper(place, `SELECT seq::int AS seq FROM ${place.schema}_v2.envelopes`)).toEqual([
    { seq: 2 },
  ])
  expect(await tamper(place, 'SELECT extra FROM records, third')).toEqual([])
  const error = await openPostgres(place, patient).catch((reason: unknown) => reason)
  expect(String(error)).toContain('schema version 4')
  expect((await openPostgresAgain(place, { ...patient, epoch, laterMigrations })).host).toBe(host)
})

test('[L53.2] a failed migration changes nothing', async () => {
  const place = await filled()
  const laterMigrations = ['CREATE TABLE second (a int)', 'no such thing']
  await expect(open(place, { laterMigrations })).rejects.toThrow('no')
  expect(await (await open(place)).log.load(one)).toMatchObject({ seq: 1 })
  expect(await tamper(place, `SELECT to_regclass('${place.schema}_v2.meta') AS kept`)).toEqual([
    { kept: null },
  ])
})

test.each([
  ['an added column', 'ALTER TABLE rows ADD COLUMN note text', 'table "rows" .* was changed by hand'],
  ['another type', 'ALTER TABLE tails ALTER places TYPE int', 'table "tails" .* was changed by hand'],
  ['a removed index', 'DROP INDEX envelopes_by_client', 'table "envelopes" .* was changed by hand'],
  [
    'an added index that can refuse rows',
    'CREATE UNIQUE INDEX mine ON envelopes (sum)',
    'table "envelopes" .* was changed by hand',
  ],
  ['a removed table', 'DROP TABLE kept', 'table "kept" .* was removed by hand'],
  [
    'a rule',
    'CREATE RULE quiet AS ON INSERT TO blobs DO INSTEAD NOTHING',
    'table "blobs" .* was changed by hand',
  ],
  ['no version', `DELETE FROM meta WHERE key = 'schema'`, 'does not tell its version'],
  ['no id of the host', `DELETE FROM meta WHERE key = 'host'`, 'the id of the host is missing'],
  ['no bounds', 'DELETE FROM bounds', 'has lost its highest number'],
])('[L53.3] %s is found when the store is opened', async (_, sql, message) => {
  const place = await filled()
  await tamper(place, sql)
  expect(await refusal(place)).toMatchObject({
    name: 'StoreUnreadable',
    message: expect.stringMatching(message),
  })
})

test('[L53.3] an index that somebody has added is no damage: it is named, also after a migration, and may be removed', async () => {
  const place = await filled()
  await tamper(place, 'CREATE INDEX "mine, too" ON envelopes (channel, sum)')
  await tamper(place, `CREATE INDEX half ON records (key) WHERE name <> ''`)
  const addedIndexes = ['mine, too', 'half']
  const epoch = await epochOf(place)
  expect(await open(place, { epoch })).toMatchObject({ addedIndexes })
  const laterMigrations = ['ALTER TABLE records ADD COLUMN extra text']
  expect(await open(place, { epoch, laterMigrations })).toMatchObject({ addedIndexes })
  await tamper(place, 'DROP INDEX "mine, too"')
  expect(await open(place, { epoch, laterMigrations })).toMatchObject({ addedIndexes: ['half'] })
})

test('[L53.1] tables of another program are left alone', async () => {
  const place = await server().place()
  await tamper(place, `CREATE SCHEMA ${place.schema} CREATE TABLE theirs (a int)`)
  expect(String(await refusal(place))).toContain('has the tables of another program')
  await expect(epochOf(place)).rejects.toThrow('has the tables of another program')
})

test('[L53.4] a store of another host is refused, and an empty place has nothing to read', async () => {
  const place = await filled()
  const { host, log } = await openPostgres(place, patient)
  await log.close()
  expect(host).toMatch(/^[0-9a-f-]{36}$/)
  await (await openPostgres(place, { ...patient, host })).log.close()
  await expect(openPostgres(place, { ...patient, host: 'another' })).rejects.toThrow(
    `belongs to the host ${host}, and this one is the host another`,
  )
  expect(String(await refusal(await server().place()))).toContain('is empty')
})

test.each([
  ['a changed action', `UPDATE envelopes SET action = '{}' WHERE seq = 2`, 'number 2 has a wrong checksum'],
  ['a removed action', 'DELETE FROM envelopes WHERE seq = 2', 'the actions after number 1 are missing'],
  [
    'a changed creation',
    `UPDATE channels SET state = '{}' WHERE id = 1`,
    'its creation has a wrong checksum',
  ],
  ['a missing tail', 'DELETE FROM tails WHERE channel = 1', 'its tail is missing'],
])('[F-04] %s in the database is reported, and never returned', async (_, sql, damage) => {
  const place = await filled()
  await tamper(place, sql)
  const { log } = await open(place)
  expect(await log.load(one)).toEqual({ damaged: damage })
})

test('[L54] [L54.2] the password is read from a file or the environment, and a URL with one is refused without repeating it', async () => {
  const url = 'postgres://ann@db.example/atrium'
  const file = join(mkdtempSync(join(tmpdir(), 'atrium-password-')), 'password')
  writeFileSync(file, 'from a file\n')
  expect((await postgresPlace(url, { PGPASSWORD: 'of the environment' })).config.password).toBe(
    'of the environment',
  )
  const both = { PGPASSWORD: 'x', ATRIUM_POSTGRES_PASSWORD_FILE: file }
  expect((await postgresPlace(url, both)).config.password).toBe('from a file')
  await expect(postgresPlace(url, { ATRIUM_POSTGRES_PASSWORD_FILE: `${file}s` })).rejects.toThrow('ENOENT')
  const error = await postgresPlace('postgres://ann:hunter2@db.example/atrium', {}).catch(String)
  expect(error).toContain('must not have a password')
  expect(error).not.toContain('hunter2')
  expect(await postgresPlace('postgres://ann:hunter2@', {}).then(() => '', String)).not.toContain('hunter2')
})

test('[L54] a connection to another machine is encrypted and verified unless the URL says otherwise', async () => {
  const tls = async (rest: string) => (await postgresPlace(`postgres://ann@${rest}`, {})).config.ssl
  expect(await tls('db.example/a')).toEqual({ rejectUnauthorized: true })
  expect(await tls('db.example/a?sslmode=require')).toEqual({ rejectUnauthorized: false })
  expect(await tls('db.example/a?sslmode=disable')).toBe(false)
  expect(await tls('127.0.0.1/a')).toBe(false)
  expect(await tls('localhost:5433/a?sslmode=verify-full')).toEqual({ rejectUnauthorized: true })
  for (const bad of [
    'sslmode=prefer',
    'sslmode=verify-full&sslrootcert=/nowhere',
    'schema=A%20b',
    'sslkey=x',
  ])
    await expect(tls(`db.example/a?${bad}`)).rejects.toMatchObject({ name: 'BadPostgresUrl' })
  for (const bad of ['db.example', '/a'])
    await expect(tls(bad)).rejects.toThrow('must be like postgres://user@host:5432/database')
})

test('[L59] the state of a store names its owner, epoch and lease, and a new store is refused and not created', async () => {
  const place = await server().place()
  await expect(clusterState(place)).rejects.toThrow(/the store at .* is empty/)
  await expect(clusterState(place)).rejects.toThrow(/the store at .* is empty/)
  const lease = await postgresLease(place, { node: 'one', url: 'ws://one/', ms: 250_000 })
  onTestFinished(() => lease.close())
  expect(await clusterState(place)).toEqual({ host: lease.host, replicas: [] })
  const epoch = (await lease.acquire()) ?? 0
  const state = await clusterState(place)
  expect(state).toMatchObject({ lease: { epoch, node: 'one', url: 'ws://one/' } })
  expect(state.lease?.msLeft).toBeGreaterThan(0)
  expect(await lease.renew(epoch)).toBe(true)
})
