import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { testWorld } from '../../../test/world.ts'
import { ReadBudget } from './read-budget.ts'
import type { Reader, Reservation } from './read-budget.ts'

const MiB = 1024 * 1024

/** A budget, and readers whose reads are recorded in the order in which they are admitted. */
function budgetOf(given: Partial<typeof limits> = {}) {
  const world = testWorld()
  const budget = new ReadBudget(world, { ...limits, ...given })
  const admitted: string[] = []
  const dropped: string[] = []
  const held: Reservation[] = []
  const read = (reader: Reader, bytes: number, name = '') =>
    budget.reserve(reader, bytes).then(
      (reservation) => void (admitted.push(name), held.push(reservation)),
      () => void dropped.push(name),
    )
  return { world, budget, admitted, dropped, held, read }
}

const reader = (): Reader => ({ principal: 'owner' })
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('[S-57 readingBytes] at 33,554,432 bytes of a link a read begins', () => readsOfOneLink(16 * MiB, 2))
test('[S-57 readingBytes] past 33,554,432 its reads wait until an earlier one is over', () =>
  readsOfOneLink(16 * MiB + 1, 1))

async function readsOfOneLink(bytes: number, count: number): Promise<void> {
  const { admitted, held, read, budget } = budgetOf()
  const ann = reader()
  void read(ann, 16 * MiB, '1')
  void read(ann, bytes, '2')
  await settled()
  expect(admitted).toHaveLength(count)
  expect(budget.held).toBeLessThanOrEqual(limits.readingBytes)
  held[0]?.release()
  await settled()
  expect(admitted).toEqual(['1', '2'])
}

test('[S-57 readingBytesOfAll] at 268,435,456 bytes of all links a read begins', () => readsOfMany(16, 16))
test('[S-57 readingBytesOfAll] past 268,435,456 reads of other links wait', () => readsOfMany(17, 16))

async function readsOfMany(count: number, begun: number): Promise<void> {
  const { admitted, held, read, budget } = budgetOf()
  for (let n = 0; n < count; n++) void read(reader(), 16 * MiB)
  await settled()
  expect(admitted).toHaveLength(begun)
  expect(budget.held).toBeLessThanOrEqual(limits.readingBytesOfAll)
  held[0]?.release()
  await settled()
  expect(admitted).toHaveLength(count)
}

test('[Q12] [Q12.1] links take turns: a read of another link waits behind one read, not behind a hundred', async () => {
  const { admitted, held, read } = budgetOf({ readingBytes: 4 * MiB, readingBytesOfAll: 4 * MiB })
  const ann = reader()
  const bob = reader()
  for (let n = 0; n < 100; n++) void read(ann, 4 * MiB, `ann ${n}`)
  void read(bob, 4 * MiB, 'bob')
  await settled()
  for (let n = 0; n < 2; n++) {
    held[n]?.release()
    await settled()
  }
  expect(admitted).toEqual(['ann 0', 'bob', 'ann 1'])
})

test('[Q12] [Q12.1] a large read that waits for the budget of all is not passed by small ones for ever', async () => {
  const { admitted, held, read } = budgetOf({ readingBytesOfAll: 4 * MiB })
  void read(reader(), 3 * MiB, 'first')
  void read(reader(), 3 * MiB, 'large')
  void read(reader(), 1 * MiB, 'small')
  await settled()
  expect(admitted).toEqual(['first'])
  held[0]?.release()
  await settled()
  expect(admitted).toEqual(['first', 'large', 'small'])
})

test('[Q12] [Q12.2] the waiting reads of a link that ends are dropped, and the line goes on', async () => {
  const { admitted, dropped, held, read, budget } = budgetOf({ readingBytesOfAll: 4 * MiB })
  const ann = reader()
  void read(ann, 4 * MiB, 'ann 1')
  void read(ann, 4 * MiB, 'ann 2')
  void read(reader(), 1 * MiB, 'bob')
  await settled()
  expect(held[0]?.unwanted).toBe(false)
  budget.leave(ann)
  await settled()
  expect(dropped).toEqual(['ann 2'])
  expect(held[0]?.unwanted).toBe(true)
  held[0]?.release()
  await settled()
  expect(admitted).toEqual(['ann 1', 'bob'])
  held[1]?.release()
  held[1]?.release()
  expect([budget.held, budget.size]).toEqual([0, 0])
})

test('[Q12] [Q12.2] a read takes its part until the client has read the answer', async () => {
  const { admitted, held, read, budget } = budgetOf({ readingBytes: 4 * MiB })
  let hasRead = () => {}
  const ann: Reader = { principal: 'owner', drained: () => new Promise((resolve) => (hasRead = resolve)) }
  void read(ann, 4 * MiB, '1')
  void read(ann, 4 * MiB, '2')
  await settled()
  held[0]?.resize(3 * MiB)
  held[0]?.sent()
  await settled()
  expect([budget.held, admitted]).toEqual([3 * MiB, ['1']])
  hasRead()
  await settled()
  expect(admitted).toEqual(['1', '2'])
})

test('[Q12.3] [S-57 stalledReadMs] at 10,000 ms a link that does not read is closed, if others wait', () =>
  stalled(10_000, true, true))
test('[S-57 stalledReadMs] past 10,000 ms nobody is closed if nobody waits', () =>
  stalled(60_000, false, false))
test('[Q12] [Q12.3] a link that has not read its answers for less than 10 s is not closed', () =>
  stalled(9999, true, false))

async function stalled(ms: number, othersWait: boolean, closed: boolean): Promise<void> {
  const { world, admitted, held, read } = budgetOf({ readingBytesOfAll: 4 * MiB })
  const closes: number[] = []
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const close = (code: number) => {
    closes.push(code)
    end()
  }
  void read({ principal: 'owner', drained: () => ended, close }, 4 * MiB, 'unread')
  await settled()
  held[0]?.sent()
  if (othersWait) void read(reader(), 4 * MiB, 'other')
  await settled()
  world.advance(ms)
  await settled()
  expect(closes).toEqual(closed ? [1013] : [])
  expect(admitted).toEqual(closed ? ['unread', 'other'] : ['unread'])
}
