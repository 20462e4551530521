import { firstRootUri } from '@atrium/protocol/oracles/wire'
import { expect, test } from 'vitest'
import { fakeTerminals } from '../../../../test/fake-terminals.ts'
import { untilIdle } from '../../../../test/held-flushes.ts'
import { delta, part } from '../../../../test/two-client-session.ts'
import type { Value } from '../../../../test/versions/older-client.ts'
import {
  begins,
  caughtUp,
  does,
  ends,
  envelopesOf,
  expectInStep,
  isRefused,
  olderSession,
  predicted,
  timeless,
  turnOf,
} from '../../../../test/versions/older-session.ts'

const version = '0.1.0'
const title = (text: string) => ({ type: 'session/titleChanged', title: text })

test('[R004-1 R004-2 R004-3 R004-4 R004-6 R004-12] everything that changes a session comes as an action in an envelope with its number and origin; the action names its session', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const run = await turnOf(all, 't1', part('p'), delta('p', 'Hello'))
  await does(ben, session, title('Mine'))
  await ends(all, run)
  await caughtUp(ben)
  for (const envelope of ben.envelopes) {
    const { action, serverSeq, origin } = envelope
    expect(Object.keys(envelope).filter((key) => !['action', 'serverSeq', 'origin'].includes(key))).toEqual(
      [],
    )
    expect([typeof action.type, Number.isSafeInteger(serverSeq)]).toEqual(['string', true])
    if (origin) expect(origin).toEqual({ clientId: expect.any(String), clientSeq: expect.any(Number) })
    expect(action['session']).toBe(action.type.startsWith('session/') ? session : undefined)
  }
  const own = ben.envelopes.flatMap(({ action, origin }) => (origin ? [[action.type, origin]] : []))
  expect(own).toEqual([
    ['session/turnStarted', { clientId: 'ann', clientSeq: 1 }],
    ['session/titleChanged', { clientId: 'ben', clientSeq: 1 }],
  ])
  for (const type of ['session/responsePart', 'session/turnComplete'])
    expect(envelopesOf(ben, type).map(({ origin }) => origin)).toEqual([undefined])
  await expectInStep(all)
  expect(timeless(ben.state(session))).toEqual(timeless(ann.state(session)))
})

test('[R004-4] an action of a terminal names its terminal, and one of the root names nothing', async () => {
  const all = await olderSession(version, { machine: { terminals: fakeTerminals() } })
  const { ann, ben } = all
  const terminal = 'ahp-terminal:/t'
  await ann.ask('createTerminal', { claim: { kind: 'client', clientId: 'ann' } }, terminal)
  await ben.subscribe(terminal)
  await ben.until(() => envelopesOf(ben, 'root/terminalsChanged').length > 0)
  ann.dispatch(terminal, { type: 'terminal/titleChanged', title: 'Mine' })
  await ben.until(() => envelopesOf(ben, 'terminal/titleChanged').length > 0)
  expect(envelopesOf(ben, 'terminal/titleChanged')[0]).toEqual({
    action: { type: 'terminal/titleChanged', title: 'Mine', terminal },
    serverSeq: expect.any(Number),
    origin: { clientId: 'ann', clientSeq: 1 },
  })
  const { action } = envelopesOf(ben, 'root/terminalsChanged')[0] ?? {}
  expect(Object.keys(action ?? {}).toSorted()).toEqual(['terminals', 'type'])
})

test('[R004-5] `serverSeq` rises from action to action, and a replay has those that a client has missed, in their order', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  for (const text of ['one', 'two']) await does(ann, session, title(text))
  await ben.until(() => envelopesOf(ben, 'session/titleChanged').length === 2)
  const { lastSeen } = ben
  ben.unplug()
  for (const text of ['three', 'four']) await does(ann, session, title(text))
  const replay = await ben.reconnect()
  expect(replay).toMatchObject({ type: 'replay', missing: [] })
  const missed = replay['actions'] as readonly { readonly serverSeq: number; readonly action: Value }[]
  expect(missed.map(({ action }) => action['title'])).toEqual(['three', 'four'])
  expect(missed[0]?.serverSeq).toBeGreaterThan(lastSeen)
  const seqs = ben.envelopes.map(({ serverSeq }) => serverSeq)
  expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
  expect(timeless(ben.state(session))).toEqual(timeless(ann.state(session)))
})

test('[R004-7 R004-8] a refused action comes back to its client with a reason, and leaves no effect', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const before = ann.state(session)
  const action = { type: 'session/turnCancelled', turnId: 'none', session }
  const reason = await isRefused(ann, session, action)
  expect(reason).toMatch(/turn/)
  // The confirmed state is the one before, so that what the client has predicted is taken back.
  expect(ann.state(session)).toBe(before)
  await caughtUp(ben)
  expect(ben.envelopes.filter(({ rejectionReason }) => rejectionReason !== undefined)).toEqual([])
  await expectInStep(all)
})

test('[R004-39 R004-52 R004-53] what a client shows before the answer is what the envelope then confirms; the reducers of the root and the session change nothing else', async () => {
  const all = await olderSession(version)
  const { ann, session } = all
  const actions = [
    title('Mine'),
    { type: 'session/isArchivedChanged', isArchived: true },
    begins(ann, 't1', 'Hello'),
    { type: 'session/pendingMessageSet', kind: 'queued', id: 'q', userMessage: { text: 'next' } },
    { type: 'session/turnCancelled', turnId: 't1' },
  ]
  for (const action of actions.slice(0, 4)) {
    const before = ann.state(session)
    const copy = structuredClone(before)
    const shown = predicted({ version, state: before }, action)
    expect(predicted({ version, state: before }, action)).toEqual(shown)
    expect(before).toEqual(copy)
    const echo = await does(ann, session, action)
    expect(echo.action).toEqual({ ...action, session })
    expect(ann.state(session)).toEqual(shown)
  }
  const root = ann.state(firstRootUri)
  const changed = { type: 'root/configChanged', config: { 'atrium.retention': 30 } }
  const shown = predicted({ version, state: root }, changed)
  await does(ann, firstRootUri, changed)
  expect(ann.state(firstRootUri)).toEqual(shown)
  await expectInStep(all)
})

test('[R004-54] a replayed action changes states and has no effect: the agent is given a turn once', async () => {
  const all = await olderSession(version)
  const { ann, ben, session, agent } = all
  ben.unplug()
  await does(ann, session, begins(ann, 't1'))
  await agent.given(0)
  await ben.reconnect()
  expect(ben.state(session)['activeTurn']).toMatchObject({ id: 't1' })
  await caughtUp(ben)
  expect(agent.runs).toHaveLength(1)
})

test('[R004-37 R004-38] a dispatch is a notification with its number and an action that names its session; it has no response', async () => {
  const all = await olderSession(version)
  const frames: Value[] = []
  const [, far] = all.wire()
  far.receive((frame) => frames.push(JSON.parse(frame) as Value))
  const say = (message: Value) => far.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const params = { protocolVersions: [version], clientId: 'raw', initialSubscriptions: [all.session] }
  say({ id: 1, method: 'initialize', params })
  const action = { type: 'session/titleChanged', session: all.session, title: 'Raw' }
  say({ method: 'dispatchAction', params: { clientSeq: 1, action } })
  say({ method: 'dispatchAction', params: { clientSeq: 2, action: { ...action, title: 5 } } })
  await untilIdle()
  // The session list is told apart from the answers.
  expect(frames.filter(({ id, method }) => id !== 1 && method !== 'notification')).toEqual([
    {
      jsonrpc: '2.0',
      method: 'action',
      params: { action, serverSeq: expect.any(Number), origin: { clientId: 'raw', clientSeq: 1 } },
    },
    {
      jsonrpc: '2.0',
      method: 'action',
      params: {
        action: { ...action, title: 5 },
        serverSeq: expect.any(Number),
        origin: { clientId: 'raw', clientSeq: 2 },
        rejectionReason: expect.any(String),
      },
    },
  ])
})
