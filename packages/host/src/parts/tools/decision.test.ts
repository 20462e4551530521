import { callIn } from '@atrium/protocol/chat/calls'
import type { ChatState } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { desk, callsIn, ended, enter, pending, say, approve as approves } from '../../../test/approvals.ts'
import * as guideDesk from '../../../test/approvals.ts'
import { session } from '../../../test/held-flushes.ts'
import type { TestHost } from '../../../test/test-host.ts'
import {
  confirmed,
  ready,
  result,
  resultConfirmed,
  running,
  toolCallStarted,
  unseen,
} from '../../../test/tool-call-actions.ts'
import { accepted, chat, chatOf, says, turn, twoClientSession } from '../../../test/two-client-session.ts'
import type { AnyAction } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'
import { choices } from '../access/choices.ts'
import { decisionOf } from '../access/decision.ts'

const editor = { name: 'editor', title: 'An Editor', version: '7' }
const at = '2026-01-01T00:00:00.000Z'
const byEditor = { approved: true, principal: 'owner', clientId: 'ed', client: editor, at }
const denied: AnyAction = {
  type: 'chat/toolCallConfirmed',
  turnId: 't1',
  toolCallId: 'c1',
  approved: false,
  reason: 'denied',
}

/** A client that gives its name and is subscribed to the chat. */
async function named(all: TestHost, version = '1.0.0', uri = chat) {
  const client = all.link()
  client.clientId = 'ed'
  await client.ask('initialize', {
    protocolVersions: [version],
    clientId: 'ed',
    clientInfo: { ...editor, more: 1 } as never,
    initialSubscriptions: [uri],
  })
  return client
}

const callOf = (state: unknown) => callIn(state as ChatState, 'c1')
const metaOf = (state: unknown) => callOf(state)?._meta?.['x-atrium'] as Record<string, unknown> | undefined

test('[X8.1] [X8] an approval and a denial name the client and its principal, for every client and after a restart', async () => {
  for (const answer of [confirmed, denied]) {
    const all = await twoClientSession()
    const ed = await named(all)
    const run = await turn(all, 't1', toolCallStarted())
    await says(all, run, ready({ _meta: { own: 1 } }))
    const { lastSeen } = all.ben
    await accepted(ed, chat, answer)
    const decidedBy = { ...byEditor, approved: answer === confirmed }
    const expected = { own: 1, 'x-atrium': { decidedBy } }
    // A live client, one that comes now, one that replays, and the host after a crash.
    await all.ben.until(() => callOf(all.ben.state(chat))?.status !== 'pending-confirmation')
    expect(callOf(all.ben.state(chat))?._meta).toEqual(expected)
    const fresh = await all.join('fresh', { subscribe: [chat] })
    expect(callOf(fresh.state(chat))?._meta).toEqual(expected)
    all.ben.peer.close()
    const back = all.link()
    const replayed = await back.ask('reconnect', {
      clientId: 'ben',
      lastSeenServerSeq: lastSeen,
      subscriptions: [chat, session],
    })
    expect(replayed).toMatchObject({ type: 'replay' })
    expect(back.envelopes.find(({ action }) => action.type === answer.type)?.action).toMatchObject({
      _meta: expected,
    })
    await all.core().log.settled()
    await all.restart('crash')
    const after = await all.join('after', { subscribe: [chat] })
    const state = after.state(chat) as unknown as ChatState
    const calls = callsIn(state.activeTurn ?? state.turns.at(-1))
    expect(calls[0]?._meta).toEqual(expected)
  }
})

test('[X8.1] [X8.2] [X8] a client without a name is named by its id, and a result has a decision of its own', async () => {
  const all = await twoClientSession()
  const ed = await named(all)
  const run = await turn(all, 't1', toolCallStarted())
  await says(all, run, ready())
  await accepted(all.ben, chat, confirmed)
  await says(all, run, unseen)
  await accepted(ed, chat, resultConfirmed)
  expect(metaOf(chatOf(all))).toEqual({
    decidedBy: { approved: true, principal: 'owner', clientId: 'ben', at },
    resultDecidedBy: byEditor,
  })
})

test('[X8.4] [X8] no client can write a decision: not in an answer, not in a result', async () => {
  const all = await twoClientSession()
  const forged = {
    'x-atrium': { decidedBy: { approved: true, principal: 'root', clientId: 'boss' }, resultDecidedBy: 1 },
  }
  const run = await turn(all, 't1', toolCallStarted())
  await says(all, run, ready())
  await accepted(all.ann, chat, { ...confirmed, _meta: { ...forged, own: 1 } })
  const byAnn = { approved: true, principal: 'owner', clientId: 'ann', at }
  expect(callOf(chatOf(all))?._meta).toEqual({ own: 1, 'x-atrium': { decidedBy: byAnn } })
  await says(all, run, unseen)
  await accepted(all.ben, chat, { ...resultConfirmed, _meta: forged })
  expect(callOf(chatOf(all))?._meta).toEqual({
    'x-atrium': {
      decidedBy: byAnn,
      resultDecidedBy: { approved: true, principal: 'owner', clientId: 'ben', at },
    },
  })
})

test('[X8.4] [X8] no agent can write or remove a decision, and its own data stays', async () => {
  const all = await twoClientSession()
  const forged = {
    'x-atrium': { step: 2, decidedBy: { approved: true, principal: 'root', clientId: 'boss' } },
  }
  const run = await turn(all, 't1', { ...toolCallStarted(), _meta: forged } as AgentAction)
  expect(metaOf(chatOf(all))).toEqual({ step: 2 })
  await says(all, run, ready({ _meta: forged }))
  expect(metaOf(chatOf(all))).toEqual({ step: 2 })
  await accepted(all.ann, chat, confirmed)
  const decidedBy = { approved: true, principal: 'owner', clientId: 'ann', at }
  expect(metaOf(chatOf(all))).toEqual({ step: 2, decidedBy })
  const complete = { type: 'chat/toolCallComplete', toolCallId: 'c1', ...result(true) }
  await says(all, run, { ...complete, _meta: { 'x-atrium': { step: 3, decidedBy: 1 } } } as AgentAction)
  expect(metaOf(chatOf(all))).toEqual({ step: 3, decidedBy })
})

test('[X8.4] [X8] a call that asks again, or that no longer asks, has no decision', async () => {
  for (const next of [ready(), ready({ _meta: { own: 1 } }), running]) {
    const all = await twoClientSession()
    const run = await turn(all, 't1', toolCallStarted(), ready())
    await accepted(all.ann, chat, confirmed)
    expect(metaOf(chatOf(all))).toHaveProperty('decidedBy')
    await says(all, run, next)
    expect(metaOf(chatOf(all))).toBeUndefined()
  }
})

test('[X8.3] [X8] a call that a permission allowed names the permission, of the session or of the folder', async () => {
  for (const [choice, scope] of [
    [choices.session, {}],
    [choices.folder, { folder: 'file:///w' }],
  ] as const) {
    const { ann } = await desk()
    await ended(ann, await approves(ann, 'read a.txt', choice))
    const [free] = callsIn(await ended(ann, await say(ann, 'read a.txt')))
    expect(free).toMatchObject({ status: 'completed', confirmed: 'setting' })
    expect(free && decisionOf(free, 'decidedBy')).toEqual({
      permission: { id: expect.any(String), tool: 'read', by: 'ann', since: expect.any(String), ...scope },
    })
  }
})

test('[X8] a 0.9 client sees who decided, and its own answer names it', async () => {
  const { all, ann } = await desk()
  const old = await named(all, '0.9.0', guideDesk.chat)
  const turnId = await say(ann, 'read a.txt')
  const { toolCallId } = await pending(ann)
  const answer = { ...confirmed, turnId, toolCallId, _meta: { 'x-atrium': { decidedBy: 'me' } } }
  expect((await old.echo(old.dispatch(guideDesk.chat, answer))).rejectionReason).toBeUndefined()
  const [call] = callsIn(await ended(ann, turnId))
  expect(call && decisionOf(call, 'decidedBy')).toEqual(byEditor)
  const echoed = old.envelopes.find(({ action }) => action.type === 'chat/toolCallConfirmed')?.action
  expect(echoed).toMatchObject({ _meta: { 'x-atrium': { decidedBy: byEditor } } })
  const other = await enter(all, 'other', [guideDesk.chat])
  expect(callsIn(guideDesk.state(other).turns.at(-1))[0]).toEqual(call)
})

test('[L6] an answer to which the host added its only metadata is recognized when it is sent again', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1', toolCallStarted())
  await says(all, run, ready())
  const { lastSeen } = all.ben
  const seq = all.ben.dispatch(chat, confirmed)
  await all.ben.echo(seq)
  all.ben.peer.close()
  const back = all.link()
  back.clientId = 'ben'
  await back.ask('reconnect', { clientId: 'ben', lastSeenServerSeq: lastSeen, subscriptions: [chat] })
  const before = back.envelopes.length
  back.dispatch(chat, confirmed, seq)
  await back.echo(back.dispatch(chat, { type: 'chat/isReadChanged', isRead: true }, seq + 1))
  expect(back.envelopes.slice(before).filter(({ rejectionReason }) => rejectionReason !== undefined)).toEqual(
    [],
  )
})
