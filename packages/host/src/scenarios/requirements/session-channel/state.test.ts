import { expect, test } from 'vitest'
import { ScriptedAgent } from '../../../../test/scripted-agent.ts'
import { part, says } from '../../../../test/two-client-session.ts'
import { asks, ready, toolCallStarted } from '../../../../test/tool-call-actions.ts'
import {
  begins,
  does,
  ends,
  envelopesOf,
  olderClients,
  olderSession,
  summaryOf,
  turnOf,
} from '../../../../test/versions/older-session.ts'
import type { Value } from '../../../../test/versions/older-client.ts'

const version = '0.4.0'
const schema = {
  type: 'object' as const,
  properties: {
    mode: { type: 'string' as const, title: 'Mode', enum: ['ask', 'edit'], sessionMutable: true },
  },
}
const kit = { type: 'plugin' as const, id: 'kit', uri: 'https://x.example/kit', name: 'Kit', enabled: true }

test('[R003-1 R003-2 R003-8 R003-9 R003-10] the snapshot of a session has its summary, life cycle, chats, choices, customizations and settings', async () => {
  const agent = new ScriptedAgent({ settings: { schema }, customizations: [kit] })
  const activeClient = { clientId: 'ann', tools: [{ name: 'lint' }] }
  const model = { id: 'deep', config: { effort: 'high' } }
  const params = { model, agent: { uri: 'agent:/reviewer' }, config: { mode: 'edit' }, activeClient }
  const { ann, ben, session, turns } = await olderSession(version, { agent, params })
  const { snapshot } = (await ben.subscribe(session)) as { readonly snapshot: Value }
  expect(snapshot).toMatchObject({
    resource: session,
    fromSeq: expect.any(Number),
    state: {
      summary: {
        resource: session,
        provider: 'mock',
        title: '',
        status: 1,
        createdAt: expect.any(Number),
        modifiedAt: expect.any(Number),
        model,
        agent: { uri: 'agent:/reviewer' },
      },
      lifecycle: 'ready',
      defaultChat: turns,
      chats: [{ resource: turns, title: '', status: 1 }],
      activeClient,
      customizations: [kit],
      config: { schema: { properties: schema.properties }, values: { mode: 'edit' } },
    },
  })
  await ann.ask('createChat', { chat: 'ahp-chat:/two' }, session)
  await ben.until(() => (ben.state(session)['chats'] as readonly unknown[]).length === 2)
  expect((ben.state(session)['chats'] as readonly Value[]).map(({ resource }) => resource)).toEqual([
    turns,
    'ahp-chat:/two',
  ])
})

test('[R003-4 R003-22 R003-23 R003-47 R003-59] turns, calls, waiting messages and requests are on the channel of the chat; the session gets entries, settings and its life cycle', async () => {
  const all = await olderSession(version, { agent: new ScriptedAgent({ settings: { schema } }) })
  const { ann, ben, session, turns } = all
  const run = await turnOf(all, 't1', part('p'), toolCallStarted(), ready())
  const waiting = { text: 'next', origin: { kind: 'user' } }
  const pending = { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q1', message: waiting }
  await does(ann, turns, pending)
  await says(all, run, asks)
  await does(ann, session, { type: 'session/titleChanged', title: 'Named' })
  await does(ann, session, { type: 'session/configChanged', config: { mode: 'ask' } })
  await ann.ask('createChat', { chat: 'ahp-chat:/two' }, session)
  await ben.until(() => envelopesOf(ben, 'session/chatAdded').length === 1)
  const channels = (prefix: string) =>
    new Set(
      ben.envelopes.filter(({ action }) => action.type.startsWith(prefix)).map(({ channel }) => channel),
    )
  expect(channels('chat/')).toEqual(new Set([turns]))
  expect(channels('session/')).toEqual(new Set([session]))
  for (const { action } of ben.envelopes) expect(action).not.toHaveProperty('session')
  const onSession = ben.envelopes.filter(({ channel }) => channel === session)
  expect(new Set(onSession.map(({ action }) => action.type))).toEqual(
    new Set(['session/titleChanged', 'session/configChanged', 'session/chatAdded', 'session/chatUpdated']),
  )
  const { activeTurn, queuedMessages, inputRequests } = ben.state(turns)
  expect(activeTurn).toMatchObject({ id: 't1', responseParts: [{ id: 'p' }, { kind: 'toolCall' }] })
  expect([queuedMessages, inputRequests]).toMatchObject([[{ id: 'q1' }], [{ id: 'r1' }]])
  for (const key of ['turns', 'activeTurn', 'queuedMessages', 'inputRequests'])
    expect(ben.state(session)).not.toHaveProperty(key)
})

test('[R003-5 R003-6] the client chooses the id of a session; one scheme serves every agent, which the summary names', async () => {
  const agents = ['mock', 'other'].map((provider) => new ScriptedAgent({ provider }))
  const { ann } = await olderClients(version, { agents })
  for (const provider of ['mock', 'other']) {
    await ann.createSession(`ahp-session:/with-${provider}`, { provider })
    await ann.subscribe(`ahp-session:/with-${provider}`)
    expect(summaryOf(ann, `ahp-session:/with-${provider}`)).toMatchObject({
      resource: `ahp-session:/with-${provider}`,
      provider,
    })
  }
  expect(ann.states.size).toBe(3)
})

test('[R003-7 R003-50] a client follows the sessions that it subscribes to, until it unsubscribes', async () => {
  const { all, ann, ben } = await olderClients(version)
  const names = ['one', 'two', 'three'].map((id) => `ahp-session:/${id}`)
  for (const uri of names) await ann.createSession(uri)
  for (const uri of names.slice(0, 2)) await ben.subscribe(uri)
  for (const uri of names) await ann.subscribe(uri)
  const rename = async (title: string) => {
    for (const uri of names) await does(ann, uri, { type: 'session/titleChanged', title })
    await ben.ask('ping', {})
  }
  const heard = () => envelopesOf(ben, 'session/titleChanged').map(({ channel }) => channel)
  await rename('first')
  await ben.until(() => heard().length === 2)
  expect(heard()).toEqual(names.slice(0, 2))
  ben.unsubscribe(names[0] ?? '')
  await ben.ask('ping', {})
  await rename('second')
  await ben.until(() => heard().length === 3)
  expect(heard().at(-1)).toBe(names[1])
  expect(all.core().log.channel(names[2] ?? '')?.committed).toMatchObject({ title: 'second' })
})

test('[R003-39] the model and the agent of the summary are the choice for the session; a message of another chat does not change them', async () => {
  const all = await olderSession(version, { params: { model: { id: 'own' } } })
  const { ann, session } = all
  const run = await turnOf(all, 't1')
  await ends(all, run)
  expect(run.chat.state.turns.at(-1) ?? run.chat.state.activeTurn).toMatchObject({
    message: { model: { id: 'own' } },
  })
  await ann.ask('createChat', { chat: 'ahp-chat:/two', model: { id: 'single' } }, session)
  await ann.subscribe('ahp-chat:/two')
  await does(ann, 'ahp-chat:/two', begins(ann, 't2'))
  await all.agent.given(1)
  expect(summaryOf(ann, session)).toMatchObject({ model: { id: 'own' } })
})
