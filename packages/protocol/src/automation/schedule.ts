import type { Decoded } from '../schema.ts'
import { parseCron } from './cron.ts'
import type { Cron } from './cron.ts'
import type { CronSchedule } from './state.ts'
import { zoneNamed } from './zone.ts'
import type { Zone } from './zone.ts'

/** The instants of a cron expression in a time zone. */
export interface Schedule {
  readonly cron: Cron
  readonly zone: Zone
}

const dayMs = 24 * 3_600_000

/** The days that are searched for the next instant. It is longer than the longest time without a 29th of February. */
const searchedDays = 366 * 9

/** Reads a schedule, or says what is wrong with it. */
export function parseSchedule({ expression, timeZone }: CronSchedule): Decoded<Schedule> {
  const cron = parseCron(expression)
  if (!cron.ok) return cron
  const zone = zoneNamed(timeZone)
  if (zone) return { ok: true, value: { cron: cron.value, zone } }
  const named = JSON.stringify(timeZone.slice(0, 100))
  return { ok: false, problem: `there is no time zone ${named}: use an IANA name, such as "Europe/Berlin"` }
}

/** Returns the first due instant after another instant. Undefined if none comes within years. */
export function dueAfter(schedule: Schedule, after: number): number | undefined {
  for (const instant of dueInstants(schedule, after)) return instant
  return undefined
}

/** The due instants after an instant, ascending. Ends when none comes for years. */
export function* dueInstants({ cron, zone }: Schedule, after: number): Generator<number, void> {
  // When clocks go back over midnight, instants of the day before come after those of a day.
  let day = Math.floor((after + zone.offset(after)) / dayMs) - 1
  let waiting: number[] = []
  for (let empty = 0; empty < searchedDays; day++) {
    const found = instantsOn(cron, zone, day).filter((instant) => instant > after)
    empty = found.length > 0 ? 0 : empty + 1
    if (found.length === 0 && waiting.length === 0) continue
    const all = waiting.length === 0 ? found : [...waiting, ...found].toSorted((a, b) => a - b)
    const until = beginOf(zone, day + 1)
    const at = all.findIndex((instant) => instant >= until)
    waiting = at < 0 ? [] : all.slice(at)
    yield* at < 0 ? all : all.slice(0, at)
  }
}

/** The instants on a local day, in ascending order. `day`: days since 1970. */
function instantsOn({ times, matches }: Cron, zone: Zone, day: number): readonly number[] {
  const midnight = day * dayMs
  const date = new Date(midnight)
  if (!matches({ month: date.getUTCMonth() + 1, day: date.getUTCDate(), weekday: date.getUTCDay() }))
    return []
  const [before, behind] = offsetsAround(zone, day)
  const local = times.map((minutes) => midnight + minutes * 60_000)
  if (before === behind) return local.map((time) => time - before)
  const change = changeAround(zone, day, before)
  // A local time exists with each offset that is in force at the instant: never, once or twice.
  return [
    ...local.map((time) => time - before).filter((instant) => instant < change),
    ...local.map((time) => time - behind).filter((instant) => instant >= change),
  ]
}

/** The first instant around a local day at which the clocks are not ahead of UTC as before. */
function changeAround(zone: Zone, day: number, before: number): number {
  let [low, high] = endsAround(day)
  while (high - low > 1000) {
    const middle = Math.floor((low + high) / 2000) * 1000
    if (zone.offset(middle) === before) low = middle
    else high = middle
  }
  return high
}

/** An instant that is not after the begin of a local day. */
function beginOf(zone: Zone, day: number): number {
  return day * dayMs - Math.max(...offsetsAround(zone, day))
}

/** The offsets before and after everything that can be on a local day, in any zone. */
function offsetsAround(zone: Zone, day: number): readonly [number, number] {
  const [first, last] = endsAround(day)
  return [zone.offset(first), zone.offset(last)]
}

/** Instants before and after all that can be on a local day, in any zone. */
function endsAround(day: number): readonly [number, number] {
  return [day * dayMs - 15 * 3_600_000, (day + 1) * dayMs + 13 * 3_600_000]
}
