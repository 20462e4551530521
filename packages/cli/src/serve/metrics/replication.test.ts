import type { Replica } from '@atrium/adapters/store/postgres/lease'
import { expect, test } from 'vitest'
import { untilIdle } from '../../../../host/test/held-flushes.ts'
import { testWorld } from '../../../../host/test/world.ts'
import { ReplicationReader } from './replication.ts'

const replica: Replica = { name: 'two', state: 'streaming', sync: 'sync', lagMs: 1, lagBytes: 10 }

test('[D11.1] the servers that copy the database are read every 15 s; a failed look shows none, and the next one comes', async () => {
  const world = testWorld()
  const reader = new ReplicationReader(world)
  let looks = 0
  let away = false
  reader.start(async () => {
    looks++
    if (away) throw new Error('the database cannot be reached')
    return [{ ...replica, lagBytes: looks }]
  })
  await untilIdle()
  expect(reader.latest).toEqual([{ ...replica, lagBytes: 1 }])
  world.advance(14_000)
  await untilIdle()
  expect(looks).toBe(1)
  away = true
  world.advance(1000)
  await untilIdle()
  expect([looks, reader.latest]).toEqual([2, undefined])
  away = false
  world.advance(15_000)
  await untilIdle()
  expect(reader.latest).toEqual([{ ...replica, lagBytes: 3 }])
})

test('[D11.1] the look of an owner that has ended is ignored, and no other one follows', async () => {
  const world = testWorld()
  const reader = new ReplicationReader(world)
  let answer: (found: readonly Replica[]) => void = () => {}
  let looks = 0
  reader.start(() => {
    looks++
    return new Promise((resolve) => (answer = resolve))
  })
  reader.stop()
  answer([replica])
  await untilIdle()
  world.advance(60_000)
  await untilIdle()
  expect([looks, reader.latest]).toEqual([1, undefined])
})
