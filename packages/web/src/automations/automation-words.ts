import { phraseOf } from '@atrium/protocol/automation/phrases'
import type { AutomationEntry, AutomationTrigger } from '@atrium/protocol/automation/state'

/** The time zone of this browser. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone

const whenFormat = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

/** A moment in the time zone of this browser, like "Fri, Nov 20, 09:30". */
export function whenWords(moment: string): string {
  const at = Date.parse(moment)
  return Number.isNaN(at) ? moment : whenFormat.format(at)
}

/** What a trigger waits for. The zone is named if it is another than that of this browser. */
export function triggerWords(trigger: AutomationTrigger): string {
  if (trigger.kind === 'event')
    return `${trigger.title}: ${trigger.events.map(({ title }) => title.toLowerCase()).join(', ')}`
  const { expression, timeZone } = trigger.schedule
  return timeZone === ownZone ? phraseOf(expression) : `${phraseOf(expression)} (${timeZone})`
}

/** The next to run first, then those that wait for a person or an event, and the paused ones. */
export function byNextRun(entries: readonly AutomationEntry[]): readonly AutomationEntry[] {
  const rank = ({ definition, nextRunAt }: AutomationEntry) =>
    definition.enabled ? (nextRunAt ?? '9998') : '9999'
  return entries.toSorted(
    (a, b) =>
      rank(a).localeCompare(rank(b)) ||
      a.definition.title.localeCompare(b.definition.title) ||
      a.resource.localeCompare(b.resource),
  )
}
