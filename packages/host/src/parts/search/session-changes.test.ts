import type { SessionSummary } from '@atrium/protocol/session/state'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import type { IndexChange } from '../../ports/search-index.ts'
import { PendingChanges } from './pending-changes.ts'
import { changesOf } from './session-changes.ts'

const summary: SessionSummary = {
  resource: 'ahp-session:/1',
  provider: 'mock',
  title: 'One',
  status: 1,
  createdAt: '2026-01-01T00:00:00Z',
  modifiedAt: '2026-01-01T00:00:00Z',
  workingDirectories: ['file:///trees/one', 'vscode-remote://host/work'],
  project: { uri: 'file:///work/app/', displayName: 'app' },
  chats: [
    { resource: 'ahp-chat:/a', title: 'A' },
    { resource: 'ahp-chat:/b', title: 'B', interactivity: 'hidden' },
    { resource: 'ahp-chat:/c', title: 'C', interactivity: 'read-only' },
  ],
}

/** The changes of a session that nobody has written in. */
async function changes({ version = 7, committedSeq = 7 }): Promise<readonly IndexChange[]> {
  const found: IndexChange[] = []
  // Only these members are used as long as no turn has changed.
  const source = {
    catalog: { get: () => summary, creatorOf: () => undefined },
    listChanges: { versionOf: () => version },
    log: { committedSeq },
    limits,
  } as unknown as Parameters<typeof changesOf>[0]
  for await (const change of changesOf(source, summary.resource, new PendingChanges())) found.push(change)
  return found
}

test('[Q21] [Q23] [Q23.1] a session is indexed with its folders, its project and its chats, except hidden ones', async () => {
  expect(await changes({})).toEqual([
    {
      session: 'ahp-session:/1',
      entry: {
        provider: 'mock',
        title: 'One',
        time: Date.parse('2026-01-01T00:00:00Z'),
        folders: ['/trees/one', 'vscode-remote://host/work', '/work/app'],
        chats: [
          { chat: 'ahp-chat:/a', title: 'A' },
          { chat: 'ahp-chat:/c', title: 'C' },
        ],
      },
      turns: [],
      kept: [],
      version: 7,
    },
  ])
})

test('[Q26] a version with changes that are not committed yet is not stored', async () => {
  expect((await changes({ version: 9, committedSeq: 8 }))[0]).not.toHaveProperty('version')
})
