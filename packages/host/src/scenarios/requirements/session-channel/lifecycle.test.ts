import { expect, test } from 'vitest'
import { failingAgent, lateAgent } from '../../../../test/agents.ts'
import { untilIdle } from '../../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../../test/scripted-agent.ts'
import { envelopesOf, listTold, listed, olderClients, told } from '../../../../test/versions/older-session.ts'
import { TurnFailed } from '../../../ports/agent.ts'
import type { Session } from '../../../ports/agent.ts'

const version = '0.4.0'
const config = { mode: 'edit' }
const schema = {
  type: 'object' as const,
  properties: { mode: { type: 'string' as const, title: 'Mode', enum: ['ask', 'edit'] } },
}

test('[R003-11 R003-12 R003-13 R003-14 R003-15 R003-18 R003-45] a subscription sent with `createSession` is answered with `creating`; `session/ready` follows when the agent is prepared', async () => {
  const late = lateAgent()
  const asked: Session[] = []
  const agent = {
    ...late,
    settings: { schema },
    create: (session: Session, signal: AbortSignal) => {
      asked.push(session)
      return late.create?.(session, signal) ?? Promise.resolve()
    },
  }
  const { ann, session } = await olderClients(version, { agents: [agent] })
  const [created, { snapshot }] = await Promise.all([
    ann.createSession(session, { provider: 'mock', config }),
    ann.subscribe(session),
  ])
  expect(created).toBeNull()
  expect(snapshot).toMatchObject({
    resource: session,
    state: { lifecycle: 'creating', config: { values: config }, summary: { status: 1 } },
  })
  await untilIdle()
  expect(asked.map(({ uri }) => uri)).toEqual([session])
  expect(envelopesOf(ann, 'session/ready')).toEqual([])
  late.finish(session)
  await ann.until(() => ann.state(session)['lifecycle'] === 'ready')
  expect(envelopesOf(ann, 'session/ready')).toMatchObject([
    { channel: session, action: { type: 'session/ready' }, serverSeq: expect.any(Number) },
  ])
  expect(envelopesOf(ann, 'session/ready')[0]).not.toHaveProperty('origin')
})

test('[R003-16] if the preparation fails, `session/creationFailed` has the error', async () => {
  const agents = [failingAgent(new TurnFailed('backend', 'The backend is gone.'))]
  const { ann, session } = await olderClients(version, { agents })
  await Promise.all([ann.createSession(session), ann.subscribe(session)])
  await ann.until(() => ann.state(session)['lifecycle'] === 'creationFailed')
  const error = { errorType: 'backend', message: 'The backend is gone.' }
  expect(envelopesOf(ann, 'session/creationFailed')).toMatchObject([{ channel: session, action: { error } }])
  expect(ann.state(session)['creationError']).toMatchObject(error)
})

test('[R003-19] a second session at the same URI is refused with -32003', async () => {
  const { ann, ben, session } = await olderClients(version)
  await ann.createSession(session)
  for (const client of [ann, ben])
    await expect(client.createSession(session)).rejects.toMatchObject({ code: -32003 })
})

test('[R003-17 R003-44 R003-60] creation, changes and end of a session are told on the root channel, also to a client that follows no session', async () => {
  const { all, ann, ben, session } = await olderClients(version)
  await ann.createSession(session)
  await listTold(all)
  const [added] = told(ben, 'sessionAdded')
  expect(added).toMatchObject({
    channel: 'ahp-root://',
    summary: { resource: session, provider: 'mock', status: 1, createdAt: expect.any(Number) },
  })
  expect(added?.['summary']).toEqual((await listed(ben))[0])
  ann.dispatch(session, { type: 'session/titleChanged', title: 'Named' })
  await ann.ask('ping', {})
  await listTold(all)
  expect(told(ben, 'sessionSummaryChanged').at(-1)).toMatchObject({
    channel: 'ahp-root://',
    session,
    changes: { title: 'Named' },
  })
  await ann.ask('disposeSession', {}, session)
  await listTold(all)
  expect(told(ben, 'sessionRemoved')).toEqual([{ channel: 'ahp-root://', session }])
  expect(ben.envelopes.filter(({ channel }) => channel === session)).toEqual([])
  expect(await listed(ben)).toEqual([])
})

test('[R003-43 R003-46] `disposeSession` ends the work of the agent, every chat, and the subscriptions', async () => {
  const agent = new ScriptedAgent()
  const { all, ann, ben, session } = await olderClients(version, { agents: [agent] })
  const chats = [ann.turnsOf(session), 'ahp-chat:/two']
  await ann.createSession(session)
  await ann.ask('createChat', { chat: chats[1] }, session)
  for (const client of [ann, ben]) for (const uri of [session, ...chats]) await client.subscribe(uri)
  for (const [n, uri] of chats.entries()) {
    const message = { text: 'go', origin: { kind: 'user' } }
    await ann.echo(ann.dispatch(uri, { type: 'chat/turnStarted', turnId: `t${n}`, message }))
  }
  const runs = [await agent.given(0), await agent.given(1)]
  expect(await ann.ask('disposeSession', {}, session)).toBeNull()
  await untilIdle()
  expect(runs.map(({ signal }) => signal.aborted)).toEqual([true, true])
  expect(agent.disposed).toEqual([session])
  const before = ben.envelopes.length
  for (const uri of chats) ann.dispatch(uri, { type: 'chat/draftChanged' })
  ann.dispatch(session, { type: 'session/titleChanged', title: 'late' })
  await ben.ask('ping', {})
  expect(ben.envelopes.slice(before).filter(({ channel }) => channel !== ben.root)).toEqual([])
  for (const uri of [session, ...chats])
    await expect(ben.subscribe(uri)).rejects.toMatchObject({ code: expect.any(Number) })
  expect(all.core().clients.links.size).toBe(2)
})
