import type { ChatSummary } from '@atrium/protocol/chat/state'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { Activity } from '@atrium/protocol/status'
import { expect, test } from 'vitest'
import { untilIdle, root, session, title } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import { asks } from '../../../test/tool-call-actions.ts'
import {
  accepted,
  chat,
  chatOf,
  says,
  sessionOf,
  started,
  twoClientSession,
} from '../../../test/two-client-session.ts'
import type { TwoClientSession } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'
import { summarize } from '../../catalog/summary.ts'

const other = 'ahp-chat:/other'
const does = (activity: string): AgentAction => ({ type: 'chat/activityChanged', activity })

/** A listed session with a second chat. */
async function twoChats(): Promise<TwoClientSession> {
  const all = await twoClientSession()
  await accepted(all.ann, session, title('Listed'))
  await all.ann.ask('createChat', { channel: session, chat: other })
  return all
}

async function listed(all: TwoClientSession): Promise<SessionSummary | undefined> {
  await untilIdle()
  return (await all.ben.ask('listSessions', {})).items[0]
}

test('[H10.7] session channel, Chat aggregation: the activity is that of the chat that decides the status', async () => {
  const all = await twoChats()
  await accepted(all.ann, chat, started('t1'))
  const own = await all.agent.given(0)
  await says(all, own, does('Reading'))
  await accepted(all.ann, other, started('t2'))
  const second = await all.agent.given(1)
  await says(all, second, does('Writing'))
  expect(await listed(all)).toMatchObject({ status: Activity.InProgress, activity: 'Reading' })
  await says(all, second, asks)
  expect(await listed(all)).toMatchObject({ status: Activity.InputNeeded, activity: 'Writing' })
  second.fail(new Error('x'))
  await until(() => chatOf(all, other).turns.length === 1)
  // The chat that failed decides, and does nothing any more.
  const after = await listed(all)
  expect(after).toMatchObject({ status: Activity.Error })
  expect(after).not.toHaveProperty('activity')
  expect(all.ben.state(session)).toEqual(sessionOf(all))
})

test('[H10.7] session channel, Chat aggregation: the time of a change is the newest of all chats', async () => {
  const all = await twoChats()
  const at = (uri: string) => sessionOf(all).chats.find(({ resource }) => resource === uri)?.modifiedAt
  const times = new Set<unknown>()
  for (const [n, uri] of [chat, other, chat].entries()) {
    all.world.advance(60_000)
    const startedAt = new Date(all.world.now()).toISOString()
    await accepted(all.ann, uri, started(`t${n}`, 'go', { startedAt }))
    ;(await all.agent.given(n)).end()
    await until(() => chatOf(all, uri).activeTurn === undefined)
    const summary = await listed(all)
    expect(Date.parse(summary?.modifiedAt ?? '')).toBe(Date.parse(at(uri) ?? ''))
    times.add(summary?.modifiedAt)
  }
  expect(times.size).toBe(3)
})

test('[H10.8] session channel, Chat aggregation: the counts of changes are those of the chat with the most lines', async () => {
  const all = await twoChats()
  const [first, second] = sessionOf(all).chats as readonly [ChatSummary, ChatSummary]
  const changes = (...counts: readonly ChatSummary['changes'][]) =>
    summarize({
      ...sessionOf(all),
      chats: [first, second].map((entry, i) => ({ ...entry, ...(counts[i] && { changes: counts[i] }) })),
    }).changes
  expect(changes()).toBeUndefined()
  expect(changes({ files: 2 })).toEqual({ files: 2 })
  expect(changes({ additions: 1, files: 2 }, { additions: 4, deletions: 3 })).toEqual({
    additions: 4,
    deletions: 3,
  })
})

test('[H10] session channel, Chat catalog mutations: a change of a chat updates its entry in the same step, without its URI', async () => {
  const all = await twoChats()
  const watcher = await all.join('watcher', { subscribe: [root, session] })
  await accepted(all.ann, other, started('t1', 'Fix the door'))
  await watcher.until(() => watcher.envelopes.some(({ action }) => action.type === 'session/chatUpdated'))
  const updates = watcher.envelopes.flatMap(({ action }) =>
    action.type === 'session/chatUpdated' ? [action as { chat?: string; changes?: object }] : [],
  )
  expect(updates.map((update) => update.chat)).toEqual(updates.map(() => other))
  for (const { changes = {} } of updates) expect(Object.keys(changes)).not.toContain('resource')
  const { title: name, status } = Object.assign({}, ...updates.map(({ changes }) => changes)) as ChatSummary
  expect({ name, status }).toEqual({ name: 'Fix the door', status: Activity.InProgress })
  expect(watcher.state(session)).toEqual(sessionOf(all))
})
