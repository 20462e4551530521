import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { chat, creation, head, range, row, step } from '../../ports/contracts/fixture.contract.ts'
import { readRows, readSome } from './rows.ts'

/** A store with rows of about 300 kB each, so that three rows fit into a slice. */
async function storeWithRows(count: number) {
  const { log } = memoryStore()
  const ids = range(0, count).map((i) => `t${i}`)
  const rows = ids.map((id) => row(id, JSON.stringify({ id, text: 'x'.repeat(300_000) })))
  log.append(step({ created: [creation(chat, 1)], heads: [head(1)], rows }))
  await log.flush()
  return { log, ids }
}

test('[L9] rows are read slice by slice, each once', async () => {
  const { log, ids } = await storeWithRows(10)
  const { rows } = log
  const requested: (readonly string[])[] = []
  log.rows = (uri, wanted) => {
    requested.push(wanted)
    return rows(uri, wanted)
  }
  expect([...(await readRows(log, chat, ids)).keys()]).toEqual(ids)
  expect(requested.map((wanted) => wanted[0])).toEqual(['t0', 't3', 't6', 't9'])
  const newestFirst = ids.toReversed()
  const some = await readSome(log, chat, newestFirst)
  expect([...some.rows.keys()]).toEqual(newestFirst.slice(0, some.count))
  expect(some.count).toBe(3)
})

test('[L9] a row that the store no longer has is left out', async () => {
  const { log } = await storeWithRows(2)
  log.append(step({ dropped: [{ channel: chat, seq: 9 }] }))
  await log.flush()
  expect(await readRows(log, chat, ['t0', 't1'])).toEqual(new Map())
})
