import type { Decoded } from '../schema.ts'

/** The times that a cron expression names: minutes of the day, and the days on which they count. */
export interface Cron {
  /** Minutes since midnight, ascending. */
  readonly times: readonly number[]
  /** Whether the times count on a day of the calendar. `weekday`: 0 is Sunday. */
  matches(day: CalendarDay): boolean
}

export interface CalendarDay {
  readonly month: number
  readonly day: number
  readonly weekday: number
}

interface Field {
  readonly name: string
  readonly least: number
  readonly most: number
  /** The names of the values from `least` on. */
  readonly names?: readonly string[]
}

const fields: readonly Field[] = [
  { name: 'minute', least: 0, most: 59 },
  { name: 'hour', least: 0, most: 23 },
  { name: 'day of the month', least: 1, most: 31 },
  {
    name: 'month',
    least: 1,
    most: 12,
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  { name: 'weekday', least: 0, most: 7, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
]

/** The days of each month in a leap year. */
const lengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/** Reads a cron expression of five fields. A field has values, ranges, lists of them, and steps of ranges. */
export function parseCron(expression: string): Decoded<Cron> {
  const texts = expression.trim().split(/\s+/)
  if (texts.length !== fields.length)
    return no(
      `${quoted(expression)} must have five fields: minute, hour, day of the month, month and weekday, as in "30 9 * * 1-5"`,
    )
  const sets: ReadonlySet<number>[] = []
  for (const [at, field] of fields.entries()) {
    const values = parseField(texts[at] ?? '', field)
    if (typeof values === 'string') return no(values)
    sets.push(values)
  }
  const [minutes = none, hours = none, days = none, months = none, weekdays = none] = sets
  const [anyDay, anyWeekday] = [texts[2] === '*', texts[4] === '*']
  if (anyWeekday && ![...months].some((month) => [...days].some((day) => day <= (lengths[month - 1] ?? 0))))
    return no(`${quoted(expression)} never falls due: no such month has such a day`)
  const times = ascending(hours).flatMap((hour) => ascending(minutes).map((minute) => hour * 60 + minute))
  const matches = ({ month, day, weekday }: CalendarDay) => {
    if (!months.has(month)) return false
    if (anyDay || anyWeekday) return days.has(day) && weekdays.has(weekday)
    // Two restricted fields of days widen one another.
    return days.has(day) || weekdays.has(weekday)
  }
  return { ok: true, value: { times, matches } }
}

/** The shortest time between two times on one day or on two days in a row, in minutes. */
export function shortestInterval({ times }: Cron): number {
  const [first = 0] = times
  const gaps = times.map((time, at) => (times[at + 1] ?? first + minutesOfDay) - time)
  return Math.min(...gaps)
}

const minutesOfDay = 24 * 60
const none: ReadonlySet<number> = new Set()

/** Returns the values of a field, or what is wrong with it. */
function parseField(text: string, field: Field): ReadonlySet<number> | string {
  const values = new Set<number>()
  for (const item of text.split(',')) {
    const range = /^(\*|[A-Za-z0-9]+)(?:-([A-Za-z0-9]+))?(?:\/(\d{1,4}))?$/.exec(item)
    const [, from = '', to, step] = range ?? []
    const isWhole = from === '*'
    const first = isWhole ? field.least : valueOf(from, field)
    const last = isWhole ? field.most : to === undefined ? first : valueOf(to, field)
    const wrong = !range || first === undefined || last === undefined || (isWhole && to !== undefined)
    if (wrong) return `the ${field.name} ${quoted(item)} is not from ${field.least} to ${field.most}`
    if (last < first) return `the ${field.name} ${quoted(item)} ends before it begins`
    if (step !== undefined && !isWhole && to === undefined)
      return `the ${field.name} ${quoted(item)} has a step but no range: write ${from}-${field.most}/${step}`
    if (step !== undefined && Number(step) < 1)
      return `the ${field.name} ${quoted(item)} has no step of 1 or more`
    for (let value = first; value <= last; value += Number(step ?? 1)) values.add(value)
  }
  // Weekday 7 is Sunday, too.
  return field.most === 7 && values.delete(7) ? values.add(0) : values
}

function valueOf(text: string, { least, most, names = [] }: Field): number | undefined {
  const named = names.indexOf(text.toUpperCase())
  if (named >= 0) return least + named
  const value = /^\d{1,2}$/.test(text) ? Number(text) : -1
  return value >= least && value <= most ? value : undefined
}

function ascending(values: ReadonlySet<number>): readonly number[] {
  return [...values].toSorted((a, b) => a - b)
}

function no(problem: string): { readonly ok: false; readonly problem: string } {
  return { ok: false, problem }
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 100))
}
