import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { numbersAhead } from './group-commit.ts'
import { beginEpoch, inEpoch } from './epochs.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

test('[L5] F-12: an epoch begins above every number of earlier epochs, even of one that a restored backup lacks', async () => {
  const { records } = memoryStore()
  const clock = (now / 1000) * 1_000_000
  expect((await beginEpoch(records, 0, now)).first).toBe(clock)
  expect((await beginEpoch(records, clock + 5_000_000, now)).first).toBe(clock + 5_000_001)
  // The records of a restored backup contain only older numbers. The clock still gives a higher first number.
  expect((await beginEpoch(records, clock - 86_400_000_000, now)).first).toBe(clock)
})

test('[L5] F-03: two epochs within one second have different numbers, even when the disk lost the first', async () => {
  const { first } = await beginEpoch(memoryStore().records, 0, now + 200)
  const used = first + 50_000
  expect((await beginEpoch(memoryStore().records, 0, now + 700)).first).toBeGreaterThan(used)
})

test('[L5] earlier epochs are stored with their last numbers, and the holes between them belong to none', async () => {
  const { records } = memoryStore()
  const { first } = await beginEpoch(records, 0, now)
  const last = first + 700
  const { first: second, earlierEpochs } = await beginEpoch(records, last + numbersAhead, now)
  expect(earlierEpochs).toEqual([{ first, last }])
  expect([first - 1, last].map((seq) => inEpoch(earlierEpochs, seq))).toEqual([true, true])
  expect([first - 2, last + 1, second].map((seq) => inEpoch(earlierEpochs, seq))).toEqual([
    false,
    false,
    false,
  ])
})

async function epochsAfter(count: number) {
  const { records } = memoryStore()
  const epochs = Array.from({ length: count }, (_, i) => [i * 10, i * 10 + 5])
  records.put('lives', JSON.stringify(epochs))
  await beginEpoch(records, 0, now)
  return (JSON.parse((await records.get('lives')) ?? '[]') as unknown[]).slice(0, -1)
}
test('[S-57 lives] at 1,000: all are stored', async () => expect(await epochsAfter(1000)).toHaveLength(1000))
test('[S-57 lives] past 1,000: the oldest is removed', async () => {
  const epochs = await epochsAfter(1001)
  expect([epochs.length, epochs[0]]).toEqual([1000, [10, 15]])
})
