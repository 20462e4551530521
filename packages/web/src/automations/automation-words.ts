import { phraseOf } from '@atrium/protocol/automation/phrases'
import type { AutomationTrigger } from '@atrium/protocol/automation/state'

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
