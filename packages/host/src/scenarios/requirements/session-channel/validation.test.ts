import { expect, test } from 'vitest'
import { call, confirmed, toolCallStarted } from '../../../../test/tool-call-actions.ts'
import type { OlderClient } from '../../../../test/versions/older-client.ts'
import { SignInRequired } from '../../../ports/agent.ts'
import {
  begins,
  caughtUp,
  does,
  ends,
  envelopesOf,
  isRefused,
  olderSession,
  summaryOf,
  turnOf,
} from '../../../../test/versions/older-session.ts'

const version = '0.4.0'

test('[R003-52 R003-53] an action is checked before it is applied, and comes back with a reason if it is invalid', async () => {
  const { ann, ben, session } = await olderSession(version)
  const before = ann.state(session)
  const foreign = { clientId: 'ben', tools: [] }
  const wrong = [
    { type: 'session/activeClientChanged', activeClient: foreign },
    { type: 'session/titleChanged', title: 5 },
    { type: 'session/ready' },
    { type: 'session/nothing' },
  ]
  for (const action of wrong) {
    const seq = ann.dispatch(session, action)
    const echo = await ann.echo(seq)
    expect(echo).toMatchObject({
      channel: session,
      action: { type: action.type },
      origin: { clientId: 'ann', clientSeq: seq },
      rejectionReason: expect.stringMatching(/\w/),
    })
  }
  expect(ann.state(session)).toEqual(before)
  await caughtUp(ben)
  expect(ben.envelopes.filter(({ rejectionReason }) => rejectionReason !== undefined)).toEqual([])
})

test('[R003-54] an action for a session that does not exist gets no answer', async () => {
  const { ann, ben, session } = await olderSession(version)
  const lost = ann.dispatch('ahp-session:/none', { type: 'session/titleChanged', title: 'x' })
  await does(ann, session, { type: 'session/titleChanged', title: 'next' })
  await caughtUp(ann)
  await caughtUp(ben)
  for (const client of [ann, ben]) {
    const seqs = client.envelopes.map(({ origin }) => origin?.clientSeq)
    expect(seqs.filter((seq) => seq === lost)).toEqual([])
    expect(client.envelopes.filter(({ channel }) => channel === 'ahp-session:/none')).toEqual([])
  }
})

test.each([
  ['[R003-48 R003-55] a change of the model', 'model', { id: 'deep' }],
  ['[R003-56] a change of the agent', 'agent', { uri: 'agent:/reviewer' }],
] as const)(
  '%s waits while a turn is active in any chat, and then holds for the next turns',
  async (_, key, choice) => {
    const all = await olderSession(version)
    const { ann, ben, session, turns } = all
    const other = 'ahp-chat:/two'
    await ann.ask('createChat', { chat: other }, session)
    for (const client of [ann, ben]) await client.subscribe(other)
    await does(ann, other, begins(ann, 't1'))
    const run = await all.agent.given(0)
    const seq = ben.dispatch(session, { type: `session/${key}Changed`, [key]: choice })
    await does(ben, session, { type: 'session/titleChanged', title: 'later' })
    expect(envelopesOf(ben, `session/${key}Changed`)).toEqual([])
    expect(summaryOf(ben, session)).not.toHaveProperty(key)
    await ends({ ...all, turns: other }, run)
    const echo = await ben.echo(seq)
    expect(echo).toMatchObject({ channel: session, action: { [key]: choice }, origin: { clientId: 'ben' } })
    expect(echo.rejectionReason).toBeUndefined()
    await ann.until(() => summaryOf(ann, session)[key] !== undefined)
    expect(summaryOf(ann, session)[key]).toEqual(choice)
    await does(ann, turns, begins(ann, 't2'))
    expect((await all.agent.given(1)).chat.state.activeTurn?.message[key]).toEqual(choice)
  },
)

test('[R003-58] turns, calls, requests and waiting messages are checked by the rules of the chat', async () => {
  const all = await olderSession(version)
  const { ann, ben, turns } = all
  const message = { text: 'x', origin: { kind: 'user' } }
  const answer = { state: 'submitted', value: { kind: 'text', value: 'x' } }
  await turnOf(all, 't1', toolCallStarted())
  const wrong = [
    begins(ann, 't2'),
    { type: 'chat/turnCancelled', turnId: 'none' },
    confirmed,
    {
      type: 'chat/toolCallComplete',
      turnId: 't1',
      ...call,
      result: { success: true, pastTenseMessage: 'x' },
    },
    { type: 'chat/inputAnswerChanged', requestId: 'none', questionId: 'q', answer },
    { type: 'chat/pendingMessageRemoved', kind: 'queued', id: 'none' },
    { type: 'chat/delta', turnId: 't1', partId: 'p', content: 'x' },
    {
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: 'q',
      message: { ...message, origin: { kind: 'agent' } },
    },
  ]
  for (const action of wrong) await isRefused(ben, turns, action)
  await does(ben, turns, { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message })
  await does(ann, turns, { type: 'chat/turnCancelled', turnId: 't1' })
})

test('[R003-51] `auth/required` names the session, or the chat, whose agent needs a sign-in', async () => {
  const door = { resource: 'https://api.example', resource_name: 'Example' }
  const all = await olderSession(version)
  const { ann, ben, session, turns } = all
  ben.unsubscribe(session)
  await does(ann, turns, begins(ann, 't1'))
  ;(await all.agent.given(0)).fail(new SignInRequired('Sign in first.', [door]))
  const asked = (client: OlderClient) => client.notes.filter(({ method }) => method === 'auth/required')
  for (const [client, channel] of [
    [ann, session],
    [ben, turns],
  ] as const) {
    await client.until(() => asked(client).length > 0)
    expect(asked(client)).toEqual([
      { method: 'auth/required', params: { channel, resource: door.resource, reason: 'required' } },
    ])
  }
  expect(ann.state(turns)['turns']).toMatchObject([{ state: 'error', error: { errorType: 'auth-required' } }])
})
