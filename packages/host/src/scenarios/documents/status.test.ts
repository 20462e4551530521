import { Activity, Flag } from '@atrium/protocol/status'
import { expect, test } from 'vitest'
import { atEveryFlush, resubscribed } from '../../../test/crash.ts'
import { untilIdle, session, title } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { asks, completed, ready, toolCallStarted, unseen } from '../../../test/tool-call-actions.ts'
import {
  accepted,
  chat,
  chatOf,
  resume,
  says,
  sessionOf,
  started,
  twoClientSession,
  turn,
} from '../../../test/two-client-session.ts'
import type { TwoClientSession } from '../../../test/two-client-session.ts'
import { TurnFailed } from '../../ports/agent.ts'

const read = (isRead = true) => ({ type: 'session/isReadChanged', isRead })
const archived = (isArchived = true) => ({ type: 'session/isArchivedChanged', isArchived })
const isRead = (all: TwoClientSession) => (sessionOf(all).status & Flag.IsRead) !== 0

/** The status in the session list, as a new client gets it. */
async function listed(all: TwoClientSession): Promise<unknown> {
  await untilIdle()
  const { items } = await all.ben.ask('listSessions', {})
  return items[0]?.status
}

test('[H10.6] state model, Session Status Bitset: a session is unread again when a turn begins, is resumed, or shows a form', async () => {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
  await accepted(all.ben, session, read())
  expect(isRead(all)).toBe(true)
  const first = await turn(all, 't1')
  expect(isRead(all)).toBe(false)
  await accepted(all.ben, session, read())
  await says(all, first, asks)
  expect(isRead(all)).toBe(false)
  await accepted(all.ann, chat, completed('r1', { response: 'cancel' }))
  await accepted(all.ben, session, read())
  first.fail(new TurnFailed('x', 'Broken.', true))
  await until(() => chatOf(all).turns.length === 1)
  // The end of a turn is nothing to look at again.
  expect(isRead(all)).toBe(true)
  await accepted(all.ann, chat, resume('t1'))
  expect(isRead(all)).toBe(false)
  expect(all.ben.state(session)).toEqual(sessionOf(all))
})

test('[H10.6] F-01 state model, Session Status Bitset: after a crash at any flush, no session with a begun turn is read', async () => {
  const seen = new Set<string>()
  await atEveryFlush(
    async (ann) => {
      await ann.ask('createSession', { channel: session })
      await ann.ask('subscribe', { channel: chat })
      await ann.echo(ann.dispatch(session, read()))
      await ann.echo(ann.dispatch(chat, started('t1', 'say hello')))
    },
    (all) => chatOf(all)?.turns.length === 1,
    async (wreck) => {
      const state = await resubscribed(wreck)
      if (!state) return
      const begun = (state.activeTurn ?? state.turns[0]) !== undefined
      const status = sessionOf(wreck.all).status
      seen.add(`${begun ? 'begun' : 'idle'} ${(status & Flag.IsRead) === 0 ? 'unread' : 'read'}`)
    },
  )
  expect(seen).toEqual(new Set(['idle unread', 'idle read', 'begun unread']))
})

test('[H10.6] state model, Session Status Bitset: a session that is not read gets no action about it', async () => {
  const all = await twoClientSession()
  ;(await turn(all, 't1')).end()
  await until(() => chatOf(all).turns.length === 1)
  await all.ben.until(() => all.ben.lastSeen >= all.ann.lastSeen)
  expect(all.ben.envelopes.filter(({ action }) => action.type === 'session/isReadChanged')).toEqual([])
})

test('[P10] state model, Session Status Bitset: the flags combine with every activity: idle, read and archived is 97', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, title('Listed'))
  expect(await listed(all)).toBe(Activity.Idle)
  for (const action of [read(), archived()]) await accepted(all.ann, session, action)
  expect(await listed(all)).toBe(97)
  const run = await turn(all, 't1')
  expect(await listed(all)).toBe(Activity.InProgress | Flag.IsArchived)
  await accepted(all.ann, session, read())
  await says(all, run, toolCallStarted(), ready())
  expect(await listed(all)).toBe(Activity.InputNeeded | Flag.IsArchived | Flag.IsRead)
  run.fail(new Error('x'))
  await until(() => chatOf(all).turns.length === 1)
  expect(await listed(all)).toBe(Activity.Error | Flag.IsArchived | Flag.IsRead)
  for (const action of [read(false), archived(false)]) await accepted(all.ann, session, action)
  expect(await listed(all)).toBe(Activity.Error)
})

test('[H10] state model, Session Status Bitset: a call whose result waits for an approval needs the user', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, title('Listed'))
  const run = await turn(all, 't1', toolCallStarted(), ready())
  await accepted(all.ann, chat, {
    type: 'chat/toolCallConfirmed',
    turnId: 't1',
    toolCallId: 'c1',
    approved: true,
    confirmed: 'user-action',
  })
  expect(await listed(all)).toBe(Activity.InProgress)
  await says(all, run, unseen)
  expect(await listed(all)).toBe(Activity.InputNeeded)
  await accepted(all.ben, chat, {
    type: 'chat/toolCallResultConfirmed',
    turnId: 't1',
    toolCallId: 'c1',
    approved: false,
  })
  expect(await listed(all)).toBe(Activity.InProgress)
  expect(chatOf(all).activeTurn?.responseParts).toMatchObject([
    { toolCall: { status: 'cancelled', reason: 'result-denied' } },
  ])
})
