/** The weekdays by the names that phrases may use, with the value that cron gives them. */
const weekdays: ReadonlyMap<string, string> = new Map(
  ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'].flatMap((name, at) =>
    [name, `${name}s`, name.slice(0, 3)].map((form) => [form, String(at)] as const),
  ),
)

const daySets: ReadonlyMap<string, string> = new Map([
  ['daily', '*'],
  ['every day', '*'],
  ['weekdays', '1-5'],
  ['weekends', '0,6'],
])

/** Some phrases, for people who ask what they can say. */
export const phraseExamples =
  '"weekdays 9:30", "daily 18:00", "mon,thu 8:00", "every 15 minutes", "hourly", or five cron fields'

/** Returns the five cron fields that a plain phrase means. Undefined if it is no such phrase. */
export function cronOf(phrase: string): string | undefined {
  const text = phrase.trim().toLowerCase().replace(/\s+/g, ' ')
  if (text === 'hourly') return '0 * * * *'
  const [, count = '1', unit] = /^every (?:(\d{1,2}) )?(minute|min|hour)s?$/.exec(text) ?? []
  if (unit !== undefined) return everyOf(Number(count), unit === 'hour' ? 24 : 60)
  const [, days = '', hour = '', minute = '0'] = /^(.+?)(?: at)? (\d{1,2})(?::(\d\d))?$/.exec(text) ?? []
  const named = daySets.get(days) ?? weekdaysOf(days.replace(/^every /, ''))
  if (named !== undefined && Number(hour) < 24 && Number(minute) < 60)
    return `${Number(minute)} ${Number(hour)} * * ${named}`
  return text.split(' ').length === 5 ? phrase.trim() : undefined
}

/** The plain phrase that means these five cron fields. If there is none, the fields themselves. */
export function phraseOf(expression: string): string {
  const [, minutes, hours] = /^(?:\*\/(\d+) \*|0 \*\/(\d+)) \* \* \*$/.exec(expression) ?? []
  const [, minute = '', hour = '', days = ''] = /^(\d+) (\d+) \* \* ([\d*,-]+)$/.exec(expression) ?? []
  const time = `${hour}:${minute.padStart(2, '0')}`
  const set = [...daySets].find(([, value]) => value === days)?.[0]
  const phrases = [
    'every minute',
    'hourly',
    `every ${minutes} minutes`,
    `every ${hours} hours`,
    `${set ?? ''} ${time}`,
    `${days.split(',').map(dayName).join(', ')} ${time}`,
  ]
  return phrases.find((phrase) => cronOf(phrase) === expression) ?? expression
}

function dayName(value: string): string {
  return [...weekdays].find(([name, each]) => each === value && name.length === 3)?.[0] ?? ''
}

/** Steps that do not divide an hour or a day would be uneven at its end, so they are no phrases. */
function everyOf(count: number, whole: number): string | undefined {
  if (count < 1 || whole % count !== 0) return undefined
  if (count === whole) return whole === 60 ? '0 * * * *' : '0 0 * * *'
  const step = count === 1 ? '*' : `*/${count}`
  return whole === 60 ? `${step} * * * *` : `0 ${step} * * *`
}

function weekdaysOf(text: string): string | undefined {
  const values = text.split(/, ?| and /).map((name) => weekdays.get(name))
  return values.includes(undefined) ? undefined : values.join(',')
}
