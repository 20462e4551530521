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
  // A slow frame is followed by one that adds nothing.
  expect(after(40, 1)).toBe(0)
  expect(after(16, 1)).toBe(2000)
  expect(after(400, 39)).toBe(0)
  expect(after(400, 1)).toBe(240)
})

test('[U47] a machine that is slow and far behind still adds a part of the rest with each frame', () => {
  const pace = new RevealPace()
  let [left, frames] = [1_000_000, 0]
  while (left > 0) {
    left -= pace.next(++frames * 400, left)
  }
  expect(frames).toBeLessThan(1000)
})

test('[U47] the time in which nothing was written says nothing about the machine', () => {
  const pace = new RevealPace()
  const first = pace.next(0)
  pace.rest()
  expect(pace.next(60_000)).toBe(first)
})
