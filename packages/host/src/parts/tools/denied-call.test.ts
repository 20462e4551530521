import type { ChatState } from '@atrium/protocol/chat/state'
import { versions } from '@atrium/protocol/versions/negotiate'
import { expect, test } from 'vitest'
import { session } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import type { Client } from '../../../test/test-host.ts'
import {
  confirmed,
  providedBy,
  ready,
  registersTools,
  running,
  toolCallStarted,
} from '../../../test/tool-call-actions.ts'
import { accepted, chat, chatOf, says, turn, twoClientSession } from '../../../test/two-client-session.ts'
import type { AnyAction } from '../../../test/two-client-session.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'

const denied: AnyAction = {
  type: 'chat/toolCallConfirmed',
  turnId: 't1',
  toolCallId: 'c1',
  approved: false,
  reason: 'denied',
}
const because: AnyAction = { ...denied, reasonMessage: { markdown: 'I have no tool `x`' } }
const notRun = 'The client that provides this tool did not run it'
const notWaiting = 'this tool call is not waiting for confirmation'

/** Ann is an active client, and a call of a tool that she provides is running. */
async function runningCall() {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
  await accepted(all.ann, session, registersTools('ann'))
  const run = await turn(all, 't1', toolCallStarted(providedBy('ann')), running)
  return { ...all, run }
}
const callIn = (state: ChatState) => {
  const [part] = (state.activeTurn ?? state.turns.at(-1))?.responseParts ?? []
  return part?.kind === 'toolCall' ? part.toolCall : undefined
}
const refusalOf = async (client: Client, action: AnyAction) =>
  (await client.echo(client.dispatch(chat, action))).rejectionReason

test.each([
  [denied, notRun, { error: { message: notRun } }],
  [because, { markdown: 'I have no tool `x`' }, { error: { message: 'I have no tool `x`' } }],
  [{ ...denied, reason: 'skipped', _meta: { own: 1 } }, notRun, { _meta: { own: 1 } }],
])(
  '[X7.3] customizations, Denying an Unrecognized Tool: %j of the provider fails its running call',
  async (action, pastTenseMessage, more) => {
    const all = await runningCall()
    const echo = await all.ann.echo(all.ann.dispatch(chat, action))
    expect(echo.rejectionReason).toBeUndefined()
    expect(echo.action.type).toBe('chat/toolCallComplete')
    const call = { status: 'completed', success: false, pastTenseMessage, ...more }
    expect(callIn(chatOf(all))).toMatchObject(call)
    // The turn goes on, and nobody waits for the call any more.
    all.run.end()
    await all.ben.until(() => all.ben.state(chat)['activeTurn'] === undefined)
    expect(all.ben.state(session)['inputNeeded'] ?? []).toEqual([])
    expect(callIn(all.ben.state(chat) as unknown as ChatState)).toMatchObject(call)
  },
)

test('[X7.3] the host refuses the denial of any other running call, and a running call cannot be approved', async () => {
  const all = await runningCall()
  expect(await refusalOf(all.ben, denied)).toBe(notWaiting)
  for (const more of [confirmed, { reason: 'result-denied' }, { selectedOptionId: 'deny' }])
    expect(await refusalOf(all.ann, { ...denied, ...more })).toBe(notWaiting)
  expect(await refusalOf(all.ann, { ...denied, turnId: 't0' })).toBe('no such turn is in progress')
  expect(await refusalOf(all.ann, { ...denied, toolCallId: 'c0' })).toBe('this turn has no such tool call')
  expect(callIn(chatOf(all))?.status).toBe('running')
  await accepted(all.ann, chat, denied)
  expect(await refusalOf(all.ann, denied)).toBe(notWaiting)
})

test('[X7.3] [X1.4] a call that asks is cancelled as before, also by its provider', async () => {
  const all = await runningCall()
  await says(all, all.run, ready())
  await accepted(all.ann, chat, denied)
  expect(callIn(chatOf(all))).toMatchObject({ status: 'cancelled', reason: 'denied' })
})

test('[X7.3] [L6] a denial that is sent again is recognized, and another action of that number is not', async () => {
  const all = await runningCall()
  const { lastSeen } = all.ann
  const seq = all.ann.dispatch(chat, because)
  await all.ann.echo(seq)
  for (const [again, reason] of [
    [because, /^already accepted as \d+$/],
    [denied, notWaiting],
  ] as const) {
    all.ann.peer.close()
    const back = all.link()
    back.clientId = 'ann'
    // The number of a snapshot is above the action, so that the replay does not answer the resend.
    const lastSeenServerSeq = all.core().log.committedSeq
    expect(lastSeenServerSeq).toBeGreaterThan(lastSeen)
    await back.ask('reconnect', { clientId: 'ann', lastSeenServerSeq, subscriptions: [chat] })
    back.dispatch(chat, again, seq)
    expect((await back.echo(seq)).rejectionReason).toMatch(reason)
    back.peer.close()
  }
})

test.each(versions)('[X7.3] a client of %s denies a running call of its own tool', async (version) => {
  const all = await twoClientSession()
  const old = new OlderClient(all, version, 'old')
  const named = version === '0.1.0' ? 'mock:/one' : session
  await old.open()
  await old.subscribe(named)
  await accepted(all.ann, session, registersTools('ann'))
  const entry = { clientId: 'old', tools: [{ name: 'x' }] }
  const one = { type: 'session/activeClientChanged', activeClient: entry }
  const several = { type: 'session/activeClientSet', activeClient: entry }
  const choose = old.dispatch(named, versions.indexOf(version) < versions.indexOf('0.5.0') ? one : several)
  expect((await old.echo(choose)).rejectionReason).toBeUndefined()
  await turn(all, 't1', toolCallStarted(providedBy('old')), running)
  const { type: _, ...members } = because
  const turns = old.merged ? named : chat
  if (!old.merged) await old.subscribe(chat)
  const seq = old.dispatch(turns, { ...members, type: old.turnType('toolCallConfirmed') })
  const echo = await old.echo(seq)
  expect([echo.rejectionReason, echo.action.type]).toEqual([undefined, old.turnType('toolCallComplete')])
  expect(callIn(chatOf(all))).toMatchObject({ status: 'completed', success: false })
})
