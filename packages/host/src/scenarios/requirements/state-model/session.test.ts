import { expect, test } from 'vitest'
import { ScriptedAgent } from '../../../../test/scripted-agent.ts'
import { asks } from '../../../../test/tool-call-actions.ts'
import { part, says } from '../../../../test/two-client-session.ts'
import type { Value } from '../../../../test/versions/older-client.ts'
import {
  begins,
  does,
  ends,
  envelopesOf,
  expectInStep,
  fresh,
  listed,
  olderSession,
  summaryOf,
  timeless,
  turnOf,
} from '../../../../test/versions/older-session.ts'

const version = '0.1.0'
const kit = { type: 'plugin' as const, id: 'kit', uri: 'https://x.example/kit', name: 'Kit', enabled: true }
const own = { uri: 'https://x.example/own', displayName: 'Own' }
const schema = {
  type: 'object' as const,
  properties: {
    mode: { type: 'string' as const, title: 'Mode', enum: ['ask', 'edit'], sessionMutable: true },
  },
}
const options = () => ({
  agent: new ScriptedAgent({
    settings: { schema },
    tools: [{ name: 'grep', description: 'Finds lines' }],
    customizations: [kit],
  }),
  params: {
    workingDirectory: 'file:///home/ann/shop',
    model: { id: 'deep' },
    config: { mode: 'edit' },
    activeClient: { clientId: 'ann', tools: [{ name: 'lint' }], customizations: [own] },
  },
})

test('[R000-21 R000-22 R000-23 R000-26 R000-27 R000-28 R000-29 R000-125 R001-20 R001-21 R001-24 R001-25 R001-26 R001-27 R001-28 R001-29 R001-30 R001-31 R001-32 R001-33 R001-34] the state of a session has all of it: summary, turns, the active turn, waiting messages, requests, tools, settings and customizations', async () => {
  const all = await olderSession(version, options())
  const { ann, session } = all
  await ends(all, await turnOf(all, 't1', part('p')))
  await turnOf(all, 't2', part('q'), asks, {
    type: 'session/metaChanged',
    _meta: { git: { branch: 'x' } },
  })
  for (const kind of ['queued', 'steering'])
    await does(ann, session, {
      type: 'session/pendingMessageSet',
      kind,
      id: kind,
      userMessage: { text: kind },
    })
  const state = await fresh(all, session)
  expect(session).toBe('mock:/one')
  expect(state).toMatchObject({
    summary: { resource: session, provider: 'mock', status: 24 },
    lifecycle: 'ready',
    turns: [{ id: 't1', userMessage: { text: 'go' }, state: 'complete' }],
    activeTurn: { id: 't2', userMessage: { text: 'go' }, responseParts: [{ id: 'q' }] },
    queuedMessages: [{ id: 'queued', userMessage: { text: 'queued' } }],
    steeringMessage: { id: 'steering', userMessage: { text: 'steering' } },
    inputRequests: [{ id: 'r1', questions: [{ id: 'name' }, { id: 'sure' }] }],
    serverTools: [{ name: 'grep', description: 'Finds lines' }],
    activeClient: { clientId: 'ann', tools: [{ name: 'lint' }], customizations: [own] },
    config: { schema: { properties: schema.properties }, values: { mode: 'edit' } },
    _meta: { git: { branch: 'x' } },
  })
  expect(state['customizations']).toContainEqual({
    customization: { uri: kit.uri, displayName: 'Kit' },
    enabled: true,
  })
  await expectInStep(all)
})

test('[R000-34 R000-35 R000-36 R000-38 R000-39 R000-42 R001-35 R001-36 R001-37 R001-38 R001-40 R001-41 R001-43] the summary in the state is the entry of the list: URI, agent, title, status, times as numbers, project, model and directory', async () => {
  const all = await olderSession(version, options())
  const { ann, ben, session } = all
  await does(ann, session, { type: 'session/titleChanged', title: 'Named' })
  const [entry] = await listed(ben)
  expect(entry).toEqual({
    resource: session,
    provider: 'mock',
    title: 'Named',
    status: 1,
    createdAt: all.world.now(),
    modifiedAt: all.world.now(),
    project: { uri: 'file:///home/ann/shop', displayName: 'shop' },
    model: { id: 'deep' },
    workingDirectory: 'file:///home/ann/shop',
  })
  expect((await fresh(all, session))['summary']).toEqual(entry)
})

test('[R000-37 R001-39] a summary says in words what the session does', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const run = await turnOf(all, 't1', { type: 'chat/activityChanged', activity: 'Reading' })
  await ben.until(() => summaryOf(ben, session)['activity'] === 'Reading')
  expect((await listed(ben))[0]).toMatchObject({ activity: 'Reading' })
  await ends(all, run)
  await ann.until(() => summaryOf(ann, session)['activity'] === undefined)
})

test('[R000-56 R000-57 R000-58 R000-59 R000-60 R000-61 R000-62 R001-45 R001-46 R001-47 R001-49 R001-50 R001-51 R001-52] a turn is a message and its answer; it ends completed, cancelled or failed, and an active one has no end', async () => {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  const usage = { inputTokens: 1 }
  const done = await turnOf(all, 't1', part('p'), { type: 'chat/usage', usage })
  await ben.until(() => envelopesOf(ben, 'session/usage').length > 0)
  const active = ben.state(session)['activeTurn']
  expect(active).toEqual({
    id: 't1',
    userMessage: { text: 'go' },
    responseParts: [{ kind: 'markdown', id: 'p', content: '' }],
    usage,
  })
  await ends(all, done)
  await turnOf(all, 't2')
  await does(ann, session, { type: 'session/turnCancelled', turnId: 't2' })
  ;(await turnOf(all, 't3')).fail(new Error('secret'))
  await ann.until(() => (ann.state(session)['turns'] as readonly Value[]).length === 3)
  const common = { userMessage: { text: 'go' }, responseParts: [] }
  const expected = [
    { ...(active as Value), state: 'complete' },
    { id: 't2', ...common, state: 'cancelled' },
    { id: 't3', ...common, state: 'error', error: { errorType: 'agent', message: 'the agent failed' } },
  ]
  expect((await fresh(all, session))['turns']).toEqual(expected)
  expect(timeless(ann.state(session))['turns']).toMatchObject(expected)
  await expectInStep(all)
})

test('[R000-129 R000-130 R001-103 R001-104 R001-49] a turn reports tokens, model, cached tokens and facts of its agent, all optional', async () => {
  const all = await olderSession(version)
  const { ben, session } = all
  const usage = {
    inputTokens: 12,
    outputTokens: 3,
    model: 'deep-1',
    cacheReadTokens: 7,
    _meta: { pricing: { total: 0.25 }, 'x-other': [1] },
  }
  await ends(all, await turnOf(all, 't1', { type: 'chat/usage', usage }))
  await ends(all, await turnOf(all, 't2', { type: 'chat/usage', usage: {} }))
  await ends(all, await turnOf(all, 't3'))
  const turns = ben.state(session)['turns'] as readonly Value[]
  expect(turns.map((turn) => turn['usage'])).toEqual([usage, {}, undefined])
  expect((await fresh(all, session))['turns']).toMatchObject([{ usage }, { usage: {} }, { id: 't3' }])
})

test('[R001-105 R001-106] an error has a type for programs and a message for people, and a stack only if there is one to show', async () => {
  const all = await olderSession(version)
  const { ann, session } = all
  ;(await turnOf(all, 't1')).fail(new Error('a stack that may have secrets'))
  await ann.until(() => envelopesOf(ann, 'session/error').length > 0)
  expect(envelopesOf(ann, 'session/error')[0]?.action['error']).toEqual({
    errorType: 'agent',
    message: 'the agent failed',
  })
  await does(ann, session, begins(ann, 't2'))
  await says(all, await all.agent.given(1))
})
