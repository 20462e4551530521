import { expect, test } from 'vitest'
import { untilIdle } from '../../../../test/held-flushes.ts'
import { call, ready, toolCallStarted } from '../../../../test/tool-call-actions.ts'
import { delta, part, says } from '../../../../test/two-client-session.ts'
import type { Value } from '../../../../test/versions/older-client.ts'
import {
  begins,
  does,
  ends,
  envelopesOf,
  expectInStep,
  isRefused,
  olderSession,
  turnOf,
} from '../../../../test/versions/older-session.ts'
import { TurnFailed } from '../../../ports/agent.ts'
import type { AgentAction } from '../../../ports/agent.ts'

const version = '0.1.0'
const reasoning = (id: string): AgentAction => ({
  type: 'chat/responsePart',
  part: { kind: 'reasoning', id, content: '' },
})
const thinks = (partId: string, content: string): AgentAction => ({ type: 'chat/reasoning', partId, content })

test('[R004-14 R004-17 R004-18 R004-19 R004-20 R004-26 R004-27 R004-40] a message of a client lets the agent work: parts, text, reasoning, usage and the end come from the host', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const usage = { inputTokens: 3, outputTokens: 5 }
  const run = await turnOf(all, 't1', reasoning('r'), thinks('r', 'Hm.'), part('p'), delta('p', 'Hello'), {
    type: 'chat/usage',
    usage,
  })
  const active = { id: 't1', userMessage: { text: 'go' }, usage }
  await ben.until(() => envelopesOf(ben, 'session/usage').length > 0)
  expect(ben.state(session)['activeTurn']).toMatchObject({
    ...active,
    responseParts: [
      { kind: 'reasoning', id: 'r', content: 'Hm.' },
      { kind: 'markdown', id: 'p', content: 'Hello' },
    ],
  })
  await ends(all, run)
  expect(ben.state(session)['turns']).toMatchObject([{ ...active, state: 'complete' }])
  expect(envelopesOf(ben, 'session/turnStarted')[0]).toMatchObject({
    action: { turnId: 't1', userMessage: { text: 'go' }, session },
    origin: { clientId: 'ann' },
  })
  const own = ['responsePart', 'delta', 'reasoning', 'usage', 'turnComplete']
  for (const name of own) {
    const sent = envelopesOf(ben, `session/${name}`)
    expect(sent.length).toBeGreaterThan(0)
    for (const { action, origin } of sent) {
      expect(action).toMatchObject({ turnId: 't1', session })
      expect(origin).toBeUndefined()
    }
  }
  await does(ann, session, begins(ann, 't2'))
  await all.agent.given(1)
  for (const action of [
    { type: 'session/responsePart', turnId: 't2', part: { kind: 'markdown', id: 'x', content: '' } },
    { type: 'session/delta', turnId: 't2', partId: 'x', content: 'x' },
    { type: 'session/reasoning', turnId: 't2', partId: 'x', content: 'x' },
    { type: 'session/usage', turnId: 't2', usage },
    { type: 'session/turnComplete', turnId: 't2' },
    { type: 'session/error', turnId: 't2', error: { errorType: 'x', message: 'x' } },
  ])
    expect(await isRefused(ann, session, action)).toMatch(/host/)
})

test('[R004-14 R004-21 R004-42] a client cancels the turn: the agent is stopped, and what it says later does not count', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const run = await turnOf(all, 't1', part('p'))
  const echo = await does(ben, session, { type: 'session/turnCancelled', turnId: 't1' })
  expect(echo).toMatchObject({ action: { turnId: 't1', session }, origin: { clientId: 'ben' } })
  expect(run.signal.aborted).toBe(true)
  run.say(delta('p', 'late'))
  run.end()
  await untilIdle()
  await ann.ask('ping', {})
  expect(ann.state(session)).toMatchObject({
    turns: [{ id: 't1', state: 'cancelled' }],
    summary: { status: 1 },
  })
  expect(ann.state(session)).not.toHaveProperty('activeTurn')
  expect(JSON.stringify(ann.state(session))).not.toContain('late')
  await expectInStep(all)
})

test('[R004-22] a failure of the agent is an `error` of the turn', async () => {
  const all = await olderSession(version)
  const { ann, session } = all
  const run = await turnOf(all, 't1', part('p'), delta('p', 'Half'))
  run.fail(new TurnFailed('overloaded', 'The model is busy.'))
  await ann.until(() => envelopesOf(ann, 'session/error').length > 0)
  const error = { errorType: 'overloaded', message: 'The model is busy.' }
  expect(envelopesOf(ann, 'session/error')[0]).toMatchObject({ action: { turnId: 't1', session, error } })
  expect(envelopesOf(ann, 'session/error')[0]).not.toHaveProperty('origin')
  expect(ann.state(session)).toMatchObject({
    turns: [{ id: 't1', state: 'error', error, responseParts: [{ kind: 'markdown', content: 'Half' }] }],
    summary: { status: 2 },
  })
  await expectInStep(all)
})

test.each([
  ['approves', { approved: true, confirmed: 'user-action' }, 'running'],
  ['denies', { approved: false, reason: 'denied' }, 'cancelled'],
] as const)('[R004-41] a client %s a call, which then runs or does not', async (_, decision, status) => {
  const all = await olderSession(version)
  const { ben, session } = all
  const run = await turnOf(all, 't1', toolCallStarted(), ready({ toolInput: 'ls' }))
  const callNow = () => (ben.state(session)['activeTurn'] as Value)['responseParts'] as readonly Value[]
  await ben.until(() => JSON.stringify(callNow()).includes('pending-confirmation'))
  await does(ben, session, { type: 'session/toolCallConfirmed', turnId: 't1', ...call, ...decision })
  expect(callNow()).toMatchObject([{ kind: 'toolCall', toolCall: { ...call, status, toolInput: 'ls' } }])
  expect(run.chat.state.activeTurn?.responseParts).toMatchObject([{ toolCall: { status } }])
  await says(all, run)
  await expectInStep(all)
})
