import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { Clients } from './clients.ts'
import type { Log } from '../log/log.ts'

const log = { scheduleFlush() {} } as Log

/** Returns what a host remembers, after a restart, of a client that was sent this number of snapshots. */
async function handedAfter(count: number) {
  const { records } = memoryStore()
  const handed = new Map(Array.from({ length: count }, (_, i) => [`c:/${i}`, { fromSeq: i }]))
  const record = { clientId: 'ann', principal: 'owner', version: '1.0.0', since: 0, handed } as const
  new Clients(records, log).keep(record)
  const found = await new Clients(records, log).find('ann', 'owner')
  return [...(found?.handed.keys() ?? [])]
}

test('[S-57 handed] at 1,024: all snapshots are remembered', async () =>
  expect(await handedAfter(1024)).toHaveLength(1024))
test('[S-57 handed] past 1,024: the oldest are forgotten, and those channels get new snapshots', async () => {
  const handed = await handedAfter(1025)
  expect([handed.length, handed[0]]).toEqual([1024, 'c:/1'])
})
