import { expect, test } from 'vitest'
import { AuthFailures, failureLimits } from './auth-failures.ts'

function counting(limited = failureLimits) {
  let time = 0
  const failures = new AuthFailures(limited, () => time)
  const fail = (count: number, address = 'a') => {
    let last = failures.record(address)
    for (let i = 1; i < count; i++) last = failures.record(address)
    return last
  }
  return { failures, fail, pass: (ms: number) => void (time += ms) }
}

test('[S-57 failures] at 10: the client may try again', () => {
  const { fail } = counting()
  expect(fail(10)).toEqual({ waitMs: 0, limitReached: false })
})
test('[S-57 failures] past 10: the address must wait, one log line is due, and other addresses need not wait', () => {
  const { fail } = counting()
  expect(fail(11)).toEqual({ waitMs: 60_000, limitReached: true })
  expect(fail(1)).toEqual({ waitMs: 60_000, limitReached: false })
  expect(fail(10, 'b')).toEqual({ waitMs: 0, limitReached: false })
})

test('[S-57 failuresOfAll] at 100: a new address may try', () => {
  const { fail } = counting()
  for (let i = 0; i < 9; i++) fail(10, `one ${i}`)
  expect(fail(10, 'new')).toEqual({ waitMs: 0, limitReached: false })
})
test('[S-57 failuresOfAll] past 100: a new address must wait', () => {
  const { fail } = counting()
  for (let i = 0; i < 10; i++) fail(10, `one ${i}`)
  expect(fail(1, 'new')).toEqual({ waitMs: 60_000, limitReached: true })
})

test('[S-57 failureMs] at 60,000: a new window begins', () => {
  const { fail, pass } = counting()
  fail(10)
  pass(60_000)
  expect(fail(10).waitMs).toBe(0)
})
test('[S-57 failureMs] past 60,000: no new window begins before', () => {
  const { fail, pass } = counting()
  fail(10)
  pass(59_999)
  expect(fail(1).waitMs).toBe(60_000)
  // A client with ten failures per window never has to wait.
  const { fail: again, pass: later } = counting()
  for (let i = 0; i < 100; i++) {
    expect(again(10).waitMs).toBe(0)
    later(60_001)
  }
})

/** The waits of a client that fails again right after each wait. */
function waits(rounds: number): readonly number[] {
  const { fail, pass } = counting()
  return Array.from({ length: rounds }, () => {
    const { waitMs } = fail(11)
    pass(waitMs)
    return waitMs
  })
}
test('[G9.1] [S-57 failureWaitMs] at 3,600,000: the wait doubles up to it', () =>
  expect(waits(7)).toEqual([1, 2, 4, 8, 16, 32, 60].map((minutes) => minutes * 60_000)))
test('[G9.1] [S-57 failureWaitMs] past 3,600,000: the wait grows no further; after a quiet time it starts anew', () => {
  expect(waits(100).at(-1)).toBe(3_600_000)
  const { fail, pass } = counting()
  fail(11)
  pass(60_000 + 3_600_000)
  expect(fail(11).waitMs).toBe(60_000)
})

/**
 * Lets two addresses fail until both must wait. Then lets other addresses fail until `addresses` addresses are recorded.
 * Returns, for each of the first two, the wait after eleven more failures in a later window.
 */
function remembered(addresses: number) {
  const { failures, fail, pass } = counting({ ...failureLimits, total: Infinity })
  fail(11, 'first')
  fail(11, 'second')
  failures.record('first')
  for (let i = 2; i < addresses; i++) failures.record(`${i}`)
  const { size } = failures
  pass(60_000)
  return { size, first: fail(11, 'first').waitMs, second: fail(11, 'second').waitMs }
}
test('[S-57 failureAddresses] at 1,024: all are remembered', () =>
  expect(remembered(1024)).toEqual({ size: 1024, first: 120_000, second: 120_000 }))
test('[S-57 failureAddresses] past 1,024: the address with the oldest failure is forgotten', () =>
  expect(remembered(1025)).toEqual({ size: 1024, first: 120_000, second: 60_000 }))
