import type { AutomationDefinition, AutomationScheduleTrigger } from '@atrium/protocol/automation/state'
import { dueAfter, parseSchedule } from '@atrium/protocol/automation/schedule'
import type { Schedule } from '@atrium/protocol/automation/schedule'

/** Up to where the due instants of a trigger are evaluated, with the schedule that this is about. */
export interface Cursor {
  readonly expression: string
  readonly timeZone: string
  /** Milliseconds since 1970. */
  readonly upTo: number
}

export type Cursors = { readonly [trigger: string]: Cursor }

/** Schedules that were read already. Many automations have the same few. */
const read = new Map<string, Schedule | undefined>()
const mostRead = 1000

/** Returns the schedule of a trigger or cursor. Undefined if the rules of the platform do not know its zone any more. */
export function scheduleOf({
  expression,
  timeZone,
}: Pick<Cursor, 'expression' | 'timeZone'>): Schedule | undefined {
  const key = `${timeZone} ${expression}`
  if (read.has(key)) return read.get(key)
  if (read.size >= mostRead) read.clear()
  const parsed = parseSchedule({ expression, timeZone })
  const schedule = parsed.ok ? parsed.value : undefined
  read.set(key, schedule)
  return schedule
}

export function scheduleTriggers({ triggers }: Pick<AutomationDefinition, 'triggers'>) {
  return triggers.filter((each): each is AutomationScheduleTrigger => each.kind === 'schedule')
}

/** The cursors after a change of the triggers. A trigger whose schedule is unchanged keeps its cursor. */
export function cursorsFor(
  definition: Pick<AutomationDefinition, 'triggers'>,
  before: Cursors,
  now: number,
): Cursors {
  return Object.fromEntries(
    scheduleTriggers(definition).map(({ id, schedule: { expression, timeZone } }) => {
      const old = Object.hasOwn(before, id) ? before[id] : undefined
      const same = old?.expression === expression && old.timeZone === timeZone
      return [id, same ? old : { expression, timeZone, upTo: now }] as const
    }),
  )
}

/** The first due instant that is not evaluated yet. */
export function nextDue(cursors: Cursors): number | undefined {
  const due = Object.values(cursors).flatMap((cursor) => {
    const schedule = scheduleOf(cursor)
    return (schedule && dueAfter(schedule, cursor.upTo)) ?? []
  })
  return due.length > 0 ? Math.min(...due) : undefined
}
