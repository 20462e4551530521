import type { SessionSummary } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { filtered, groupsOf, matching } from './grouping.ts'

const now = Date.parse('2026-03-10T12:00:00Z')

const options = { now, answers: true, grouping: 'by time', pinned: new Set<string>() } as const

const session = (title: string, status: number, modifiedAt = '2026-03-10T11:00:00Z'): SessionSummary => ({
  resource: `ahp-session:/${title}`,
  provider: 'guide',
  title,
  status,
  createdAt: modifiedAt,
  modifiedAt,
  workingDirectories: ['file:///home/ann/my%20project'],
})

test('[U20] sessions that need a person come first, then those at work, then the others by time', () => {
  const all = [
    session('idle', 1),
    session('old', 1, '2026-01-01T00:00:00Z'),
    session('asks', 24),
    session('works', 8),
    session('failed', 2, '2026-03-07T00:00:00Z'),
    session('put away', 1 + 64),
  ]
  const groups = groupsOf(all, options).map(({ title, sessions }) => [
    title,
    ...sessions.map((each) => each.title),
  ])
  expect(groups).toEqual([
    ['Needs you', 'asks'],
    ['Working', 'works'],
    ['Today', 'idle'],
    ['This week', 'failed'],
    ['Earlier', 'old'],
    ['Archived', 'put away'],
  ])
})

test('[U20.2] sessions are grouped by project, those that wait and the pinned ones before them, and filtered', () => {
  const elsewhere = { workingDirectories: ['file:///home/ann/shop'] }
  const all = [
    { ...session('works', 8), ...elsewhere },
    session('idle', 1),
    { ...session('kept', 1), ...elsewhere },
    session('asks', 24),
    session('put away', 1 + 64),
    { ...session('read', 1 + 32), ...elsewhere },
  ]
  const pinned = new Set(['ahp-session:/kept', 'ahp-session:/asks'])
  const groups = groupsOf(all, { ...options, grouping: 'by project', pinned })
  expect(groups.map(({ title, sessions }) => [title, ...sessions.map((each) => each.title)])).toEqual([
    ['Needs you', 'asks'],
    ['Pinned', 'kept'],
    ['shop', 'works', 'read'],
    ['my project', 'idle'],
    ['Archived', 'put away'],
  ])
  const left = (filter: 'working' | 'unread') => filtered(all, filter).map(({ title }) => title)
  expect(left('working')).toEqual(['works'])
  expect(left('unread')).not.toContain('read')
})

test('[U37] a page that may not answer says that a session waits, and not that it needs this person', () => {
  const [first] = groupsOf([session('asks', 24)], { ...options, answers: false })
  expect(first).toMatchObject({ title: 'Waits for an answer', asks: true })
})

test.each([
  ['', 2],
  ['FIX', 1],
  ['my project', 2],
  ['fix guide project', 1],
  ['nothing', 0],
])('[U20] a search for %j finds %s sessions', (search, count) => {
  expect(matching([session('Fix the bug', 1), session('Other', 1)], search).length).toBe(count)
})
