import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { RecordMap, textFormat } from './record-map.ts'

const numbers = { read: Number, write: String }

test('entries are stored under the prefix, one record each', async () => {
  const { records } = memoryStore()
  const map = await RecordMap.open(records, 'n/', numbers)
  map.set('a', 1)
  map.set('b/c', 2)
  map.set('a', 3)
  expect(await records.list('n/')).toEqual([
    ['n/a', '3'],
    ['n/b/c', '2'],
  ])
})

test('a map that is opened again has what was stored, and nothing of other prefixes', async () => {
  const { records } = memoryStore()
  records.put('n/a', '1')
  records.put('n/b', '2')
  records.put('m/c', '3')
  const map = await RecordMap.open(records, 'n/', numbers)
  expect(map.entries()).toEqual([
    ['a', 1],
    ['b', 2],
  ])
  expect([map.size, map.keys(), map.values()]).toEqual([2, ['a', 'b'], [1, 2]])
})

test('a deleted entry is gone from memory and from the records', async () => {
  const { records } = memoryStore()
  const map = await RecordMap.open(records, 'n/', textFormat)
  map.set('a', '')
  expect([map.has('a'), map.delete('a'), map.delete('a'), map.has('a')]).toEqual([true, true, false, false])
  expect(await records.list('n/')).toEqual([])
})
