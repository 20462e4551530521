import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { TestContext } from 'vitest'
import { creation, envelope, range, step } from '../../../../../host/src/ports/contracts/fixture.contract.ts'
import { certificate } from '../../../../test/server/certificate.ts'
import { tamper } from '../../../../test/postgres/place.ts'
import { open, patient, postgresTests } from '../../../../test/postgres/store.ts'
import type { TestServer } from '../../../../test/postgres/server.ts'
import type { PostgresPlace } from '../place.ts'
import { openPostgres, postgresPlace } from '../postgres.ts'

// The certificate of the server does not name the second address.
const server = postgresTests([
  'listen_addresses=127.0.0.1,127.0.0.2',
  'wal_level=replica',
  'max_wal_senders=2',
])
const one = 'ahp-chat:/1'
const patiently = { timeout: 200_000 }

/** The folder and the user of the server. Skips the test if the server belongs to others. */
function ownServer(context: TestContext): NonNullable<TestServer['own']> {
  const { own } = server()
  return own ?? context.skip('skipped: no postgres that may be changed')
}

/** Writes a file that the server may read. Returns its path. */
function fileFor({ folder, user }: NonNullable<TestServer['own']>, name: string, text: string): string {
  const file = join(folder, name)
  writeFileSync(file, text, { mode: 0o600 })
  if (user) chownSync(file, user.uid, user.gid)
  return file
}

/** Opens a place for reading. Returns the error, which has no password. */
async function refusal(place: PostgresPlace): Promise<unknown> {
  const error = await openPostgres(place, patient).then(
    (store) => store.log.close(),
    (reason: unknown) => reason,
  )
  expect(JSON.stringify(error) + String(error)).not.toContain(server().password)
  return error
}

test('[L54.1] a server is trusted by its certificate only: an unknown issuer, another name and a server without TLS are named', async (context) => {
  const own = ownServer(context)
  const place = await server().place()
  await (await open(place)).log.close()
  const { port, user, database } = place.config
  const at = (host: string, rest: string) =>
    postgresPlace(`postgres://${user}@${host}:${port}/${database}?schema=${place.schema}&${rest}`, {
      PGPASSWORD: server().password,
    })
  expect(String(await refusal(await at('127.0.0.1', 'sslmode=require')))).toContain(
    'has no TLS: switch it on there, or allow a plain connection with sslmode=disable',
  )
  const cert = fileFor(own, 'server.crt', certificate.cert)
  for (const sql of [
    `ALTER SYSTEM SET ssl_cert_file = '${cert}'`,
    `ALTER SYSTEM SET ssl_key_file = '${fileFor(own, 'server.key', certificate.key)}'`,
    'ALTER SYSTEM SET ssl = on',
    'SELECT pg_reload_conf()',
  ])
    await tamper(place, sql)
  await expect.poll(async () => refusal(await at('127.0.0.1', 'sslmode=require')), patiently).toBeUndefined()
  for (const host of ['127.0.0.1', 'localhost'])
    expect(await refusal(await at(host, `sslmode=verify-full&sslrootcert=${cert}`))).toBeUndefined()
  expect(await refusal(await at('localhost', 'sslmode=verify-full'))).toMatchObject({
    name: 'StoreUnreadable',
    message: expect.stringMatching(/^the certificate of .* is not trusted: .*name the file of its issuer/),
  })
  const other = await refusal(await at('127.0.0.2', `sslmode=verify-full&sslrootcert=${cert}`))
  expect(String(other)).toMatch(/is not trusted: .*127\.0\.0\.2/)
  const store = await open(await at('localhost', `sslmode=verify-full&sslrootcert=${cert}`))
  store.log.append(step({ created: [creation(one, 1)] }))
  await store.log.flush()
  expect(await store.log.load(one)).toMatchObject({ seq: 1 })
  const encrypted = 'SELECT bool_and(ssl) AS all FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)'
  expect(await tamper(place, `${encrypted} WHERE application_name LIKE 'atrium/%'`)).toEqual([{ all: true }])
})

test('[L4] F-07: a full disk at the database is an error that can be repeated, and loses and doubles nothing', async (context) => {
  const own = ownServer(context)
  const disk = join(own.folder, 'disk')
  mkdirSync(disk)
  const rights = `size=8m,mode=700${own.user ? `,uid=${own.user.uid},gid=${own.user.gid}` : ''}`
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', rights, 'tmpfs', disk]).status !== 0)
    return context.skip('skipped: no root')
  onTestFinished(() => void spawnSync('umount', ['-l', disk]))
  const place = await server().place()
  await tamper(place, `CREATE TABLESPACE small LOCATION '${disk}'`)
  await tamper(place, 'ALTER ROLE atrium SET default_tablespace = small')
  const { log, records } = await open(place)
  await tamper(place, 'ALTER ROLE atrium RESET default_tablespace')
  log.append(step({ created: [creation(one, 1)] }))
  await log.flush()
  const ballast = join(disk, 'ballast')
  writeFileSync(ballast, Buffer.alloc(3_000_000))
  let confirmed = 1
  const error = await (async () => {
    // Texts that the server cannot compress.
    for (const n of range(2, 2000)) {
      const text = Array.from({ length: 4000 }, () => Math.random().toString(36).slice(2, 10)).join('')
      log.append(step({ envelopes: [{ ...envelope(n), action: JSON.stringify({ n, text }) }], upTo: n }))
      records.put('last', String(n))
      await log.flush()
      confirmed = n
    }
    return undefined
  })().catch((reason: unknown) => reason)
  expect(error).toMatchObject({ name: 'DiskFull', message: expect.stringContaining('has no space left') })
  expect(await log.load(one)).toMatchObject({ envelopes: { length: confirmed - 1 } })
  await expect(log.flush()).rejects.toMatchObject({ name: 'DiskFull' })
  rmSync(ballast)
  await log.flush()
  const { envelopes } = (await log.load(one)) as { envelopes: readonly { seq: number }[] }
  expect(envelopes.map(({ seq }) => seq)).toEqual(range(2, confirmed))
  expect(await records.get('last')).toBe(String(confirmed + 1))
  await log.close()
})

test('[L55.1] a batch at a server that does not answer in time is sent again, and is stored once', async () => {
  const place = await server().place()
  const { log } = await open(place, { answer: 3000 })
  log.append(step({ created: [creation(one, 1)] }))
  await log.flush()
  const slow = await holding(place)
  log.append(step({ envelopes: [envelope(2)] }))
  const flushed = log.flush()
  const seen = new Set<number>()
  await expect
    .poll(async () => {
      for (const pid of await slow.waiting()) seen.add(pid)
      return seen.size
    }, patiently)
    .toBeGreaterThan(1)
  await slow.release()
  await flushed
  log.append(step({ envelopes: [envelope(3)] }))
  await log.flush()
  expect(await log.load(one)).toMatchObject({ envelopes: [envelope(2), envelope(3)] })
})

test('[L55] an owner gives up a server that is too slow, with a sentence, and writes nothing more', async () => {
  const place = await server().place()
  const { log } = await open(place, { answer: 3000, patience: 1 })
  log.append(step({ created: [creation(one, 1)] }))
  await log.flush()
  const slow = await holding(place)
  log.append(step({ envelopes: [envelope(2)] }))
  await expect(log.flush()).rejects.toThrow(
    /cannot be reached: it did not answer within 3 seconds; gave up after \d+ seconds/,
  )
  await slow.release()
  log.append(step({ envelopes: [envelope(3)] }))
  await expect(log.flush()).rejects.toThrow('gave up')
})

test('[D11.1] a store tells the servers that copy its database, and nothing to a user who may not see them', async () => {
  const place = await server().place()
  const store = await open(place)
  expect(await store.replicas()).toEqual([])
  // A connection for copies. The types of the library do not name this setting.
  const copying = new pg.Client({ ...place.config, application_name: 'copy', replication: 'true' } as never)
  await copying.connect()
  onTestFinished(() => copying.end())
  expect(await store.replicas()).toEqual([
    { name: 'copy', state: 'startup', sync: 'async', lagMs: null, lagBytes: null },
  ])
  const role = `blind_${place.schema}`
  await tamper(place, `CREATE ROLE ${role} LOGIN PASSWORD 'blind'`)
  await tamper(place, `GRANT USAGE ON SCHEMA ${place.schema} TO ${role}`)
  await tamper(place, `GRANT SELECT ON ALL TABLES IN SCHEMA ${place.schema} TO ${role}`)
  const config = { ...place.config, user: role, password: 'blind' }
  const blind = await openPostgres({ ...place, user: role, config }, patient)
  onTestFinished(() => blind.log.close())
  expect(await blind.replicas()).toBeUndefined()
})

/** Holds up everybody who writes envelopes. */
async function holding(place: PostgresPlace) {
  const client = new pg.Client(place.config)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query(`BEGIN; LOCK TABLE ${place.schema}.envelopes IN EXCLUSIVE MODE`)
  const waiting = `SELECT pid FROM pg_locks WHERE NOT granted AND relation = '${place.schema}.envelopes'::regclass`
  return {
    waiting: async () => (await client.query<{ pid: number }>(waiting)).rows.map(({ pid }) => pid),
    release: () => client.query('COMMIT'),
  }
}
