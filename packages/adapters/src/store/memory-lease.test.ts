import { expect, test } from 'vitest'
import { leaseContract } from '../../../host/src/ports/contracts/lease.contract.ts'
import { creation, step } from '../../../host/src/ports/contracts/fixture.contract.ts'
import { LeaseRow } from './memory-lease.ts'
import { memoryStore } from './memory.ts'

function bench() {
  let time = 1000
  const row = new LeaseRow(10_000, () => time)
  return {
    ms: 10_000,
    node: (node: string) => row.leaseOf({ node, url: `ws://${node}/` }),
    pass: async (ms: number) => void (time += ms),
    row,
  }
}

leaseContract('memory', async () => bench())

test('[L41] two nodes share a store: the writes of an earlier epoch are refused, whatever they are', async () => {
  const { node, pass, row } = bench()
  const first = (await node('one').acquire()) ?? 0
  const one = memoryStore({ fence: () => row.fence(first) })
  one.log.append(step({ created: [creation('ahp-chat:/1', 1)] }))
  await one.log.flush()
  one.log.append(step({ created: [creation('ahp-chat:/2', 2)] }))
  await pass(10_001)
  const second = (await node('two').acquire()) ?? 0
  const two = one.share({ fence: () => row.fence(second) })
  await expect(one.log.flush()).rejects.toMatchObject({ name: 'Deposed' })
  await expect(one.blobs.put('ahp-session:/1', new Uint8Array(1))).rejects.toMatchObject({ name: 'Deposed' })
  await expect(one.blobs.drop('ahp-session:/1')).rejects.toMatchObject({ name: 'Deposed' })
  await expect(one.log.seal('ahp-chat:/1', 9, 0)).rejects.toMatchObject({ name: 'Deposed' })
  const checkpoint = { channel: 'ahp-chat:/1', seq: 9, state: '{}' }
  await expect(one.log.forget(checkpoint, 0)).rejects.toMatchObject({ name: 'Deposed' })
  expect(await two.log.load('ahp-chat:/1')).toMatchObject({ seq: 1 })
  expect(await two.log.load('ahp-chat:/2')).toBeUndefined()
  two.records.put('open/1', 'creating')
  await two.log.flush()
  expect(await one.records.get('open/1')).toBe('creating')
})

test('[L41] a node that shares a store does not see what another has queued and not flushed', async () => {
  const one = memoryStore()
  one.log.append(step({ created: [creation('ahp-chat:/1', 1)] }))
  one.records.put('open/1', 'creating')
  const two = one.share({})
  expect(await two.log.load('ahp-chat:/1')).toBeUndefined()
  expect(await two.records.get('open/1')).toBeUndefined()
})
