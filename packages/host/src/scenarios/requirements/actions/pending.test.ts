import { expect, test } from 'vitest'
import type { OlderClient, Value } from '../../../../test/versions/older-client.ts'
import {
  does,
  ends,
  envelopesOf,
  expectInStep,
  isRefused,
  olderSession,
  turnOf,
} from '../../../../test/versions/older-session.ts'

const version = '0.1.0'
const set = (kind: 'steering' | 'queued', id: string, text = id) => ({
  type: 'session/pendingMessageSet',
  kind,
  id,
  userMessage: { text },
})
const removed = (kind: 'steering' | 'queued', id: string) => ({
  type: 'session/pendingMessageRemoved',
  kind,
  id,
})
const queueOf = (client: OlderClient, session: string) =>
  ((client.state(session)['queuedMessages'] ?? []) as readonly Value[]).map(({ id }) => id)

test('[R000-143 R000-144 R000-154 R001-28 R001-29 R004-31 R004-32 R004-34 R004-46] a client sets, replaces and takes back messages of both kinds', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  await turnOf(all, 't1')
  const echo = await does(ann, session, set('queued', 'q1'))
  expect(echo.action).toEqual({ ...set('queued', 'q1'), session })
  await does(ann, session, set('queued', 'q1', 'better'))
  await does(ben, session, set('steering', 's1'))
  await ann.until(() => ann.state(session)['steeringMessage'] !== undefined)
  expect(ann.state(session)).toMatchObject({
    queuedMessages: [{ id: 'q1', userMessage: { text: 'better' } }],
    steeringMessage: { id: 's1', userMessage: { text: 's1' } },
  })
  await does(ann, session, removed('queued', 'q1'))
  await does(ann, session, removed('steering', 's1'))
  expect(ann.state(session)).not.toHaveProperty('queuedMessages')
  expect(ann.state(session)['steeringMessage']).toBeUndefined()
  await isRefused(ann, session, removed('queued', 'q1'))
  await expectInStep(all)
})

test('[R000-145 R000-147 R000-152 R000-153 R004-32 R004-45] a queued message begins a turn if the session is idle, and the host removes it', async () => {
  const all = await olderSession(version)
  const { ann, ben, session, agent } = all
  await does(ann, session, set('queued', 'q1', 'Do it'))
  const run = await agent.given(0)
  expect(run.chat.state.activeTurn?.message.text).toBe('Do it')
  await ben.until(() => ben.state(session)['activeTurn'] !== undefined)
  const [started] = envelopesOf(ben, 'session/turnStarted')
  expect(started?.action).toMatchObject({ userMessage: { text: 'Do it' }, queuedMessageId: 'q1', session })
  expect(started).not.toHaveProperty('origin')
  expect(queueOf(ben, session)).toEqual([])
  await does(ann, session, set('steering', 's1'))
  run.say({ type: 'chat/pendingMessageRemoved', kind: 'steering', id: 's1' })
  await ben.until(() => envelopesOf(ben, 'session/pendingMessageRemoved').length > 1)
  const used = envelopesOf(ben, 'session/pendingMessageRemoved')
  expect(used.map(({ action }) => action)).toEqual([
    { ...removed('queued', 'q1'), session },
    { ...removed('steering', 's1'), session },
  ])
  for (const { origin } of used) expect(origin).toBeUndefined()
  await ends(all, run)
  await expectInStep(all)
})

test('[R004-33 R004-47] a client puts the queue in order: unknown ids do not count, and messages that it does not name come last', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  await turnOf(all, 't1')
  for (const id of ['a', 'b', 'c', 'd']) await does(ann, session, set('queued', id))
  const echo = await does(ben, session, {
    type: 'session/queuedMessagesReordered',
    order: ['d', 'none', 'b'],
  })
  expect(echo.action).toEqual({
    type: 'session/queuedMessagesReordered',
    order: ['d', 'none', 'b'],
    session,
  })
  await ann.until(() => queueOf(ann, session)[0] === 'd')
  for (const client of [ann, ben]) expect(queueOf(client, session)).toEqual(['d', 'b', 'a', 'c'])
  await expectInStep(all)
})

test('[R000-146 R000-148] there is one steering message, a new one replaces it; in an idle session it waits for a turn', async () => {
  const all = await olderSession(version)
  const { ann, ben, session, agent } = all
  for (const id of ['s1', 's2']) await does(ann, session, set('steering', id))
  await ben.until(() => (ben.state(session)['steeringMessage'] as Value)['id'] === 's2')
  expect(ben.state(session)['steeringMessage']).toEqual({ id: 's2', userMessage: { text: 's2' } })
  expect([ben.state(session)['activeTurn'], agent.runs]).toEqual([undefined, []])
  const run = await turnOf(all, 't1')
  expect(run.chat.state.steeringMessage?.message.text).toBe('s2')
  expect(ben.state(session)['steeringMessage']).toMatchObject({ id: 's2' })
  await expectInStep(all)
})

test('[R000-149 R000-151 R001-29] when a turn completes, the host removes the first queued message and begins a turn with it', async () => {
  const all = await olderSession(version)
  const { ann, ben, session, agent } = all
  const first = await turnOf(all, 't1')
  for (const id of ['a', 'b']) await does(ann, session, set('queued', id))
  first.end()
  for (const [n, id] of ['a', 'b'].entries()) {
    const run = await agent.given(n + 1)
    await ben.until(() => envelopesOf(ben, 'session/turnStarted').length === n + 2)
    expect(envelopesOf(ben, 'session/turnStarted').at(-1)?.action).toMatchObject({
      queuedMessageId: id,
      userMessage: { text: id },
    })
    expect(queueOf(ben, session)).toEqual(n === 0 ? ['b'] : [])
    run.end()
  }
  await ben.until(() => (ben.state(session)['turns'] as readonly Value[]).length === 3)
  const types = ben.envelopes.map(({ action }) => String(action.type).replace('session/', ''))
  const ending = types.indexOf('turnComplete')
  expect(types.slice(ending, ending + 3)).toEqual(['turnComplete', 'pendingMessageRemoved', 'turnStarted'])
  await expectInStep(all)
})
