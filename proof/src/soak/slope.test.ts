import { expect, test } from 'vitest'
import { Chance } from '../chance.ts'
import { slopeOf } from './slope.ts'
import type { Point } from './slope.ts'

test('[B25] points on a line have its slope and no error', () => {
  const { slope, error } = slopeOf([0, 1, 2, 3].map((x) => [x, 5 + 2 * x] as const))
  expect(slope).toBeCloseTo(2)
  expect(error).toBeCloseTo(0)
})

test('[B25] the slope of a noisy line is within four standard errors', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const { slope, error } = slopeOf(noisy(seed, (x) => 100 + 0.5 * x))
    expect(Math.abs(slope - 0.5)).toBeLessThan(4 * error)
  }
})

test('[B25] correlated neighbours widen the error', () => {
  const independent = slopeOf(noisy(7, () => 0))
  const correlated = slopeOf(
    noisy(7, () => 0).map(([x], i, all) => [x, all[i - (i % 10)]?.[1] ?? 0] as const),
  )
  expect(correlated.error).toBeGreaterThan(1.5 * independent.error)
})

test('[B25] two samples have an infinite error', () => {
  expect(
    slopeOf([
      [0, 1],
      [1, 2],
    ]).error,
  ).toBe(Infinity)
})

function noisy(seed: number, line: (x: number) => number): readonly Point[] {
  const chance = new Chance(seed)
  const next = () => chance.next() / 2 ** 32
  return Array.from({ length: 100 }, (_, x) => [x, line(x) + (next() - 0.5) * 10] as const)
}
