import { expect, test } from 'vitest'
import { framesOf } from './frames.ts'

test('[B60] gaps between frames are counted as frames that a screen has missed', () => {
  const frames = framesOf([0, 16, 33, 83, 100])
  expect(frames).toMatchObject({ count: 4, max: 50, dropped: 2 })
  expect(frames.p50).toBe(17)
})
