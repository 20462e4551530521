import { expect, test } from 'vitest'
import { creation, step } from '../../../host/src/ports/contracts/fixture.contract.ts'
import { storeContract } from '../../../host/src/ports/contracts/store.contract.ts'
import { memoryStore } from './memory.ts'

const open = async () => {
  const store = memoryStore()
  return { store, reopen: async () => store.reopen() }
}

storeContract('memory', open)

test('[F-01] a store that is reopened before a flush ends has lost the flush', async () => {
  const tasks: (() => void)[] = []
  const store = memoryStore({ soon: (task) => tasks.push(task) })
  store.log.append(step({ created: [creation('ahp-chat:/1', 1)] }))
  const flushed = store.log.flush()
  const next = store.reopen()
  for (const task of tasks) task()
  await expect(flushed).rejects.toThrow('closed')
  expect(await next.log.load('ahp-chat:/1')).toBeUndefined()
})

test('[F-07] a full disk refuses the flush, keeps the queue, and a later flush writes it', async () => {
  let full = true
  const store = memoryStore({ full: () => full })
  store.log.append(step({ created: [creation('ahp-chat:/1', 1)] }))
  store.records.put('open/1', 'creating')
  await expect(store.log.flush()).rejects.toMatchObject({ name: 'DiskFull' })
  expect(await store.log.load('ahp-chat:/1')).toBeUndefined()
  expect(await store.records.get('open/1')).toBe('creating')
  full = false
  await store.log.flush()
  expect(await store.reopen().log.load('ahp-chat:/1')).toMatchObject({ seq: 1 })
})
