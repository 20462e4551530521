import { expect, test } from 'vitest'
import { median, percentile, spread } from './percentiles.ts'

test('[B20] a percentile is a measured value, by nearest rank', () => {
  const values = Array.from({ length: 1000 }, (_, i) => i + 1)
  expect([50, 90, 99, 99.9, 100].map((percent) => percentile(values, percent))).toEqual([
    500, 900, 990, 999, 1000,
  ])
  expect([0, 50, 100].map((percent) => percentile([7], percent))).toEqual([7, 7, 7])
  expect(percentile([], 50)).toBeNaN()
})

test('[B20] the order of the values does not matter, and one outlier shows only in the maximum', () => {
  const values = Array.from({ length: 2000 }, (_, i) => (i === 3 ? 900 : 1))
  expect(spread(values)).toEqual({ count: 2000, p50: 1, p90: 1, p99: 1, p999: 1, max: 900 })
  expect(median([9, 1, 5])).toBe(5)
})
