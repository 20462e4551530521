import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { reconnectClient, untilIdle, session } from '../../test/held-flushes.ts'
import { silentAgent, testHost } from '../../test/test-host.ts'
import type { Client, TestHost } from '../../test/test-host.ts'
import { TurnFailed } from '../ports/agent.ts'
import type { Agent } from '../ports/agent.ts'

const chat = defaultChatUri(session)

/** An agent whose first run fails and can be resumed. Its later runs never end. */
function stumbling(): Agent {
  let runs = 0
  const next = () =>
    ++runs === 1 ? Promise.reject(new TurnFailed('x', 'it failed', true)) : new Promise<never>(() => {})
  return {
    ...silentAgent,
    resumes: true,
    run: () => ({ [Symbol.asyncIterator]: () => ({ next }) }),
  }
}

/** Sets up a session of Ann's with finished turns. Ben has only the newest `view` turns. */
async function narrow(
  turns: readonly string[],
  view: number,
  agent: Agent = silentAgent,
  soon: (task: () => void) => void = queueMicrotask,
): Promise<TestHost & { ann: Client; ben: Client }> {
  const all = await testHost({ agents: [agent], soon })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: chat })
  for (const turnId of turns) {
    await ann.echo(ann.dispatch(chat, { ...started, turnId }))
    await untilIdle()
  }
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat, view: { turns: view } })
  return { ...all, ann, ben }
}

/** Like `narrow`, on a disk that holds every write until the test releases it. */
async function narrowAndSlow(agent: Agent) {
  const tasks: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const all = await narrow(['t1'], 0, agent, soon)
  const release = () => {
    holding = false
    for (const task of tasks.splice(0)) task()
  }
  return { ...all, hold: () => void (holding = true), release }
}

const started = {
  type: 'chat/turnStarted',
  startedAt: '2026-01-01T00:00:00Z',
  message: { text: 'go', origin: { kind: 'user' } },
}

/** The part of a chat's state that the chat's own actions determine. The title is left out, because the session keeps it. */
const seen = (client: Client) => {
  const { turns, activeTurn, status } = client.state(chat)
  return { turns, activeTurn, status }
}

const ids = (client: Client) => (client.state(chat)['turns'] as { id: string }[]).map(({ id }) => id)

test('[L9] [L9.7] a turn that is resumed is sent first to subscribers that have only newer turns', async () => {
  const { ann, ben } = await narrow(['t1'], 0, stumbling())
  expect(ids(ben)).toEqual([])
  await ann.echo(ann.dispatch(chat, { type: 'chat/turnResume', turnId: 't1' }))
  await untilIdle()
  expect(seen(ben)).toEqual(seen(ann))
  expect(ben.state(chat)).toMatchObject({ activeTurn: { id: 't1' } })
})

test.each([
  ['is cut to a turn', 1, { type: 'chat/truncated', turnId: 't1' }, undefined],
  ['goes on again', 0, { type: 'chat/turnResume', turnId: 't1' }, stumbling()],
])(
  '[L9] [L13] [L9.7] [L13.4] a client that reconnects to a chat that %s, and lacks that turn, can follow',
  async (_, view, action, agent) => {
    const all = await narrow(agent ? ['t1'] : ['t1', 't2', 't3'], view, agent)
    const { ann, ben } = all
    const had = ben.states.get(chat)
    ben.peer.close()
    await untilIdle()
    await ann.echo(ann.dispatch(chat, action))
    await untilIdle()
    const link = all.link()
    link.states.set(chat, had)
    link.kinds.set(chat, 'chat')
    link.clientId = 'ben'
    await link.ask('reconnect', { clientId: 'ben', lastSeenServerSeq: ben.lastSeen, subscriptions: [chat] })
    await untilIdle()
    expect(seen(link)).toEqual(seen(ann))
  },
)

test('[L13] a reconnecting client that has the newest turns, of a chat that was not truncated, gets a replay', async () => {
  const all = await narrow(['t1', 't2', 't3'], 1)
  const { ann, ben } = all
  ben.peer.close()
  await ann.echo(ann.dispatch(chat, { ...started, turnId: 't4' }))
  await untilIdle()
  const { result } = await reconnectClient(all, ben, ben.lastSeen, [chat])
  expect(result).toMatchObject({ type: 'replay' })
})

test('[L9] [L9.8] a snapshot of some turns also has the turn that an uncommitted action needs', async () => {
  const { ann, ben, hold, release } = await narrowAndSlow(stumbling())
  hold()
  ann.dispatch(chat, { type: 'chat/turnResume', turnId: 't1' })
  await untilIdle()
  await ben.ask('subscribe', { channel: chat, view: { turns: 0 } })
  release()
  await untilIdle()
  expect(seen(ben)).toEqual(seen(ann))
})

test('[L9] [L13] a client that reconnects while such an action is uncommitted can follow it', async () => {
  const all = await narrowAndSlow(stumbling())
  const { ann, ben, hold, release } = all
  const had = ben.states.get(chat)
  ben.peer.close()
  await untilIdle()
  hold()
  ann.dispatch(chat, { type: 'chat/turnResume', turnId: 't1' })
  await untilIdle()
  const link = all.link()
  link.states.set(chat, had)
  link.kinds.set(chat, 'chat')
  link.clientId = 'ben'
  const params = { clientId: 'ben', lastSeenServerSeq: ben.lastSeen, subscriptions: [chat] }
  const returned = link.ask('reconnect', params)
  await untilIdle()
  release()
  await returned
  await untilIdle()
  expect(seen(link)).toEqual(seen(ann))
})

test('[L9] a subscriber that is sent an older turn gets all turns between, because the action may come to nothing', async () => {
  const tasks: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const { ann, ben } = await narrow(['t1', 't2', 't3', 't4'], 1, silentAgent, soon)
  holding = true
  ann.dispatch(chat, { type: 'chat/truncated', turnId: 't2' })
  await untilIdle()
  expect(ids(ben)).toEqual(['t2', 't3', 't4'])
})

test('[L9] a chat whose turns were all removed has no older turns', async () => {
  const { ann, ben } = await narrow(['t1', 't2', 't3'], 1)
  ann.dispatch(chat, { type: 'chat/truncated' })
  for (const turnId of ['t4', 't5', 't6']) {
    await ann.echo(ann.dispatch(chat, { ...started, turnId }))
    await untilIdle()
  }
  await ann.echo(ann.dispatch(chat, { type: 'chat/truncated', turnId: 't5' }))
  await untilIdle()
  expect(ids(ben)).toEqual(['t4', 't5'])
  expect(ben.state(chat)).not.toHaveProperty('turnsNextCursor')
})

/** Cuts Ben's link and reconnects him with the state that he had. Returns his new link, and the type of the response. */
async function returning(all: TestHost, ben: Client): Promise<{ link: Client; type: string }> {
  const had = ben.states.get(chat)
  const { link, result } = await reconnectClient(all, ben, ben.lastSeen, [chat])
  if (link.states.has(chat)) return { link, type: result.type }
  link.states.set(chat, had)
  link.kinds.set(chat, 'chat')
  return { link, type: result.type }
}

test('[L13] [L13.5] I3: a reconnecting client that was sent older turns gets no cursor to turns that do not exist', async () => {
  const all = await narrow(['t1', 't2', 't3'], 1)
  const { ann, ben } = all
  await ben.ask('fetchTurns', { channel: chat, cursor: String(ben.state(chat)['turnsNextCursor']) })
  expect(ben.state(chat)).not.toHaveProperty('turnsNextCursor')
  const { link, type } = await returning(all, ben)
  // Ben has fetched a page, so he has other turns than his snapshot had. The host does not know which.
  expect(type).toBe('snapshot')
  await ann.echo(ann.dispatch(chat, { type: 'chat/truncated', turnId: 't2' }))
  await untilIdle()
  expect(ids(link)).toEqual(['t2'])
  expect(link.state(chat)).toHaveProperty('turnsNextCursor')
})

test('[L13] [L13.5] after a replay a client is sent the turns that its snapshot left out, and none twice', async () => {
  const all = await narrow(['t1', 't2', 't3', 't4'], 2)
  const { link, type } = await returning(all, all.ben)
  expect(type).toBe('replay')
  await all.ann.echo(all.ann.dispatch(chat, { type: 'chat/truncated', turnId: 't3' }))
  await untilIdle()
  expect(ids(link)).toEqual(['t3'])
  // Ben has turn `t3` already, so no turn is sent to him.
  expect(link.envelopes.map(({ action }) => action.type)).toEqual(['chat/truncated'])
})

test('[L13] I3: a reconnecting client that saw all turns removed lacks none', async () => {
  const all = await narrow(['t1', 't2', 't3'], 1)
  const { ann, ben } = all
  await ann.echo(ann.dispatch(chat, { type: 'chat/truncated' }))
  await untilIdle()
  const { link } = await returning(all, ben)
  for (const turnId of ['t4', 't5', 't6']) {
    await ann.echo(ann.dispatch(chat, { ...started, turnId }))
    await untilIdle()
  }
  await ann.echo(ann.dispatch(chat, { type: 'chat/truncated', turnId: 't5' }))
  await untilIdle()
  expect(ids(link)).toEqual(['t4', 't5'])
  expect(link.state(chat)).not.toHaveProperty('turnsNextCursor')
})

test('[L13] F-48: the turns of a client whose record is of a build that did not count them are uncertain', async () => {
  const all = await narrow(['t1', 't2', 't3'], 1)
  const key = 'client/ben'
  await untilIdle()
  const record = (await all.core().records.get(key)) ?? ''
  expect(record).toContain('"cut":2')
  all.ben.peer.close()
  await untilIdle()
  all.store().records.put(key, record.replace('"cut":2', '"cut":true'))
  await all.store().log.flush()
  await all.restart()
  const { result } = await reconnectClient(all, all.ben, all.ben.lastSeen, [chat])
  expect(result.type).toBe('snapshot')
})

test('[L9] [L9.5] I3: a client with a new snapshot is not sent turns that it lacked before', async () => {
  const tasks: (() => void)[] = []
  let holding = false
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const { ann, ben } = await narrow(['t1', 't2', 't3', 't4'], 0, silentAgent, soon)
  holding = true
  // The page with the turns that Ben lacks waits behind these uncommitted actions.
  ann.dispatch(chat, { type: 'chat/draftChanged', draft: { text: 'hm', origin: { kind: 'user' } } })
  ann.dispatch(chat, { type: 'chat/truncated', turnId: 't3' })
  await untilIdle()
  await ben.ask('subscribe', { channel: chat, view: { turns: 0 } })
  expect(ids(ben)).toEqual(['t1', 't2', 't3', 't4'])
  holding = false
  for (const task of tasks.splice(0)) task()
  await untilIdle()
  expect(ids(ben)).toEqual(['t1', 't2', 't3'])
  expect(ben.state(chat)).not.toHaveProperty('turnsNextCursor')
})
