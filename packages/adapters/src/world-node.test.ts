import { expect, test } from 'vitest'
import { nodeWorld } from './world-node.ts'

const world = nodeWorld(() => {})

test('[W1] soon comes before later, and what was undone never', async () => {
  const order: string[] = []
  await new Promise<void>((resolve) => {
    world.later(0, () => order.push('undone'))()
    world.later(0, () => {
      order.push('later')
      resolve()
    })
    world.soon(() => order.push('soon'))
    order.push('now')
  })
  expect(order).toEqual(['now', 'soon', 'later'])
})

test('[W1] ids are 128 bits of chance, the time is that of the wall', () => {
  const ids = new Set(Array.from({ length: 1000 }, () => world.id()))
  expect(ids.size).toBe(1000)
  expect([...ids][0]).toMatch(/^[0-9a-f-]{36}$/)
  expect(Number.isInteger(world.now())).toBe(true)
})
