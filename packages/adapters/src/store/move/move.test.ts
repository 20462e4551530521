import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Store } from '@atrium/host/ports/store'
import {
  creation,
  envelope,
  head,
  range,
  row,
  step,
} from '../../../../host/src/ports/contracts/fixture.contract.ts'
import { sealAll } from '../../../../host/src/ports/contracts/seal.contract.ts'
import { epochOf, open as openPostgres, postgresTests, releaseLease } from '../../../test/postgres/store.ts'
import { newFolder, open } from '../../../test/store-folder.ts'
import type { PostgresPlace } from '../postgres/place.ts'
import { move } from './move.ts'
import { postgresSide, sqliteSide } from './sides.ts'
import type { Side } from './table.ts'

const server = postgresTests()
const chat = 'ahp-chat:/1'
const other = 'ahp-chat://default/ünï𝒳%_'
const long = `ahp-chat:/${'ü'.repeat(3000)}`
const session = 'ahp-session:/1'

/** Fills a store with everything that a store can have. */
async function fill({ log, records, blobs }: Store): Promise<void> {
  const by = (seq: number, channel = chat) => ({
    ...envelope(seq, channel),
    origin: { clientId: seq % 2 ? 'ann' : long, clientSeq: seq, principal: 'owner' },
  })
  const uris = [chat, other, long, 'ahp-chat:/gone']
  log.append(step({ created: uris.map((uri) => creation(uri, 1)) }))
  log.append(step({ envelopes: range(2, 600).map((seq) => by(seq, uris[seq % 4])), upTo: 5000 }))
  log.append(step({ rows: ['b', 'a', 'c', long].map((id) => row(id, `text of ${id}`)), heads: [head(601)] }))
  log.append(
    step({ rows: [row('a'), row('a', 'again')], dropped: [{ channel: 'ahp-chat:/gone', seq: 700 }] }),
  )
  for (const n of range(0, 50)) records.put(`client/${n}${n === 7 ? long : ''}`, `{"n":${n}}`)
  await log.flush()
  await sealAll(log, chat, 300)
  await log.forget({ channel: other, seq: 100, state: '{"n":100}' }, 10)
  await blobs.put(session, new TextEncoder().encode('a blob'))
  await blobs.put(
    long,
    new Uint8Array(70_000).map((_, i) => i % 251),
  )
}

/** Everything that a store returns about what `fill` has put into it. */
async function contents({ log, records, blobs }: Store): Promise<unknown> {
  return {
    upTo: log.upTo,
    channels: await Promise.all([chat, other, long, 'ahp-chat:/gone'].map((uri) => log.load(uri))),
    creation: await log.creation(other),
    read: await log.read([chat, other, long], 0, 9999),
    clients: [await log.dispatchedBy('ann', 0, 50), await log.dispatchedBy(long, 0, 50)],
    rows: await log.rows(chat, ['a', 'b', 'c', long]),
    records: await records.list(''),
    blob: await blobs.get(session, createHash('sha256').update('a blob').digest('hex')),
  }
}

async function moved(from: Side, to: Side) {
  try {
    return await move(from, to)
  } finally {
    await Promise.all([from.close(), to.close()])
  }
}

/** A folder with a filled store, and what it returns. */
async function source(): Promise<{ folder: string; before: unknown }> {
  const folder = newFolder()
  const store = await open(folder)
  await fill(store)
  await store.log.close()
  const again = await open(folder)
  const before = await contents(again)
  await again.log.close()
  return { folder, before }
}

const contentsOf = async (place: PostgresPlace) => {
  const store = await openPostgres(place)
  const found = await contents(store)
  await store.log.close()
  await releaseLease(place)
  return found
}

test('[L58] [L58.1] a store is moved into a database and back, and returns the same in both; the source stays as it was', async () => {
  const { folder, before } = await source()
  const place = await server().place()
  const counted = await moved(await sqliteSide(folder, 'source'), await postgresSide(place, 'target'))
  expect(counted.find(({ table }) => table === 'records')?.rows).toBe(50)
  expect(await contentsOf(place)).toEqual(before)
  const back = newFolder()
  const again = await moved(await postgresSide(place, 'source'), await sqliteSide(back, 'target'))
  expect(again).toEqual(counted)
  for (const each of [back, folder]) {
    const store = await open(each)
    expect(await contents(store)).toEqual(before)
    store.log.append(step({ envelopes: [envelope(8000)], rows: [row('new', 'row')] }))
    await store.log.flush()
    expect(await store.log.load(chat)).toMatchObject({ rowIds: ['b', 'c', long, 'a', 'new'] })
    await store.log.close()
  }
})

test('[L58] a store goes on where it was moved to: channels, rows and segments get places of their own', async () => {
  const { folder } = await source()
  const place = await server().place()
  await moved(await sqliteSide(folder, 'source'), await postgresSide(place, 'target'))
  const { log } = await openPostgres(place)
  log.append(
    step({ created: [creation('ahp-chat:/new', 9000)], envelopes: [envelope(9001, 'ahp-chat:/new')] }),
  )
  log.append(step({ envelopes: [envelope(9002)], rows: [row('new', 'row')] }))
  await log.flush()
  await sealAll(log, chat, 9002)
  expect(await log.load(chat)).toMatchObject({ rowIds: ['b', 'c', long, 'a', 'new'] })
  expect(await log.load('ahp-chat:/new')).toMatchObject({ seq: 9000, envelopes: { length: 1 } })
})

test.each([1, 3, 5, 8])(
  '[L58.2] a move that is interrupted at write %i is refused by hosts, and continued by the next',
  async (at) => {
    const { folder, before } = await source()
    const place = await server().place()
    const target = await postgresSide(place, 'target')
    let writes = 0
    const failing: Side = Object.assign(Object.create(target) as Side, {
      name: target.name,
      read: target.read.bind(target),
      progress: target.progress.bind(target),
      begin: target.begin.bind(target),
      write: async (...given: Parameters<Side['write']>) => {
        if (++writes === at) throw new Error('cut')
        await target.write(...given)
      },
    })
    const from = await sqliteSide(folder, 'source')
    await expect(move(from, failing)).rejects.toThrow('cut')
    await Promise.all([from.close(), target.close()])
    await expect(openPostgres(place)).rejects.toThrow('has not ended: run the same atrium move again')
    await releaseLease(place)
    await moved(await sqliteSide(folder, 'source'), await postgresSide(place, 'target'))
    expect(await contentsOf(place)).toEqual(before)
  },
)

test('[L58.3] a store in use, a missing one, one that is not empty and a part of another one are refused', async () => {
  const { folder } = await source()
  const place = await server().place()
  await expect(sqliteSide(join(folder, 'nowhere'), 'source')).rejects.toThrow('There is no store in')
  const host = await open(folder)
  await expect(sqliteSide(folder, 'source')).rejects.toThrow(/in use/)
  await host.log.close()
  await moved(await sqliteSide(folder, 'source'), await postgresSide(place, 'target'))
  const owner = await openPostgres(place)
  await expect(postgresSide(place, 'source')).rejects.toThrow('is in use by the host one')
  await owner.log.close()
  const second = newFolder()
  await (await open(second)).log.close()

  const free = await server().place()
  const to = await postgresSide(free, 'target')
  await to.begin('another store')
  await expect(moved(await sqliteSide(second, 'source'), to)).rejects.toThrow('has a part of another store')
  const full = await sqliteSide(folder, 'target')
  await expect(moved(await sqliteSide(second, 'source'), full)).rejects.toThrow('is not empty')
})

test('[L58] a source that a host has taken over meanwhile is not moved', async () => {
  const place = await server().place()
  const store = await openPostgres(place)
  store.log.append(step({ created: [creation(chat, 1)] }))
  await store.log.flush()
  await store.log.close()
  await releaseLease(place)
  const from = await postgresSide(place, 'source')
  await epochOf(place, 'two')
  await expect(moved(from, await sqliteSide(newFolder(), 'target'))).rejects.toThrow(
    'Another host has become the owner',
  )
})
