import { expect, test } from 'vitest'
import { nodeWorld } from './world.ts'

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

test('[W1] S-26: ids are 128 bits of chance', () => {
  const ids = Array.from({ length: 2000 }, () => world.id())
  expect(new Set(ids).size).toBe(2000)
  const bits = ids.map((id) =>
    BigInt(`0x${id.replaceAll('-', '')}`)
      .toString(2)
      .padStart(id.length * 4, '0'),
  )
  // No bit is fixed: each is set in about half of them (the chance of less than a third is below 10^-50).
  const free = Array.from({ length: 128 }, (_, at) => bits.filter((text) => text.at(at) === '1').length)
  expect(free.filter((count) => count < 700 || count > 1300)).toEqual([])
})

test('[W1] the time is that of the wall', () => expect(Number.isInteger(world.now())).toBe(true))
