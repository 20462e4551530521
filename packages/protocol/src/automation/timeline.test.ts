import { expect, test } from 'vitest'
import type { AutomationRunSummary } from './state.ts'
import { missedWords, missesOf, originWords, timelineOf } from './timeline.ts'
import type { MissedRuns } from './timeline.ts'

const run = (createdAt: string, scheduledFor?: string): AutomationRunSummary => ({
  resource: `ahp-automation-run:/${createdAt}`,
  automation: 'ahp-automation:/one',
  origin: { kind: 'trigger', triggerId: 't', ...(scheduledFor !== undefined && { scheduledFor }) },
  lifecycle: { status: 'pending', createdAt },
  sessionCount: 0,
})
const missed: MissedRuns = { triggerId: 't', because: 'host away', from: '02', to: '03', count: 2 }

test('[Z63.2] runs and missed ones are in the order of the times at which they were due', () => {
  const all = timelineOf([run('05', '01'), run('04')], [missed])
  expect(all.map(({ at }) => at)).toEqual(['01', '02', '04'])
})

test('[Z63.2] [U62.1] the reasons are said in words; one of a newer host as it is', () => {
  expect(missedWords('host away')).toBe('the host was not running')
  expect(missedWords('strike')).toBe('strike')
  expect(originWords({ origin: { kind: 'manual' } })).toBe('by hand')
  expect(originWords(run('05'))).toBe('by an event')
  expect(
    originWords({ origin: { kind: 'trigger', triggerId: 't', scheduledFor: '01', catchUp: true } }),
  ).toBe('by schedule, late')
})

test('[U62] the number of missed runs is read off an entry, if the host tells it', () => {
  expect(missesOf({ _meta: { 'x-atrium': { missed: { total: 2, newest: { ...missed } } } } })).toEqual({
    total: 2,
    newest: missed,
  })
  expect(missesOf({ _meta: { 'x-atrium': { missed: 3 } } })).toBeUndefined()
  expect(missesOf({})).toBeUndefined()
})
