import { expect, test } from 'vitest'
import { random } from './measure.ts'
import { slopeOf } from './slope.ts'
import type { Point } from './slope.ts'

test('[B25] the slope of a line is its own, and certain', () => {
  const { slope, error } = slopeOf([0, 1, 2, 3].map((x) => [x, 5 + 2 * x] as const))
  expect(slope).toBeCloseTo(2)
  expect(error).toBeCloseTo(0)
})

test('[B25] noise around a line stays within three standard errors of it', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const { slope, error } = slopeOf(noisy(seed, (x) => 100 + 0.5 * x))
    expect(Math.abs(slope - 0.5)).toBeLessThan(4 * error)
  }
})

test('[B25] samples that resemble their neighbours make a slope less sure', () => {
  const alone = slopeOf(noisy(7, () => 0))
  const runs = slopeOf(noisy(7, () => 0).map(([x], i, all) => [x, all[i - (i % 10)]?.[1] ?? 0] as const))
  expect(runs.error).toBeGreaterThan(1.5 * alone.error)
})

test('[B25] two samples say nothing', () => {
  expect(
    slopeOf([
      [0, 1],
      [1, 2],
    ]).error,
  ).toBe(Infinity)
})

function noisy(seed: number, line: (x: number) => number): readonly Point[] {
  const next = random(seed)
  return Array.from({ length: 100 }, (_, x) => [x, line(x) + (next() - 0.5) * 10] as const)
}
