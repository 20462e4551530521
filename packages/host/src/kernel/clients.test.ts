import { memoryStore } from '@atrium/adapters/store/memory'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { Clients } from './clients.ts'
import type { Log } from './log/log.ts'
import { creation, step } from '../ports/contracts/fixture.contract.ts'
import { testWorld } from '../../test/world.ts'

const log = { scheduleFlush() {} } as Log

/** Returns what a host remembers, after a restart, of a client that was sent this number of snapshots. */
async function handedAfter(count: number) {
  const { records } = memoryStore()
  const handed = new Map(Array.from({ length: count }, (_, i) => [`c:/${i}`, { fromSeq: i }]))
  const record = { clientId: 'ann', principal: 'owner', version: '1.0.0', since: 0, handed } as const
  new Clients(records, log, testWorld()).keep(record)
  const found = await new Clients(records, log, testWorld()).find('ann', 'owner')
  return [...(found?.handed.keys() ?? [])]
}

test('[S-57 handed] at 1,024: all snapshots are remembered', async () =>
  expect(await handedAfter(1024)).toHaveLength(1024))
test('[S-57 handed] past 1,024: the oldest are forgotten, and those channels get new snapshots', async () => {
  const handed = await handedAfter(1025)
  expect([handed.length, handed[0]]).toEqual([1024, 'c:/1'])
})

/** A store with the record of a client and, if `named`, with an action of the client. The client was away for `ms`. */
async function swept(ms: number, { named = false, text = '' } = {}) {
  const { records, log: store } = memoryStore()
  const world = testWorld()
  const envelopes = [
    { seq: 2, channel: 'c:/1', action: '{}', origin: { clientId: 'ann', clientSeq: 1, principal: 'owner' } },
  ]
  store.append(step({ created: [creation('c:/1', 1)], envelopes: named ? envelopes : [] }))
  await store.flush()
  const handed = new Map([['c:/1', { fromSeq: 1 }]])
  if (text) records.put('client/ann', text)
  else
    new Clients(records, log, world).keep({ clientId: 'ann', principal: 'owner', version: '1.0.0', handed })
  world.advance(ms)
  const clients = new Clients(records, log, world)
  await clients.sweep(store, limits.clientMs)
  return { clients, records, store, world }
}

test('[L19] [S-57 clientMs] at 7,776,000,000: an absent client is remembered with its snapshots', async () => {
  const { clients } = await swept(7_776_000_000)
  const found = await clients.find('ann', 'owner')
  expect([found?.handed.size, found?.forgotten]).toEqual([1, undefined])
})

test('[L19] [S-57 clientMs] past 7,776,000,000: an absent client is forgotten', async () => {
  const { clients, records } = await swept(7_776_000_001)
  expect(await clients.find('ann', 'owner')).toBeUndefined()
  expect(await records.list('')).toEqual([])
})

test('[L19] [S-10] [L19.2] the id of a forgotten client belongs to its principal while an envelope names it', async () => {
  const { clients, records, store } = await swept(7_776_000_001, { named: true })
  expect(await records.list('')).toEqual([['client/ann', '{"clientId":"ann","principal":"owner"}']])
  expect(await clients.find('ann', 'owner')).toMatchObject({ forgotten: true, handed: new Map() })
  await expect(clients.find('ann', 'mallory')).rejects.toThrow('another principal')
  await clients.sweep(store, limits.clientMs)
  expect(await records.list('')).toHaveLength(1)
  store.append(step({ dropped: [{ channel: 'c:/1', seq: 3 }] }))
  await store.flush()
  await clients.sweep(store, limits.clientMs)
  expect(await records.list('')).toEqual([])
})

test('[L19] [L19.3] the time of a connected client counts from the last sweep, that of an earlier record from the first', async () => {
  const text = '{"clientId":"ann","principal":"owner","version":"1.0.0","handed":[]}'
  const { clients, store, world } = await swept(0, { text })
  world.advance(7_776_000_000)
  await clients.sweep(store, limits.clientMs)
  const found = await clients.find('ann', 'owner')
  expect(found).toMatchObject({ version: '1.0.0' })
  if (found) clients.keep(found)
  for (let day = 0; day < 3; day++) {
    world.advance(7_776_000_001)
    await clients.sweep(store, limits.clientMs)
  }
  clients.leave('ann')
  expect(await clients.find('ann', 'owner')).toMatchObject({ version: '1.0.0' })
})
