import { expect, test } from 'vitest'
import { StepRecords } from './log/step-records.ts'

test('[L1] a list of records has those of a step that ends while the store is read', async () => {
  const stored = new Map<string, string>()
  const records = new StepRecords({
    get: async (key) => stored.get(key),
    put: (key, text) => void stored.set(key, text),
    list: async () => [...stored],
    delete: (key) => void stored.delete(key),
  })
  records.put('notice/1', 'one')
  const listed = records.list('notice/')
  records.writeToStore()
  expect(await listed).toEqual([['notice/1', 'one']])
})
