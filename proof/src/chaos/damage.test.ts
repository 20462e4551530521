import { expect, test } from 'vitest'
import { Chance } from '../chance.ts'
import { flipped, tails } from './damage.ts'

test('[B11] the same seed gives the same choices, another seed gives others', () => {
  const choices = (seed: number) => {
    const chance = new Chance(seed)
    return [
      chance.between(1, 1000),
      chance.shuffled([1, 2, 3, 4, 5]).join(),
      chance.branch().between(1, 1000),
    ]
  }
  expect(choices(1)).toEqual(choices(1))
  expect(choices(1)).not.toEqual(choices(2))
})

test('[B15] each damage changes a copy of the bytes', () => {
  const bytes = Buffer.from('a file that was closed well'.repeat(50))
  const before = Buffer.from(bytes)
  for (const { apply } of tails) expect(apply(bytes, new Chance(3)).equals(before)).toBe(false)
  expect(flipped(bytes, 3, 0).readUInt8(3)).toBe(bytes.readUInt8(3) ^ 1)
  expect(bytes.equals(before)).toBe(true)
})
