import { expect, onTestFinished, test } from 'vitest'
import type { Lease } from '@atrium/host/ports/lease'
import { creation, envelope, head, step } from '../../../../host/src/ports/contracts/fixture.contract.ts'
import { leaseContract } from '../../../../host/src/ports/contracts/lease.contract.ts'
import { storeContract } from '../../../../host/src/ports/contracts/store.contract.ts'
import { epochOf, open, patient, postgresTests } from '../../../test/postgres/store.ts'
import { tamper } from '../../../test/postgres/place.ts'
import { postgresLease } from './lease.ts'
import { openPostgres } from './postgres.ts'

const server = postgresTests()
const one = 'ahp-chat:/1'

storeContract('postgres', async () => {
  const place = await server().place()
  const store = await open(place)
  const reopen = async () => {
    await store.log.close()
    return open(place)
  }
  return { store, reopen }
})

leaseContract('postgres', async () => {
  const place = await server().place()
  const ms = 250_000
  return {
    ms,
    node: (name) => lazyLease(place, { node: name, url: `ws://${name}/`, ms }),
    pass: async (time) => {
      await tamper(place, `UPDATE lease SET expires = expires - $1 * interval '1 millisecond'`, [time])
    },
  }
})

/** A lease that is opened by its first use. It is closed after the test. */
function lazyLease(...given: Parameters<typeof postgresLease>): Lease {
  const opened = postgresLease(...given)
  onTestFinished(async () => (await opened).close())
  return {
    ms: given[1].ms,
    acquire: async () => (await opened).acquire(),
    renew: async (epoch) => (await opened).renew(epoch),
    release: async (epoch) => (await opened).release(epoch),
    read: async () => (await opened).read(),
    close: async () => (await opened).close(),
  }
}

test.each<[string, (store: Awaited<ReturnType<typeof open>>) => Promise<unknown>]>([
  [
    'a step',
    ({ log }) => {
      log.append(step({ envelopes: [envelope(3)] }))
      return log.flush()
    },
  ],
  [
    'a step that drops',
    ({ log }) => {
      log.append(step({ dropped: [{ channel: one, seq: 9 }] }))
      return log.flush()
    },
  ],
  [
    'a record',
    ({ log, records }) => {
      records.put('a', 'b')
      return log.flush()
    },
  ],
  ['a sealing', ({ log }) => log.seal(one, 100, 1)],
  ['a forgetting', ({ log }) => log.forget({ channel: one, seq: 2, state: '{}' }, 9)],
  ['a blob', ({ blobs }) => blobs.put('ahp-session:/1', new Uint8Array(1))],
  ['a removal of blobs', ({ blobs }) => blobs.drop('ahp-session:/1')],
])(
  '[L41] %s of an earlier epoch is refused with the epoch and the node of the new owner',
  async (_, write) => {
    const place = await server().place()
    const store = await open(place)
    store.log.append(step({ created: [creation(one, 1)], envelopes: [envelope(2)], heads: [head(2)] }))
    await store.log.flush()
    await epochOf(place, 'two')
    await expect(write(store)).rejects.toMatchObject({
      name: 'Deposed',
      message: 'epoch 1 is over: epoch 2 has begun at two',
    })
    const next = await openPostgres(place, patient)
    expect(await next.log.load(one)).toMatchObject({ seq: 2, envelopes: [] })
    await next.log.close()
  },
)

test('[L41] a new owner waits for a write that runs, and the write is not lost', async () => {
  const place = await server().place()
  const { log } = await open(place)
  const uris = Array.from({ length: 50 }, (_, i) => `ahp-chat:/${i}`)
  log.append(step({ created: uris.map((uri) => creation(uri, 1)) }))
  await log.flush()
  const flushed = Array.from({ length: 40 }, (_, i) => {
    log.append(step({ envelopes: uris.map((uri, j) => envelope(100 + 50 * i + j, uri)) }))
    return log.flush().then(
      () => 100 + 50 * i + 49,
      () => 0,
    )
  })
  await flushed[0]
  const next = await open(place)
  const confirmed = Math.max(...(await Promise.all(flushed)))
  const { envelopes } = await next.log.read(uris, 0, 1_000_000)
  expect(envelopes.at(-1)?.seq).toBeGreaterThanOrEqual(confirmed)
  expect(envelopes.map(({ seq }) => seq)).toEqual(envelopes.map((__, i) => 100 + i))
})

test('[L50] URIs, ids, names of records and clients may be longer than an entry of an index', async () => {
  const place = await server().place()
  const { log, records, blobs } = await open(place)
  const long = (name: string) => `${name}${'ü'.repeat(20_000)}`
  const [uri, other] = [long('ahp-chat:/a'), `${long('ahp-chat:/a')}b`]
  const origin = { clientId: long('ann'), clientSeq: 1, principal: 'owner' }
  const rows = [long('t'), `${long('t')}2`].map((id, i) => ({ channel: uri, id, text: `turn ${i}` }))
  const envelopes = [
    { ...envelope(2, uri), origin },
    { ...envelope(3, uri), origin },
  ]
  log.append(
    step({ created: [creation(uri, 1), creation(other, 1)], envelopes, rows, heads: [head(1, uri)] }),
  )
  records.put(long('client/'), 'one')
  records.put(`${long('client/')}x`, 'two')
  await log.flush()
  expect(await log.load(uri)).toMatchObject({ rowIds: rows.map(({ id }) => id), rows: ['turn 0', 'turn 1'] })
  expect(await log.dispatchedBy(origin.clientId, 0, 9)).toEqual(envelopes)
  expect(await log.seal(uri, 2, 1)).toMatchObject({ envelopes: 1 })
  expect(await log.dispatchedBy(origin.clientId, 0, 9)).toEqual(envelopes)
  expect(await log.forget({ channel: uri, seq: 2, state: '{}' }, 9)).toBe(true)
  expect(await log.dispatchedBy(origin.clientId, 0, 9)).toEqual(envelopes)
  expect((await records.list('client/')).map(([, text]) => text)).toEqual(['one', 'two'])
  expect((await records.list(`${long('client/')}x`)).map(([, text]) => text)).toEqual(['two'])
  expect(await records.get(long('client/'))).toBe('one')
  const blob = await blobs.put(uri, new Uint8Array(2))
  expect(await blobs.get(other, blob)).toBeUndefined()
  expect(await blobs.get(uri, blob)).toEqual(new Uint8Array(2))
})

test('[L50] a store that is open for reading sees what others have committed, and writes nothing', async () => {
  const place = await server().place()
  const { log, records } = await open(place)
  const reading = await openPostgres(place, patient)
  log.append(step({ created: [creation(one, 1)] }))
  records.put('a', 'b')
  expect(await reading.log.load(one)).toBeUndefined()
  await log.flush()
  expect(await reading.log.load(one)).toMatchObject({ seq: 1 })
  expect(await reading.records.list('')).toEqual([['a', 'b']])
  expect(() => reading.records.put('c', 'd')).toThrow('reading only')
  expect(() => reading.log.append(step({}))).toThrow('reading only')
  await expect(reading.blobs.put(one, new Uint8Array(1))).rejects.toThrow('reading only')
  await expect(reading.log.seal(one, 9, 1)).rejects.toThrow('reading only')
  await reading.log.close()
})
