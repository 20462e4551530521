import { expect, test } from 'vitest'
import { leaseMs, testCluster } from '../../test/cluster/nodes.ts'
import type { Ending } from './cluster-node.ts'

/** An owner that ends without a word, and the next process of its node. */
async function afterCrash(ending: { now: Ending }) {
  const cluster = testCluster()
  const one = cluster.add('one')
  await one.node.start()
  one.cut = true
  const next = cluster.add('one', { endingOf: async () => ending.now })
  await next.node.start()
  return { ...cluster, next }
}

test('[L40.4] a node takes the lease of its own ended process at once', async () => {
  const { next } = await afterCrash({ now: 'ended' })
  expect([next.node.role, next.node.epoch]).toEqual(['owner', 2])
})

test('[L40.4] a node waits for what its ended process has started, and looks often', async () => {
  const ending: { now: Ending } = { now: 'ending' }
  const { next, pass } = await afterCrash(ending)
  await pass(leaseMs / 10)
  expect(next.node.role).toBe('standby')
  ending.now = 'ended'
  await pass(250)
  expect([next.node.role, next.node.epoch]).toEqual(['owner', 2])
})

test('[L40.4] a node waits for the end of the lease if it knows nothing', async () => {
  const { next, pass } = await afterCrash({ now: 'unknown' })
  await pass(leaseMs - 500)
  expect(next.node.role).toBe('standby')
  await pass(1000)
  expect(next.node.role).toBe('owner')
})

test('[L40.4] a node that wants a free lease does not ask who had it', async () => {
  const { add } = testCluster()
  const one = add('one', { endingOf: () => Promise.reject(new Error('asked')) })
  await one.node.start()
  expect(one.node.role).toBe('owner')
})
