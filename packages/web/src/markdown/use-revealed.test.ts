import { expect, test } from 'vitest'
import { RevealPace } from './use-revealed.ts'

test('[U47] fast frames add more of a text, and slow ones less, within bounds', () => {
  const pace = new RevealPace()
  const first = pace.next(0)
  let now = 0
  const after = (gap: number, count: number) => {
    let size = 0
    for (let at = 0; at < count; at++) size = pace.next((now += gap))
    return size
  }
  expect(after(16, 1)).toBeGreaterThan(first)
  expect(after(16, 50)).toBe(4000)
  expect(after(26, 5)).toBe(4000)
  expect(after(40, 1)).toBe(2000)
  expect(after(400, 20)).toBe(160)
})

test('[U47] the time in which nothing was written says nothing about the machine', () => {
  const pace = new RevealPace()
  const first = pace.next(0)
  pace.rest()
  expect(pace.next(60_000)).toBe(first)
})
