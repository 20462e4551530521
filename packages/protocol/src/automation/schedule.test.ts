import { describe, expect, test } from 'vitest'
import { trials } from '../../test/search.ts'
import { seeded } from '../../test/seeded.ts'
import { parseCron, shortestInterval } from './cron.ts'
import { dueAfter, dueInstants, parseSchedule } from './schedule.ts'
import type { Schedule } from './schedule.ts'

const losAngeles = 'America/Los_Angeles'

function scheduleOf(expression: string, timeZone = 'UTC'): Schedule {
  const read = parseSchedule({ expression, timeZone })
  if (!read.ok) throw new Error(read.problem)
  return read.value
}

const next = (expression: string, after: string, timeZone?: string) => {
  const found = dueAfter(scheduleOf(expression, timeZone), Date.parse(after))
  return found === undefined ? undefined : new Date(found).toISOString()
}

describe('[H41] [H41.1] a cron expression', () => {
  test.each([
    ['@daily', /five fields/],
    ['* * * *', /five fields/],
    ['0 0 * * * *', /five fields/],
    ['? * * * *', /minute "\?"/],
    ['60 * * * *', /minute "60"/],
    ['0 24 * * *', /hour "24"/],
    ['0 0 0 * *', /day of the month "0"/],
    ['0 0 L * *', /day of the month "L"/],
    ['0 0 15W * *', /day of the month "15W"/],
    ['0 0 * 13 *', /month "13"/],
    ['0 0 * JANUARY *', /month "JANUARY"/],
    ['0 0 * * MON#2', /weekday "MON#2"/],
    ['0 0 * * 8', /weekday "8"/],
    ['5/10 * * * *', /write 5-59\/10/],
    ['*/0 * * * *', /step/],
    ['*-5 * * * *', /minute/],
    ['10-5 * * * *', /ends before/],
    ['1,,2 * * * *', /minute ""/],
    ['-1 * * * *', /minute "-1"/],
    ['0 0 30 2 *', /never falls due/],
    ['0 0 31 4,6,9,11 *', /never falls due/],
  ])('%s is refused', (expression, problem) => {
    const read = parseCron(expression)
    expect(read.ok ? 'accepted' : read.problem).toMatch(problem)
  })

  test.each([
    ['*/15 * * * *', '2026-01-01T00:07:00Z', '2026-01-01T00:15:00.000Z'],
    // Either field of days is enough if neither is a star.
    ['0 0 15 * MON', '2026-10-12T00:00:00Z', '2026-10-15T00:00:00.000Z'],
    ['0 0 15 * MON', '2026-10-15T00:00:00Z', '2026-10-19T00:00:00.000Z'],
    ['0 0 * * 7', '2026-10-12T00:00:00Z', '2026-10-18T00:00:00.000Z'],
    ['0 0 * jan-mar sun', '2026-10-12T00:00:00Z', '2027-01-03T00:00:00.000Z'],
    ['0 0 29 FEB *', '2024-03-01T00:00:00Z', '2028-02-29T00:00:00.000Z'],
    ['0 0 29 FEB *', '2096-03-01T00:00:00Z', '2104-02-29T00:00:00.000Z'],
    ['10-20/5,3 1,2 * * *', '2026-01-01T01:15:00Z', '2026-01-01T01:20:00.000Z'],
  ])('%s after %s is due at %s', (expression, after, due) => {
    expect(next(expression, after)).toBe(due)
  })
})

describe('[H41.2] a time zone', () => {
  test.each(['Not/AZone', '', '+02:00', 'UTC+2', '../etc'])('%s is refused', (timeZone) => {
    const read = parseSchedule({ expression: '0 9 * * *', timeZone })
    expect(read.ok ? 'accepted' : read.problem).toMatch(/no time zone/)
  })

  test.each([
    ['30 9 * * 1-5', '2026-03-06T20:00:00Z', '2026-03-09T16:30:00.000Z'],
    ['30 9 * * 1-5', '2026-10-30T20:00:00Z', '2026-11-02T17:30:00.000Z'],
    // 2:30 does not exist on the 8th of March.
    ['30 2 * * *', '2026-03-08T09:59:00Z', '2026-03-09T09:30:00.000Z'],
    ['30 2 8 MAR *', '2026-03-01T00:00:00Z', '2027-03-08T10:30:00.000Z'],
    // 1:30 comes twice on the 1st of November.
    ['30 1 * * *', '2026-11-01T08:29:00Z', '2026-11-01T08:30:00.000Z'],
    ['30 1 * * *', '2026-11-01T08:31:00Z', '2026-11-01T09:30:00.000Z'],
    ['30 1 * * *', '2026-11-01T09:31:00Z', '2026-11-02T09:30:00.000Z'],
  ])('changes to and from summer time: %s after %s is due at %s', (expression, after, due) => {
    expect(next(expression, after, losAngeles)).toBe(due)
  })
})

test('[H41.3] the shortest interval of a schedule is known, also over midnight', () => {
  const of = (expression: string) => {
    const read = parseCron(expression)
    return read.ok ? shortestInterval(read.value) : read.problem
  }
  expect([of('* * * * *'), of('*/15 * * * *'), of('0 9 * * *'), of('55,5 23,0 * * *')]).toEqual([
    1, 15, 1440, 10,
  ])
})

/** The slow reference: asks the clock of the zone at every minute. */
function slowly(expression: string, timeZone: string, after: number, upTo: number): readonly number[] {
  const cron = parseCron(expression)
  if (!cron.ok) throw new Error(cron.problem)
  const clock = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  const found: number[] = []
  for (let at = Math.floor(after / 60_000 + 1) * 60_000; at <= upTo; at += 60_000) {
    const [day = 0, month = 0, year = 0, hour = 0, minute = 0] = (clock.format(at).match(/\d+/g) ?? []).map(
      Number,
    )
    const weekday = new Date(Date.UTC(year, month - 1, day)).getUTCDay()
    if (cron.value.times.includes(hour * 60 + minute) && cron.value.matches({ month, day, weekday }))
      found.push(at)
  }
  return found
}

/** Zones with changes by an hour, by half an hour, over midnight and by a whole day, and moments near these changes. */
const changes: readonly (readonly [zone: string, near: string])[] = [
  [losAngeles, '2026-03-08T10:00:00Z'],
  [losAngeles, '2026-11-01T09:00:00Z'],
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
  ['America/St_Johns', '2010-11-07T02:31:00Z'],
  ['Africa/Casablanca', '2026-02-15T02:00:00Z'],
  ['America/Sao_Paulo', '2018-02-18T02:00:00Z'],
  ['Asia/Kathmandu', '2026-06-01T00:00:00Z'],
]

test('[H41.4] the instants are those of a reference that looks at every minute', () => {
  for (let seed = 0; seed < trials(600, 30); seed++) {
    const random = seeded(seed)
    const whole = (below: number) => Math.floor(random() * below)
    const [zone, near] = changes[seed % changes.length] ?? ['UTC', '2026-01-01T00:00:00Z']
    const field = (least: number, most: number) => {
      const [a, b] = [least + whole(most - least + 1), least + whole(most - least + 1)]
      const [low, high] = [Math.min(a, b), Math.max(a, b)]
      return [
        '*',
        `*/${1 + whole(20)}`,
        `${low}`,
        `${low}-${high}`,
        `${low}-${high}/${1 + whole(7)}`,
        `${low},${high}`,
      ][whole(6)]
    }
    const days = whole(2) === 0 ? '* *' : `${field(1, 28)} ${field(1, 12)}`
    const expression = `${field(0, 59)} ${field(0, 5)} ${days} ${whole(2) === 0 ? '*' : field(0, 7)}`
    const after = Date.parse(near) - whole(36 * 60) * 60_000 - whole(60_000)
    const upTo = after + 48 * 3_600_000
    const found: number[] = []
    for (const instant of dueInstants(scheduleOf(expression, zone), after)) {
      if (instant > upTo) break
      found.push(instant)
    }
    expect(found, `seed ${seed}: ${expression} in ${zone}`).toEqual(slowly(expression, zone, after, upTo))
  }
})
