import { expect, test } from 'vitest'
import { cronOf, phraseOf } from './phrases.ts'

test.each([
  ['weekdays 9:30', '30 9 * * 1-5'],
  ['Weekends at 10', '0 10 * * 0,6'],
  ['daily 18:00', '0 18 * * *'],
  ['every day 7:05', '5 7 * * *'],
  ['mon,thu 8:00', '0 8 * * 1,4'],
  ['mondays and fridays 8:00', '0 8 * * 1,5'],
  ['every sunday 23:59', '59 23 * * 0'],
  ['hourly', '0 * * * *'],
  ['every 15 minutes', '*/15 * * * *'],
  ['every minute', '* * * * *'],
  ['every 1 minutes', '* * * * *'],
  ['every 1 hour', '0 * * * *'],
  ['every 6 hours', '0 */6 * * *'],
  ['every 60 minutes', '0 * * * *'],
  ['0 9 1 JAN *', '0 9 1 JAN *'],
  ['every 7 minutes', undefined],
  ['every 0 hours', undefined],
  ['weekdays 24:00', undefined],
  ['noon', undefined],
])('[Z63.1] "%s" means %s', (phrase, expression) => {
  expect(cronOf(phrase)).toBe(expression)
})

test.each([
  ['30 9 * * 1-5', 'weekdays 9:30'],
  ['0 10 * * 0,6', 'weekends 10:00'],
  ['5 7 * * *', 'daily 7:05'],
  ['0 8 * * 1,4', 'mon, thu 8:00'],
  ['0 * * * *', 'hourly'],
  ['* * * * *', 'every minute'],
  ['*/15 * * * *', 'every 15 minutes'],
  ['0 */6 * * *', 'every 6 hours'],
  ['*/7 * * * *', '*/7 * * * *'],
  ['0 9 1 JAN *', '0 9 1 JAN *'],
  ['0 8 * * 1-3', '0 8 * * 1-3'],
  ['nonsense', 'nonsense'],
])('[U62.3] %s is said as %s', (expression, phrase) => {
  expect(phraseOf(expression)).toBe(phrase)
  if (phrase !== expression) expect(cronOf(phrase)).toBe(expression)
})
