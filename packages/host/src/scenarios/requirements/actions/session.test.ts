import { firstRootUri } from '@atrium/protocol/oracles/wire'
import { expect, test } from 'vitest'
import { failingAgent, lateAgent, readyAgent } from '../../../../test/agents.ts'
import { untilIdle } from '../../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../../test/scripted-agent.ts'
import { says } from '../../../../test/two-client-session.ts'
import {
  begins,
  does,
  ends,
  envelopesOf,
  expectInStep,
  isRefused,
  olderClients,
  olderSession,
  summaryOf,
  turnOf,
} from '../../../../test/versions/older-session.ts'
import type { OlderClient } from '../../../../test/versions/older-client.ts'
import { TurnFailed } from '../../../ports/agent.ts'

const version = '0.1.0'
const statusOf = (client: OlderClient, session: string) => summaryOf(client, session)['status']

test('[R004-10] `root/agentsChanged` tells every client that the models of an agent have changed', async () => {
  const { info, ...agent } = readyAgent()
  const models = [{ id: 'new', provider: 'mock', name: 'New' }]
  let found = info
  const changing = {
    ...agent,
    get info() {
      return found
    },
    probe: async () => void (found = { ...info, models }),
  }
  const { ann, ben, session } = await olderClients(version, { agents: [changing] })
  expect(ben.state(firstRootUri)['agents']).toMatchObject([{ provider: 'mock', models: info.models }])
  await ann.createSession(session)
  await ben.until(() => envelopesOf(ben, 'root/agentsChanged').length > 0)
  expect(envelopesOf(ben, 'root/agentsChanged')).toMatchObject([
    { action: { type: 'root/agentsChanged', agents: [{ provider: 'mock', models }] } },
  ])
  expect(ben.state(firstRootUri)['agents']).toMatchObject([{ models }])
})

test('[R000-24 R000-30 R000-31 R000-32 R000-33 R001-22 R004-15] `session/ready` comes from the host when the agent is prepared', async () => {
  const agent = lateAgent()
  const { ann, session } = await olderClients(version, { agents: [agent] })
  const [, { snapshot }] = await Promise.all([ann.createSession(session), ann.subscribe(session)])
  expect(snapshot).toMatchObject({
    resource: session,
    state: { lifecycle: 'creating', summary: { status: 1 } },
  })
  expect(await isRefused(ann, session, { type: 'session/ready' })).toMatch(/host/)
  agent.finish('ahp-session:/one')
  agent.finish(session)
  await ann.until(() => ann.state(session)['lifecycle'] === 'ready')
  const [ready, ...more] = envelopesOf(ann, 'session/ready').filter(({ origin }) => !origin)
  expect([ready?.action, more]).toEqual([{ type: 'session/ready', session }, []])
})

test('[R000-24 R000-25 R000-33 R001-23 R004-16] `session/creationFailed` comes from the host, with the error', async () => {
  const agents = [failingAgent(new TurnFailed('backend', 'The backend is gone.'))]
  const { ann, session } = await olderClients(version, { agents })
  await Promise.all([ann.createSession(session), ann.subscribe(session)])
  await ann.until(() => ann.state(session)['lifecycle'] === 'creationFailed')
  const error = { errorType: 'backend', message: 'The backend is gone.' }
  expect(envelopesOf(ann, 'session/creationFailed').map(({ action }) => action)).toEqual([
    { type: 'session/creationFailed', error, session },
  ])
  expect(ann.state(session)['creationError']).toEqual(error)
  expect(await isRefused(ann, session, { type: 'session/creationFailed', error })).toMatch(/host/)
})

test('[R004-25 R004-43] a client renames the session; before that, the title comes from the message, and an agent may change it', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const run = await turnOf(all, 't1')
  await ben.until(() => summaryOf(ben, session)['title'] === 'go')
  await says(all, run, { type: 'session/titleChanged', title: 'By the agent' })
  await ben.until(() => summaryOf(ben, session)['title'] === 'By the agent')
  for (const { origin } of envelopesOf(ben, 'session/titleChanged')) expect(origin).toBeUndefined()
  const echo = await does(ann, session, { type: 'session/titleChanged', title: 'By Ann' })
  expect(echo).toMatchObject({ action: { title: 'By Ann', session }, origin: { clientId: 'ann' } })
  await ends(all, run)
  await ben.until(() => summaryOf(ben, session)['title'] === 'By Ann')
  await expectInStep(all)
})

test('[R004-28 R004-44] a client chooses the model of the next turns', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const model = { id: 'deep', config: { effort: 'high' } }
  const echo = await does(ann, session, { type: 'session/modelChanged', model })
  expect(echo.action).toEqual({ type: 'session/modelChanged', model, session })
  await ben.until(() => summaryOf(ben, session)['model'] !== undefined)
  expect(summaryOf(ben, session)['model']).toEqual(model)
  const run = await turnOf(all, 't1')
  expect(run.chat.state.activeTurn?.message.model).toEqual(model)
  await expectInStep(all)
})

test('[R004-29 R004-49 R004-50] a client marks the session as read or archived, and takes it back', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  for (const [type, key, bit] of [
    ['session/isReadChanged', 'isRead', 32],
    ['session/isArchivedChanged', 'isArchived', 64],
  ] as const)
    for (const value of [true, false]) {
      const echo = await does(ann, session, { type, [key]: value })
      expect(echo.action).toEqual({ type, [key]: value, session })
      await ben.until(() => statusOf(ben, session) === (value ? 1 | bit : 1))
    }
  await expectInStep(all)
})

test('[R004-30] `activityChanged` comes from the host only', async () => {
  const all = await olderSession(version, { agent: new ScriptedAgent() })
  const { ann, ben, session } = all
  expect(await isRefused(ann, session, { type: 'session/activityChanged', activity: 'x' })).toMatch(/host/)
  const run = await turnOf(all, 't1', { type: 'chat/activityChanged', activity: 'Reading' })
  await ben.until(() => summaryOf(ben, session)['activity'] === 'Reading')
  const [told] = envelopesOf(ben, 'session/activityChanged')
  expect(told?.action).toEqual({ type: 'session/activityChanged', activity: 'Reading', session })
  expect(told).not.toHaveProperty('origin')
  await ends(all, run)
  await untilIdle()
  await expectInStep(all)
})

test('[R004-13] of the actions of a session, a client may dispatch some; all others come from the host only', async () => {
  const all = await olderSession(version)
  const { ann, session } = all
  await does(ann, session, begins(ann, 't1'))
  await all.agent.given(0)
  const turn = { turnId: 't1' }
  const inCall = { ...turn, toolCallId: 'c' }
  const done = { success: true, pastTenseMessage: 'x' }
  const ours = [
    { type: 'session/toolCallStart', ...inCall, toolName: 'x', displayName: 'X' },
    { type: 'session/toolCallDelta', ...inCall, content: 'x' },
    { type: 'session/toolCallReady', ...inCall, invocationMessage: 'x' },
    { type: 'session/serverToolsChanged', tools: [] },
    { type: 'session/customizationsChanged', customizations: [] },
    { type: 'session/metaChanged', _meta: {} },
    { type: 'session/inputRequested', request: { id: 'r' } },
  ]
  for (const action of ours) expect(await isRefused(ann, session, action)).toMatch(/host/)
  const theirs = [
    { type: 'session/toolCallConfirmed', ...inCall, approved: true, confirmed: 'user-action' },
    { type: 'session/toolCallComplete', ...inCall, result: done },
    { type: 'session/toolCallResultConfirmed', ...inCall, approved: true },
    { type: 'session/toolCallContentChanged', ...inCall, content: [] },
    { type: 'session/inputCompleted', requestId: 'r', response: 'accept' },
    { type: 'session/customizationToggled', uri: 'x:/y', enabled: true },
  ]
  // What they are about does not exist here.
  for (const action of theirs) expect(await isRefused(ann, session, action)).not.toMatch(/host/)
  const activeClient = { clientId: 'ann', tools: [] }
  await does(ann, session, { type: 'session/activeClientChanged', activeClient })
  await does(ann, session, { type: 'session/truncated' })
})
