import { definitionFor } from '@atrium/protocol/automation/task'
import type { AutomationEntry, AutomationTrigger } from '@atrium/protocol/automation/state'
import { expect, test } from 'vitest'
import { byNextRun, triggerWords, whenWords } from './automation-words.ts'

const entry = (title: string, nextRunAt?: string, enabled = true): AutomationEntry => ({
  resource: `ahp-automation:/${title}`,
  definition: { ...definitionFor({ title, text: 'look' }), enabled },
  ...(nextRunAt !== undefined && { nextRunAt }),
  runs: [],
  operations: [],
  createdAt: '2026-01-01T00:00:00Z',
  modifiedAt: '2026-01-01T00:00:00Z',
})

test('[U62] those that are due next come first, then those that nothing is due of, then the paused ones', () => {
  const all = [
    entry('paused', undefined, false),
    entry('by hand'),
    entry('late', '2026-02-01'),
    entry('soon', '2026-01-02'),
  ]
  expect(byNextRun(all).map(({ definition }) => definition.title)).toEqual([
    'soon',
    'late',
    'by hand',
    'paused',
  ])
})

test('[U62] a trigger is said as a phrase, with its zone if that is another one, or as its events', () => {
  const schedule = (timeZone: string): AutomationTrigger => ({
    kind: 'schedule',
    id: 's',
    schedule: { expression: '30 9 * * 1-5', timeZone },
  })
  expect(triggerWords(schedule(Intl.DateTimeFormat().resolvedOptions().timeZone))).toBe('weekdays 9:30')
  expect(triggerWords(schedule('Asia/Kolkata'))).toBe('weekdays 9:30 (Asia/Kolkata)')
  const events = [{ id: 'error', title: 'Failed' }]
  expect(triggerWords({ kind: 'event', id: 'e', type: 'turnEnded', title: 'A turn ended', events })).toBe(
    'A turn ended: failed',
  )
  expect(whenWords('never')).toBe('never')
})
