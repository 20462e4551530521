import { expect, test } from 'vitest'
import { nodeWorld } from './world.ts'

const world = nodeWorld(() => {})

test('[W1] a soon task runs before a later task, and a cancelled task never', async () => {
  const order: string[] = []
  await new Promise<void>((resolve) => {
    world.later(0, () => order.push('cancelled'))()
    world.later(0, () => {
      order.push('later')
      resolve()
    })
    world.soon(() => order.push('soon'))
    order.push('now')
  })
  expect(order).toEqual(['now', 'soon', 'later'])
})

test('[W1] [S-26] ids have 128 random bits', () => {
  const ids = Array.from({ length: 2000 }, () => world.id())
  expect(new Set(ids).size).toBe(2000)
  const bits = ids.map((id) =>
    BigInt(`0x${id.replaceAll('-', '')}`)
      .toString(2)
      .padStart(id.length * 4, '0'),
  )
  // Each bit must be set in about half of the ids. For a random bit, the probability of less than a third is below 10^-50.
  const setCounts = Array.from({ length: 128 }, (_, at) => bits.filter((text) => text.at(at) === '1').length)
  expect(setCounts.filter((count) => count < 700 || count > 1300)).toEqual([])
})

test('[W1] now is the wall clock in milliseconds', () => expect(Number.isInteger(world.now())).toBe(true))
