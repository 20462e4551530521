import { devicesOf } from '../../parts/devices/devices.ts'
import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { pairedDevice } from '../../../test/devices.ts'
import { chat, oneClientSession, turn } from '../../../test/one-client-session.ts'
import { silentAgent, testHost } from '../../../test/test-host.ts'
import type { TestHost } from '../../../test/test-host.ts'
import { CheckedRecords, readRecord } from './checked-records.ts'
import { sealed, unsealed } from './checksum.ts'
import { recordKinds } from './kinds.ts'

test('[L60] every flipped bit of a record and of its checksum is noticed, and a record of an earlier build is read', () => {
  const stored = sealed('device/a', '{"role":"watch"}')
  expect(unsealed('device/a', stored)).toBe('{"role":"watch"}')
  const bytes = Array.from(stored, (char) => char.charCodeAt(0))
  for (const [at, byte] of bytes.entries())
    for (let bit = 0; bit < 7; bit++) {
      const flipped = String.fromCharCode(...bytes.with(at, byte ^ (1 << bit)))
      expect(unsealed('device/a', flipped)).toBeUndefined()
    }
  expect(unsealed('device/b', stored)).toBeUndefined()
  expect(unsealed('device/a', '{"role":"watch"}')).toBe('{"role":"watch"}')
  expect(unsealed('open/a', '')).toBe('')
})

const names = Object.keys(recordKinds).map((kind) => (kind.endsWith('/') ? `${kind}x` : kind))

test.each(names.flatMap((key) => ['{"a"', '\u0002garbage', sealed('other', '')].map((text) => [key, text])))(
  '[L60] [L60.1] [F-04] a damaged record %s (%j) does not stop the host, and the host says so',
  async (key = '', text = '') => {
    const all = await testHost()
    all.store().records.put(key, text)
    await all.store().log.flush()
    await all.restart('close')
    const said = all.world.reports.filter(({ event }) => event === 'damaged record')
    for (const { detail } of said)
      expect(detail).toMatch(/^The record ".+" of the store in memory is damaged\. .+ is kept as "damaged\//)
    expect(said.length).toBeLessThan(2)
    await all.join('ann')
    // The second start finds nothing that is damaged any more.
    await all.restart('close')
    expect(all.world.reports.filter(({ event }) => event === 'damaged record')).toEqual(said)
  },
)

/** Flips a bit of every stored record with this prefix. Returns their number. */
async function flip(all: TestHost, prefix: string, at = -1): Promise<number> {
  const { records, log } = all.store().reopen()
  const found = await records.list(prefix)
  for (const [key, text] of found) {
    const place = (at + text.length) % text.length
    const flipped = String.fromCharCode(text.charCodeAt(place) ^ 1)
    records.put(key, text.slice(0, place) + flipped + text.slice(place + 1))
  }
  await log.flush()
  return found.length
}

test('[L60.3] a damaged session entry is made again from the log of the session: list and session agree', async () => {
  const { all, ann } = await oneClientSession(silentAgent)
  await turn(ann, 't1')
  await ann.echo(ann.dispatch('mock:/one', { type: 'session/titleChanged', title: 'A198' }))
  const before = await ann.ask('listSessions', {})
  for (const place of [20, 40, 60, -30, -1]) {
    await all.host().close()
    expect(await flip(all, 'session/', place)).toBe(1)
    await all.restart('crash')
    const ben = await all.join('ben', { subscribe: ['mock:/one', chat] })
    const { items } = await ben.ask('listSessions', {})
    expect(items).toMatchObject(
      before.items.map(({ resource, title, status, chats }) => ({ resource, title, status, chats })),
    )
    expect(items).toMatchObject([{ title: ben.state('mock:/one')['title'] }])
  }
  expect(all.world.reports.some(({ detail }) => String(detail).includes('It is built again'))).toBe(true)
})

test('[L60.4] a damaged device is unknown, and the others stay', async () => {
  const all = await testHost()
  await pairedDevice(all, 'watch', 'phone')
  await all.host().close()
  expect(await flip(all, 'device/', -5)).toBe(1)
  await all.restart('crash')
  expect(devicesOf(all.core()).find('hash of phone')).toBeUndefined()
  expect(devicesOf(all.core()).list).toEqual([])
  expect(String(all.world.reports.at(-1)?.detail)).toContain('pair it again: atrium devices add NAME')
})

test('[L60.4] nobody takes over the id of a client whose record is damaged', async () => {
  const all = await testHost()
  await all.join('ann', { principal: 'ann' })
  await all.host().close()
  expect(await flip(all, 'client/')).toBeGreaterThan(0)
  await all.restart('crash')
  await expect(all.join('ann', { principal: 'eve' })).rejects.toThrow('choose another one')
  await all.join('ann-2', { principal: 'ann' })
})

test.each([
  ['enablement/["x"]', 'on', 'off'],
  ['owner/s', 'someone', ''],
  ['machine/s', 'one', 'unknown'],
  ['consent/["x"]', '{}', undefined],
  ['device/x', '{}', undefined],
])('[L60.4] what takes the place of a damaged %s grants nothing', async (key, text, instead) => {
  const { records: store } = memoryStore()
  const said: string[] = []
  const records = new CheckedRecords(store, 'here', (sentence) => said.push(sentence))
  records.put(key, text)
  const stored = (await store.get(key)) ?? ''
  store.put(key, `${stored.slice(0, -1)}?`)
  expect(await records.get(key)).toBe(instead)
  expect(await records.get(key)).toBe(instead)
  expect(said).toHaveLength(1)
  expect(await store.get(`damaged/${key}`)).toBe(`${stored.slice(0, -1)}?`)
})

test('[L60.2] a record that is replaced while it is read is not set aside', async () => {
  const { records: store } = memoryStore()
  const records = new CheckedRecords(store, 'here', (sentence) => expect.unreachable(sentence))
  store.put('lives', '\u0002garbage')
  const reading = records.get('lives')
  records.put('lives', '[]')
  expect(await reading).toBe('[]')
  expect(await readRecord(records, 'lives', (text): unknown => JSON.parse(text))).toEqual([])
  expect(() => records.put('unheard/of', '')).toThrow('add one to recordKinds')
})
