import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { numbersAhead } from './group-commit.ts'
import { beginEpoch, inEpoch, wasLost } from './epochs.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

test('[L5] F-12: an epoch begins above every number of earlier epochs, even of one that a restored backup lacks', async () => {
  const { records } = memoryStore()
  const clock = (now / 1000) * 1_000_000
  expect((await beginEpoch(records, { upTo: 0 }, now)).first).toBe(clock)
  expect((await beginEpoch(records, { upTo: clock + 5_000_000 }, now)).first).toBe(clock + 5_000_001)
  // The records of a restored backup contain only older numbers. The clock still gives a higher first number.
  expect((await beginEpoch(records, { upTo: clock - 86_400_000_000 }, now)).first).toBe(clock)
})

test('[L5] F-03: two epochs within one second have different numbers, even when the disk lost the first', async () => {
  const { first } = await beginEpoch(memoryStore().records, { upTo: 0 }, now + 200)
  const used = first + 50_000
  expect((await beginEpoch(memoryStore().records, { upTo: 0 }, now + 700)).first).toBeGreaterThan(used)
})

test('[L5] earlier epochs are stored with their last numbers, and the holes between them belong to none', async () => {
  const { records } = memoryStore()
  const { first } = await beginEpoch(records, { upTo: 0 }, now)
  const last = first + 700
  const { first: second, earlierEpochs } = await beginEpoch(records, { upTo: last + numbersAhead }, now)
  expect(earlierEpochs).toEqual([{ first, last }])
  expect([first - 1, last].map((seq) => inEpoch(earlierEpochs, seq))).toEqual([true, true])
  expect([first - 2, last + 1, second].map((seq) => inEpoch(earlierEpochs, seq))).toEqual([
    false,
    false,
    false,
  ])
})

test('[L5.1] F-03: an epoch begins above all numbers that the disk has lost, even if the clock was set back', async () => {
  const { records } = memoryStore()
  const { first } = await beginEpoch(records, { upTo: 0 }, now)
  const kept = first + 700
  const lost = first + 90_000_000_000
  const store = { upTo: kept + numbersAhead, lost }
  const { first: second, earlierEpochs } = await beginEpoch(records, store, now - 1_000_000)
  expect(second).toBe(lost + 2)
  expect(earlierEpochs).toEqual([{ first, last: kept, lost }])
  expect([kept, kept + 1, lost, lost + 1].map((seq) => wasLost(earlierEpochs, seq))).toEqual([
    false,
    true,
    true,
    false,
  ])
  // Later epochs still know which numbers were lost.
  const later = await beginEpoch(records, { upTo: second + numbersAhead }, now)
  expect([kept, kept + 1, lost, lost + 1].map((seq) => wasLost(later.earlierEpochs, seq))).toEqual([
    false,
    true,
    true,
    false,
  ])
})

test('[L5.1] F-03: a disk that has lost everything has lost every number up to the last', async () => {
  const { records } = memoryStore()
  const { first, earlierEpochs } = await beginEpoch(records, { upTo: 0, lost: now * 2000 }, now)
  expect(first).toBe(now * 2000 + 2)
  expect([0, 1, now * 2000, now * 2000 + 1].map((seq) => wasLost(earlierEpochs, seq))).toEqual([
    false,
    true,
    true,
    false,
  ])
  expect([0, 1, now * 2000].map((seq) => inEpoch(earlierEpochs, seq))).toEqual([false, false, false])
})

async function epochsAfter(count: number) {
  const { records } = memoryStore()
  const epochs = Array.from({ length: count }, (_, i) => [i * 10, i * 10 + 5])
  records.put('lives', JSON.stringify(epochs))
  await beginEpoch(records, { upTo: 0 }, now)
  return (JSON.parse((await records.get('lives')) ?? '[]') as unknown[]).slice(0, -1)
}
test('[S-57 lives] at 1,000: all are stored', async () => expect(await epochsAfter(1000)).toHaveLength(1000))
test('[S-57 lives] past 1,000: the oldest is removed', async () => {
  const epochs = await epochsAfter(1001)
  expect([epochs.length, epochs[0]]).toEqual([1000, [10, 15]])
})
