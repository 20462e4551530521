import { expect, test } from 'vitest'
import { spread } from '../percentiles.ts'
import { Latencies, Pace, arrivals } from './pace.ts'

test('[B21] the schedule has the rate that was asked for, and a seed gives the same one again', () => {
  const times = arrivals(2000, 10, 1)
  expect(times.length).toBeGreaterThan(19_000)
  expect(times.length).toBeLessThan(21_000)
  expect(times.every((time, i) => time >= (times[i - 1] ?? 0) && time < 10_000)).toBe(true)
  expect(arrivals(2000, 10, 1)).toEqual(times)
  expect(arrivals(2000, 10, 2)).not.toEqual(times)
})

test('[B21] what is due is sent whether or not anything was answered, each once', () => {
  const pace = new Pace(Float64Array.of(1, 2, 2, 5, 9))
  expect([...pace.due(0.5)]).toEqual([])
  expect([...pace.due(2)]).toEqual([0, 1, 2])
  expect([...pace.due(2)]).toEqual([])
  expect([...pace.due(100)]).toEqual([3, 4])
  expect(pace.done).toBe(true)
})

test('[B21] a server that stands still for half a second shows in the percentiles', () => {
  const stalled = (now: number) => (now >= 2000 && now < 2500 ? 2501 : now + 1)
  const { p50, p99, max } = simulated(stalled, () => 1)
  expect(p50).toBeLessThan(3)
  // A tenth of five seconds: one in ten waited, a quarter of a second on average.
  expect(p99).toBeGreaterThan(400)
  expect(max).toBeGreaterThan(495)
})

test('[B21] so does a generator that was late itself: its lateness is not taken off', () => {
  const { p99 } = simulated(
    (now) => now + 1,
    (now) => (now >= 2000 && now < 2500 ? 500 : 1),
  )
  expect(p99).toBeGreaterThan(400)
})

test('[B21] what was never answered is counted', () => {
  const took = new Latencies(Float64Array.of(1, 2, 3))
  took.answered(1, 7)
  expect(took.missing).toBe(2)
  expect([...took.values]).toEqual([5])
})

/** Five seconds at 1,000 a second, without a clock: `answers` says when what is sent now is answered, `nap` when to look next. */
function simulated(answers: (now: number) => number, nap: (now: number) => number) {
  const times = arrivals(1000, 5, 3)
  const pace = new Pace(times)
  const took = new Latencies(times)
  for (let now = 0; !pace.done; now += nap(now))
    for (const index of pace.due(now)) took.answered(index, answers(now))
  return spread(took.values)
}
