import { Activity, Flag } from '@atrium/protocol/status'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { expect, test } from 'vitest'
import { inboxGroups } from './inbox-groups.ts'

const at = '2026-01-01T00:00:00Z'
const session = (name: string, status: number, folder: string, files = 0): SessionSummary => ({
  resource: `ahp-session:/${name}`,
  provider: 'guide',
  title: name,
  status,
  createdAt: at,
  modifiedAt: at,
  workingDirectories: [`file:///srv/${folder}`],
  changes: { files },
})
const names = (all: readonly SessionSummary[]) =>
  inboxGroups(all).groups.map(({ project, entries }) => [project, ...entries.map(({ title }) => title)])

test('[U58] the inbox has questions first, then failed sessions, then unread ones with changes, by project', () => {
  expect(
    names([
      session('reviewed', Activity.Idle | Flag.IsRead, 'shop', 3),
      session('changed', Activity.Idle, 'shop', 3),
      session('talk', Activity.Idle, 'shop'),
      session('failed', Activity.Error, 'shop'),
      session('working', Activity.InProgress, 'shop', 2),
      session('asks', Activity.InputNeeded | Flag.IsRead, 'tools'),
      session('asks too', Activity.InputNeeded, 'shop'),
      session('archived', Activity.InputNeeded | Flag.IsArchived, 'shop'),
    ]),
  ).toEqual([
    ['tools', 'asks'],
    ['shop', 'asks too', 'failed', 'changed'],
  ])
})

test('[U58] the inbox shows twelve sessions, and counts the others', () => {
  const all = Array.from({ length: 15 }, (_, n) => session(`asks ${n}`, Activity.InputNeeded, 'shop'))
  expect(inboxGroups(all).groups[0]?.entries).toHaveLength(12)
  expect(inboxGroups(all).more).toBe(3)
})
