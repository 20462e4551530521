import { expect, test } from 'vitest'
import { unseenIn } from './features.ts'
import { versions } from './negotiate.ts'

test('[Z28] a client sees what its version has, and each version adds something', () => {
  expect(unseenIn('1.0.0')).toEqual([])
  expect(unseenIn('1.3.2')).toEqual([])
  expect(unseenIn('0.9.4')).toHaveLength(1)
  expect(versions.map((version) => unseenIn(version).length)).toEqual(versions.map((_, at) => 11 - at))
})
