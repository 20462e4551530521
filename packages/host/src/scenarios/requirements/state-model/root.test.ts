import { expect, test } from 'vitest'
import { readyAgent } from '../../../../test/agents.ts'
import { fakeTerminals } from '../../../../test/fake-terminals.ts'
import { ScriptedAgent } from '../../../../test/scripted-agent.ts'
import { OlderClient } from '../../../../test/versions/older-client.ts'
import type { Value } from '../../../../test/versions/older-client.ts'
import {
  begins,
  does,
  envelopesOf,
  listedUris,
  olderClients,
  olderSession,
  summaryOf,
} from '../../../../test/versions/older-session.ts'

const version = '0.1.0'
const rootName = 'agenthost:/root'

/** A model with every member that 0.1 has, and with facts that no version names. */
const model = {
  id: 'deep-1',
  provider: 'mock',
  name: 'Deep One',
  maxContextWindow: 200_000,
  supportsVision: true,
  policyState: 'disabled' as const,
  configSchema: {
    type: 'object' as const,
    required: ['thinking'],
    properties: {
      thinking: {
        type: 'string' as const,
        title: 'Thinking',
        description: 'How long the model thinks',
        default: 'low',
        enum: ['low', 'high'],
        enumLabels: ['Little', 'Much'],
        enumDescriptions: ['Quick', 'Thorough'],
        readOnly: false,
      },
    },
  },
  _meta: { pricing: { input: 1.5, output: 6 }, 'x-other': [null] },
}
const kit = {
  type: 'plugin' as const,
  id: 'kit',
  uri: 'https://x.example/kit',
  name: 'Kit',
  enabled: true,
}

test('[R000-1 R000-2 R001-2 R001-107 R001-108 R001-109 R001-110] a client that subscribes to a URI gets its state, and then every later action; no other message changes the state', async () => {
  const all = await olderSession(version, { machine: { terminals: fakeTerminals() } })
  const { ann, ben, session } = all
  const terminal = 'ahp-terminal:/t'
  await ann.ask('createTerminal', { claim: { kind: 'client', clientId: 'ann' } }, terminal)
  const uris = [rootName, session, terminal]
  const answers = await Promise.all(uris.map((uri) => ben.subscribe(uri)))
  const snapshots = answers.map(({ snapshot }) => snapshot as Value)
  expect(snapshots.map(({ resource }) => resource)).toEqual(uris)
  expect(snapshots.map(({ state }) => Object.keys(state as Value))).toMatchObject([
    expect.arrayContaining(['agents']),
    expect.arrayContaining(['summary', 'turns', 'lifecycle']),
    expect.arrayContaining(['title', 'content', 'claim']),
  ])
  const from = Math.max(...snapshots.map(({ fromSeq }) => Number(fromSeq)))
  const before = ben.envelopes.length
  await does(ann, session, { type: 'session/titleChanged', title: 'Mine' })
  ann.dispatch(terminal, { type: 'terminal/titleChanged', title: 'Shell' })
  await ben.until(() => envelopesOf(ben, 'terminal/titleChanged').length > 0)
  const later = ben.envelopes.slice(before).map(({ serverSeq }) => serverSeq)
  expect(later.length).toBeGreaterThanOrEqual(2)
  for (const seq of later) expect(seq).toBeGreaterThan(from)
  expect([summaryOf(ben, session)['title'], ben.state(terminal)['title']]).toEqual(['Mine', 'Shell'])
  expect(ben.state(rootName)).toEqual(ann.state(rootName))
  expect(ben.notes.every(({ method }) => method === 'notification')).toBe(true)
})

test('[R001-107 R001-110] `initialize` and `reconnect` answer with snapshots in the same form', async () => {
  const { all, ann, ben, session } = await olderClients(version)
  await ann.createSession(session)
  await ben.subscribe(session)
  const raw = await ann.ask('listSessions', {})
  expect(raw['items']).toHaveLength(1)
  ben.unplug()
  ben.lastSeen = Number.MAX_SAFE_INTEGER
  const { type, snapshots } = await ben.reconnect([rootName, session])
  expect([type, snapshots]).toMatchObject([
    'snapshot',
    [
      { resource: rootName, state: { agents: [{}] }, fromSeq: expect.any(Number) },
      { resource: session, state: { summary: { resource: session } }, fromSeq: expect.any(Number) },
    ],
  ])
  const late = new OlderClient(all, version, 'late')
  const opened = await late.open([rootName, session])
  expect(opened).toMatchObject({ protocolVersion: version, serverSeq: expect.any(Number) })
  expect((opened['snapshots'] as readonly Value[]).map(({ resource }) => resource)).toEqual([
    rootName,
    session,
  ])
})

test('[R000-3 R000-4 R000-6 R000-7 R000-8 R000-9 R000-10 R000-11 R000-12 R000-13 R000-14 R000-15 R000-17 R000-19 R001-3 R001-7 R001-8 R001-9 R001-13 R001-14 R001-15 R001-16 R001-17 R001-18 R001-19] the root state has the agents with their models, options, facts and customizations', async () => {
  const { info, ...agent } = readyAgent()
  const full = { ...info, displayName: 'Mock', description: 'A test', models: [model], customizations: [kit] }
  const { ann } = await olderClients(version, { agents: [{ ...agent, info: full }] })
  const { snapshot } = (await ann.subscribe(rootName)) as { readonly snapshot: Value }
  expect(snapshot).toMatchObject({ resource: rootName, fromSeq: expect.any(Number) })
  const members = Object.keys(snapshot['state'] as Value)
  expect(members.toSorted()).toEqual(['activeSessions', 'agents', 'config'])
  expect((snapshot['state'] as Value)['agents']).toEqual([
    {
      provider: 'mock',
      displayName: 'Mock',
      description: 'A test',
      models: [model],
      customizations: [{ uri: kit.uri, displayName: 'Kit' }],
    },
  ])
})

test('[R000-5 R000-131 R000-132 R001-4] the sessions are not in the root state, which has their number; a client asks for the list', async () => {
  const { ann, ben } = await olderClients(version)
  for (const uri of ['mock:/one', 'mock:/two']) await ann.createSession(uri)
  await ben.until(() => ben.state(rootName)['activeSessions'] === 2)
  expect(JSON.stringify(ben.state(rootName))).not.toContain('mock:/')
  expect(await listedUris(ben)).toEqual(['mock:/one', 'mock:/two'])
  await ann.ask('disposeSession', {}, 'mock:/one')
  await ben.until(() => ben.state(rootName)['activeSessions'] === 1)
  expect(
    envelopesOf(ben, 'root/activeSessionsChanged').map(({ action }) => action['activeSessions']),
  ).toEqual([1, 2, 1])
  expect(await listedUris(ben)).toEqual(['mock:/two'])
})

test('[R000-18 R000-40 R000-41 R001-18 R001-42] the chosen options of a model are texts in its selection, when a session is created and when the model is changed', async () => {
  const agent = new ScriptedAgent()
  Object.assign(agent.info, { models: [model] })
  const first = { id: 'deep-1', config: { thinking: 'high' } }
  const all = await olderSession(version, { agent, params: { model: first } })
  const { ann, ben, session } = all
  expect(summaryOf(ben, session)['model']).toEqual(first)
  const next = { id: 'deep-1', config: { thinking: 'low' } }
  await does(ann, session, { type: 'session/modelChanged', model: next })
  await ben.until(() => (summaryOf(ben, session)['model'] as Value)['config'] !== first.config)
  expect(summaryOf(ben, session)['model']).toEqual(next)
  await does(ann, session, begins(ann, 't1'))
  expect((await agent.given(0)).chat.state.activeTurn?.message.model).toEqual(next)
})

test('[R001-5 R001-6] the root lists the terminals, whose states have their own URIs, and the settings as a schema and values', async () => {
  const { ann, ben } = await olderClients(version, { machine: { terminals: fakeTerminals() } })
  const terminal = 'ahp-terminal:/t'
  const claim = { kind: 'client', clientId: 'ann' }
  await ann.ask('createTerminal', { claim, name: 'Shell' }, terminal)
  await ben.until(() => envelopesOf(ben, 'root/terminalsChanged').length > 0)
  expect(ben.state(rootName)['terminals']).toEqual([{ resource: terminal, title: 'Shell', claim }])
  await ben.subscribe(terminal)
  expect(ben.state(terminal)).toMatchObject({ title: 'Shell', claim, content: [] })
  expect(ben.state(rootName)['config']).toMatchObject({
    schema: { type: 'object', properties: { 'atrium.retention': { type: 'number', title: 'Retention' } } },
    values: {},
  })
  await does(ann, rootName, { type: 'root/configChanged', config: { 'atrium.retention': 30 } })
  await ben.until(() => envelopesOf(ben, 'root/configChanged').length > 0)
  expect(ben.state(rootName)['config']).toMatchObject({ values: { 'atrium.retention': 30 } })
})

test('[R001-10 R001-11 R001-12] an agent says what it needs a sign-in for, as in RFC 9728; a session is created once the host has the token', async () => {
  const door = {
    resource: 'https://api.example',
    resource_name: 'Example',
    authorization_servers: ['https://login.example'],
    scopes_supported: ['read'],
    bearer_methods_supported: ['header'],
    resource_documentation: 'https://docs.example',
  }
  const agents = [new ScriptedAgent({ protectedResources: [door] })]
  const { ann, session } = await olderClients(version, { agents })
  expect(ann.state(rootName)['agents']).toMatchObject([{ protectedResources: [door] }])
  await expect(ann.createSession(session)).rejects.toMatchObject({
    code: -32007,
    data: { resources: [door] },
  })
  expect(await ann.ask('authenticate', { resource: door.resource, token: 'T' })).toEqual({})
  expect(await ann.createSession(session)).toBeNull()
})
