import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { localTime } from './local-time.ts'

beforeEach(() => void vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(210))
afterEach(() => void vi.restoreAllMocks())

test('[Z2.6] a time is that of the local clock, and what is no time stays as it is', () => {
  const date = new Date(2026, 0, 31, 14, 5, 59)
  expect(localTime(date.toISOString())).toBe('2026-01-31 14:05:59')
  expect(localTime(date, { seconds: false })).toBe('2026-01-31 14:05')
  expect(localTime(date, { zone: true })).toBe('2026-01-31 14:05:59 -03:30')
  expect(localTime('soon\u001b')).toBe('soon\ufffd')
})
