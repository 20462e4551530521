import { expect, test } from 'vitest'
import { spread } from '../percentiles.ts'
import { Latencies, Schedule, arrivals } from './schedule.ts'

test('[B21] a schedule has the given rate, and the same seed gives the same schedule', () => {
  const times = arrivals(2000, 10, 1)
  expect(times.length).toBeGreaterThan(19_000)
  expect(times.length).toBeLessThan(21_000)
  expect(times.every((time, i) => time >= (times[i - 1] ?? 0) && time < 10_000)).toBe(true)
  expect(arrivals(2000, 10, 1)).toEqual(times)
  expect(arrivals(2000, 10, 2)).not.toEqual(times)
})

test('[B21] every due action is given once, whether or not earlier ones were answered', () => {
  const schedule = new Schedule(Float64Array.of(1, 2, 2, 5, 9))
  expect([...schedule.due(0.5)]).toEqual([])
  expect([...schedule.due(2)]).toEqual([0, 1, 2])
  expect([...schedule.due(2)]).toEqual([])
  expect([...schedule.due(100)]).toEqual([3, 4])
  expect(schedule.done).toBe(true)
})

test('[B21] a server that stalls for half a second shows in the percentiles', () => {
  const stalled = (now: number) => (now >= 2000 && now < 2500 ? 2501 : now + 1)
  const { p50, p99, max } = simulated(stalled, () => 1)
  expect(p50).toBeLessThan(3)
  // The stall lasts half a second of five, so one action in ten waits, and these wait 250 ms on average.
  expect(p99).toBeGreaterThan(400)
  expect(max).toBeGreaterThan(495)
})

test('[B21] a generator that sends late shows in the percentiles too', () => {
  const { p99 } = simulated(
    (now) => now + 1,
    (now) => (now >= 2000 && now < 2500 ? 500 : 1),
  )
  expect(p99).toBeGreaterThan(400)
})

test('[B21] actions without an answer are counted', () => {
  const took = new Latencies(Float64Array.of(1, 2, 3))
  took.answered(1, 7)
  expect(took.missing).toBe(2)
  expect([...took.values]).toEqual([5])
})

/**
 * Simulates five seconds at 1,000 actions a second. `answers` gives the time of the answer to an action that is sent at
 * `now`; `nap` gives the time until the generator next looks at its schedule.
 */
function simulated(answers: (now: number) => number, nap: (now: number) => number) {
  const times = arrivals(1000, 5, 3)
  const schedule = new Schedule(times)
  const took = new Latencies(times)
  for (let now = 0; !schedule.done; now += nap(now))
    for (const index of schedule.due(now)) took.answered(index, answers(now))
  return spread(took.values)
}
