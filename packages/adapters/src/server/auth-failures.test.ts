import { expect, test } from 'vitest'
import { Failures, failureLimits } from './auth-failures.ts'

function counting(limited = failureLimits) {
  let time = 0
  const failures = new Failures(limited, () => time)
  const fail = (count: number, address = 'a') => {
    let last = failures.add(address)
    for (let i = 1; i < count; i++) last = failures.add(address)
    return last
  }
  return { failures, fail, pass: (ms: number) => void (time += ms) }
}

test('[S-57 failures] at 10: one may try again', () => {
  const { fail } = counting()
  expect(fail(10)).toEqual({ wait: 0, news: false })
})
test('[S-57 failures] past 10: it is told to wait, the log once, and another address is not', () => {
  const { fail } = counting()
  expect(fail(11)).toEqual({ wait: 60_000, news: true })
  expect(fail(1)).toEqual({ wait: 60_000, news: false })
  expect(fail(10, 'b')).toEqual({ wait: 0, news: false })
})

test('[S-57 failuresOfAll] at 100: an address that is new may try', () => {
  const { fail } = counting()
  for (let i = 0; i < 9; i++) fail(10, `one ${i}`)
  expect(fail(10, 'new')).toEqual({ wait: 0, news: false })
})
test('[S-57 failuresOfAll] past 100: it may not', () => {
  const { fail } = counting()
  for (let i = 0; i < 10; i++) fail(10, `one ${i}`)
  expect(fail(1, 'new')).toEqual({ wait: 60_000, news: true })
})

test('[S-57 failureMs] at 60,000: a new window begins', () => {
  const { fail, pass } = counting()
  fail(10)
  pass(60_000)
  expect(fail(10).wait).toBe(0)
})
test('[S-57 failureMs] past 60,000: and not before', () => {
  const { fail, pass } = counting()
  fail(10)
  pass(59_999)
  expect(fail(1).wait).toBe(60_000)
  // Slow ones are never told to wait.
  const { fail: again, pass: later } = counting()
  for (let i = 0; i < 100; i++) {
    expect(again(10).wait).toBe(0)
    later(60_001)
  }
})

/** How long it is told to wait, each time it goes on as soon as it may. */
function waits(rounds: number): readonly number[] {
  const { fail, pass } = counting()
  return Array.from({ length: rounds }, () => {
    const { wait } = fail(11)
    pass(wait)
    return wait
  })
}
test('[S-57 failureWaitMs] at 3,600,000: the time doubles up to that', () =>
  expect(waits(7)).toEqual([1, 2, 4, 8, 16, 32, 60].map((minutes) => minutes * 60_000)))
test('[S-57 failureWaitMs] past 3,600,000: and no further; who is quiet for as long begins anew', () => {
  expect(waits(100).at(-1)).toBe(3_600_000)
  const { fail, pass } = counting()
  fail(11)
  pass(60_000 + 3_600_000)
  expect(fail(11).wait).toBe(60_000)
})

/** Two are told to wait, then others fail until so many addresses are known. What two more rounds tell them. */
function remembered(addresses: number) {
  const { failures, fail, pass } = counting({ ...failureLimits, all: Infinity })
  fail(11, 'first')
  fail(11, 'second')
  failures.add('first')
  for (let i = 2; i < addresses; i++) failures.add(`${i}`)
  const { size } = failures
  pass(60_000)
  return { size, first: fail(11, 'first').wait, second: fail(11, 'second').wait }
}
test('[S-57 failureAddresses] at 1,024: all are remembered', () =>
  expect(remembered(1024)).toEqual({ size: 1024, first: 120_000, second: 120_000 }))
test('[S-57 failureAddresses] past 1,024: the one silent longest is forgotten', () =>
  expect(remembered(1025)).toEqual({ size: 1024, first: 120_000, second: 60_000 }))
