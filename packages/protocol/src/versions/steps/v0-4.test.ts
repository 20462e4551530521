import { expect, test } from 'vitest'
import { deepFreeze } from '../../../test/cases.ts'
import type { Action } from '../../channel.ts'
import type { SessionState } from '../../session/state.ts'
import { ContextMissing, Refusal, rebuild } from '../lens.ts'
import type { LiftContext, Lowered } from '../lens.ts'
import { v04 } from './v0-4.ts'

const client = (clientId: string, tools: readonly object[] = []) => ({ clientId, tools })
const chat = {
  resource: 'c',
  title: 'T',
  status: 8,
  modifiedAt: '2026-01-02T03:04:05.678Z',
  activity: 'reads',
}
const selection = { model: { id: 'm', config: { depth: 2, wide: true, none: null } }, agent: { uri: 'a' } }
const textModel = { id: 'm', config: { depth: '2', wide: 'true', none: 'null' } }
const session = deepFreeze({
  provider: 'p',
  title: 'T',
  status: 8 + 32 + 128,
  activity: 'reads',
  project: { uri: 'u', displayName: 'P' },
  workingDirectory: 'file:///w',
  annotations: { resource: 's/annotations', annotationCount: 0, entryCount: 0 },
  lifecycle: 'ready',
  activeClients: [client('one'), client('two')],
  chats: [chat],
  defaultChat: 'c',
  customizations: [],
  _meta: { git: { branch: 'b' }, 'x-atrium': { selection, deferred: { model: { id: 'n' } } } },
})
const listed = deepFreeze({
  provider: 'p',
  title: 'T',
  status: 1,
  resource: 's',
  createdAt: '2026-01-01T00:00:00.001Z',
  modifiedAt: '2026-01-02T03:04:05.678Z',
  changes: { files: 1 },
  _meta: { git: {} },
})

test('[V17.1] [V17] [HC-8] [HC-9] [HC-14] a session of 0.4 has its summary inside, with times as numbers, its own flags and the activity of the list', () => {
  expect(v04.stateDown('session', session, { viewer: 'two', summary: listed })).toStrictEqual({
    summary: {
      resource: 's',
      provider: 'p',
      title: 'T',
      status: 1 + 32 + 128,
      activity: 'reads',
      createdAt: Date.UTC(2026, 0, 1) + 1,
      modifiedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
      project: { uri: 'u', displayName: 'P' },
      workingDirectory: 'file:///w',
      annotations: session.annotations,
      model: textModel,
      agent: { uri: 'a' },
    },
    lifecycle: 'ready',
    activeClient: client('two'),
    chats: [chat],
    defaultChat: 'c',
    customizations: [],
    _meta: { git: { branch: 'b' } },
  })
  const bare = { ...session, activeClients: [], _meta: { 'x-atrium': { selection: {} } } }
  const down = v04.stateDown('session', deepFreeze(bare))
  expect(Object.keys(down)).not.toContain('_meta')
  expect(Object.keys(down)).not.toContain('activeClient')
})

test('[V17] [HC-9] an entry of the session list has times as numbers and no `_meta`', () => {
  const { _meta, ...rest } = listed
  const older = {
    ...rest,
    createdAt: Date.UTC(2026, 0, 1) + 1,
    modifiedAt: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  }
  expect(v04.resultDown('listSessions', { items: [listed] })).toStrictEqual({ items: [older] })
  expect(v04.notificationDown('root/sessionAdded', { summary: listed })).toStrictEqual({ summary: older })
  const changed = (changes: object) =>
    v04.notificationDown('root/sessionSummaryChanged', { session: 's', changes })
  expect(changed({ modifiedAt: listed.modifiedAt })).toStrictEqual({
    session: 's',
    changes: { modifiedAt: older.modifiedAt },
  })
  expect(changed({ _meta })).toBeUndefined()
  expect(changed({ _meta: { 'x-atrium': { selection } } })).toStrictEqual({
    session: 's',
    changes: { model: textModel, agent: { uri: 'a' } },
  })
  expect(v04.knows('root/progress')).toBe(false)
})

const message = { text: 't', origin: { kind: 'user' } }
const newMessage = { ...message, model: { id: 'm' }, agent: { uri: 'a' } }
const cancelled = (userSuggestion: object) => ({
  kind: 'toolCall',
  toolCall: { toolCallId: 'k', status: 'cancelled', userSuggestion },
})

test('[V17.4] [V17] [HC-8] [HC-15] a chat has no draft, no activity, and no model in its messages', () => {
  const state = (one: object) => ({
    resource: 'c',
    title: 'T',
    status: 8,
    modifiedAt: chat.modifiedAt,
    turns: [
      { id: 't', message: one, responseParts: [cancelled(one), { kind: 'markdown', id: 'p', content: '' }] },
    ],
    activeTurn: { id: 'u', message: one, responseParts: [] },
    steeringMessage: { id: 'p', message: one },
    queuedMessages: [{ id: 'q', message: one }],
  })
  const newer = deepFreeze({ ...state(newMessage), draft: newMessage, activity: 'reads' })
  expect(v04.stateDown('chat', newer)).toStrictEqual(state(message))
  const older = deepFreeze(state(message))
  expect(v04.stateDown('chat', older)).toBe(older)
  expect(v04.resultDown('fetchTurns', { turns: newer.turns, hasMore: true })).toStrictEqual({
    turns: older.turns,
    hasMore: true,
  })
})

test.each<[string, object, ...object[]]>([
  ['chat/turnStarted', { turnId: 't', message: newMessage }, { message }],
  ['chat/pendingMessageSet', { kind: 'queued', id: 'q', message: newMessage }, { message }],
  ['chat/toolCallConfirmed', { approved: false, userSuggestion: newMessage }, { userSuggestion: message }],
  ['chat/responsePart', { turnId: 't', part: cancelled(newMessage) }, { part: cancelled(message) }],
  ['chat/draftChanged', { draft: newMessage }],
  ['chat/activityChanged', { activity: 'x' }],
])('[V17] %s has no additions of 0.5, or is left out', (type, payload, ...older) => {
  const action = deepFreeze({ type, ...payload })
  expect(v04.actionDown('chat', action)).toStrictEqual(older.map((changes) => ({ ...action, ...changes })))
})

test('[V17] [HC-13] actions that 0.4 has in the same form are the same object, and read no state', () => {
  const same = `ready creationFailed titleChanged isReadChanged isArchivedChanged activityChanged configChanged
    serverToolsChanged chatAdded chatRemoved chatUpdated defaultChatChanged changesetsChanged customizationsChanged
    customizationToggled customizationUpdated customizationRemoved mcpServerStateChanged`
  const types = same.split(/\s+/).map((name) => `session/${name}`)
  for (const type of [...types, 'chat/delta', 'chat/truncated', 'changeset/contentChanged', 'x-own/thing']) {
    const action = { type }
    expect(v04.actionDown('session', action)).toStrictEqual([action])
    expect((v04.actionDown('session', action) as readonly Action[])[0]).toBe(action)
  }
})

const lowered = (type: string, before: object, after: object, viewer = 'me'): Lowered =>
  v04.actionDown('session', { type }, { viewer, before: deepFreeze(before), after: deepFreeze(after) })

test('[V17.2] [V17] [HC-4] an active client is announced to a client if it sees another one than before', () => {
  const set = (before: readonly object[], after: readonly object[], viewer?: string) =>
    lowered('session/activeClientSet', { activeClients: before }, { activeClients: after }, viewer)
  const changed = (activeClient: object | null) => [{ type: 'session/activeClientChanged', activeClient }]
  const [one, two] = [client('one'), client('two')]
  expect(set([], [one])).toStrictEqual(changed(one))
  expect(set([one], [one, two])).toStrictEqual([])
  expect(set([one], [one, two], 'two')).toStrictEqual(changed(two))
  expect(set([one], [client('one', [{ name: 'n' }])])).toStrictEqual(changed(client('one', [{ name: 'n' }])))
  expect(set([one, two], [two])).toStrictEqual(changed(two))
  expect(set([one, two], [one], 'two')).toStrictEqual(changed(one))
  expect(set([one], [], 'one')).toStrictEqual(changed(null))
})

test('[V17.3] [V17] [HC-8] a selection in `_meta` becomes the model and the agent of the session', () => {
  const meta = (own: object, others?: object) => ({ _meta: { ...others, 'x-atrium': own } })
  const changed = (before: object, after: object) => lowered('session/metaChanged', before, after)
  const model = { type: 'session/modelChanged', model: { id: 'm' } }
  expect(changed({}, meta({ selection: { model: { id: 'm' } } }))).toStrictEqual([model])
  expect(changed({}, meta({ selection: { ...selection } }, { git: {} }))).toStrictEqual([
    { type: 'session/metaChanged', _meta: { git: {} } },
    { type: 'session/modelChanged', model: textModel },
    { type: 'session/agentChanged', agent: { uri: 'a' } },
  ])
  const selected = meta({ selection: { model: { id: 'm' }, agent: { uri: 'a' } } })
  expect(changed(selected, meta({ selection: { model: { id: 'm' } } }))).toStrictEqual([
    { type: 'session/agentChanged' },
  ])
  // A change that waits for the end of a turn is not shown.
  expect(
    changed(selected, meta({ ...selected._meta['x-atrium'], deferred: { model: { id: 'n' } } })),
  ).toStrictEqual([])
  // 0.4 has no action without a model.
  expect(changed(selected, meta({}))).toBe(rebuild)
  expect(changed({ _meta: { git: {} } }, {})).toStrictEqual([{ type: 'session/metaChanged' }])
})

test('[V17] without the states, the actions that depend on them cannot be lowered', () => {
  for (const type of ['session/metaChanged', 'session/activeClientSet', 'session/activeClientRemoved'])
    expect(() => v04.actionDown('session', { type })).toThrow(ContextMissing)
})

const lift = (action: Action & object, given: Partial<LiftContext> = {}) =>
  v04.actionUp('session', deepFreeze(action), {
    viewer: 'me',
    now: '2026-01-01T00:00:00.000Z',
    turnDuration: 0,
    session: undefined,
    isSingle: () => false,
    ...given,
  })
// The lens reads only these keys of the session.
const native = (state: object) => state as SessionState

test('[V17.3] [V17] [HC-8] a message gets the model and agent of the session, unless it has its own', () => {
  const given = { session: native({ _meta: session._meta, activeClients: [] }) }
  const started = (one: object) => ({ type: 'chat/turnStarted', turnId: 't', message: one })
  expect(lift(started(message), given)).toStrictEqual(started({ ...message, ...selection }))
  const own = started({ ...message, model: { id: 'n' } })
  expect(lift(own, given)).toStrictEqual(started({ ...message, model: { id: 'n' }, agent: { uri: 'a' } }))
  const both = { ...message, model: { id: 'n' }, agent: { uri: 'b' } }
  expect(lift(started(both), given)).toStrictEqual(started(both))
  const queued = { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message }
  expect(lift(queued, given)).toStrictEqual({ ...queued, message: { ...message, ...selection } })
  const plain = started(message)
  expect(lift(plain)).toBe(plain)
  for (const type of ['session/modelChanged', 'session/agentChanged', 'session/customizationToggled']) {
    const action = { type }
    expect(lift(action, given)).toBe(action)
  }
})

test('[V17.2] [V17] [HC-4] a client that makes itself active joins the active clients', () => {
  const changed = (activeClient?: unknown) => ({ type: 'session/activeClientChanged', activeClient })
  const active = (...ids: readonly string[]) => ({
    session: native({ activeClients: ids.map((clientId) => client(clientId)) }),
    isSingle: (clientId: string) => clientId !== 'new',
  })
  const joined = { type: 'session/activeClientSet', activeClient: client('me') }
  for (const others of [[], ['new'], ['me'], ['me', 'new']])
    expect(lift(changed(client('me')), active(...others))).toStrictEqual(joined)
  for (const refused of [
    lift(changed(client('me')), active('old')),
    lift(changed(client('me')), active('me', 'old')),
    lift(changed(client('you')), active()),
    lift(changed(null), active('you')),
    lift(changed('me'), active()),
    lift({ type: 'session/activeClientToolsChanged', tools: [] } as Action, active('you')),
  ]) {
    expect(refused).toBeInstanceOf(Refusal)
    expect((refused as Refusal).reason).toMatch(/^(activeClient|tools): /)
  }
  for (const gone of [null, undefined])
    expect(lift(changed(gone), active('me', 'old'))).toStrictEqual({
      type: 'session/activeClientRemoved',
      clientId: 'me',
    })
  const entry = { ...client('me'), displayName: 'Me', customizations: [{ id: 'p' }] }
  const tools = { type: 'session/activeClientToolsChanged', tools: [{ name: 'n' }] }
  expect(lift(tools, { session: native({ activeClients: [entry] }) })).toStrictEqual({
    type: 'session/activeClientSet',
    activeClient: { ...entry, tools: [{ name: 'n' }] },
  })
})

test('[V17.3] [V17] [HC-32] model and agent of a new chat go into its first message; those of a session are left to the host', () => {
  const params = { channel: 's', chat: 'c', model: { id: 'm' }, agent: { uri: 'a' } }
  expect(v04.paramsUp('createChat', { ...params, initialMessage: message })).toStrictEqual({
    channel: 's',
    chat: 'c',
    initialMessage: newMessage,
  })
  expect(v04.paramsUp('createChat', params)).toStrictEqual({ channel: 's', chat: 'c' })
  const created = {
    channel: 's',
    model: { id: 'm' },
    agent: { uri: 'a' },
    fork: { session: 'o', turnId: 't' },
  }
  expect(v04.paramsUp('createSession', created)).toBe(created)
  expect(v04.paramsUp('createSession', { ...created, progressToken: 'p' })).toStrictEqual(created)
  const page = { channel: 'c', before: 't', limit: 2 }
  expect(v04.paramsUp('fetchTurns', page)).toBe(page)
})

test('[V17.5] [V17] the choices of a setting are texts', () => {
  const schema = (choices: readonly unknown[]) => ({
    type: 'object',
    properties: { a: { type: 'array', title: 'A', items: { type: 'number', title: 'B', enum: choices } } },
  })
  const [newer, older] = [schema([1, true, null, 'x']), schema(['1', 'true', 'null', 'x'])]
  const root = (one: object) => ({
    agents: [{ provider: 'p', models: [{ id: 'm', configSchema: one }] }],
    config: { schema: one, values: { a: 1 } },
  })
  expect(v04.stateDown('root', deepFreeze(root(newer)))).toStrictEqual(root(older))
  const action = { type: 'root/agentsChanged', agents: root(newer).agents }
  expect(v04.actionDown('root', deepFreeze(action))).toStrictEqual([
    { ...action, agents: root(older).agents },
  ])
  const config = { schema: newer, values: {} }
  expect(v04.resultDown('resolveSessionConfig', deepFreeze(config))).toStrictEqual({
    ...config,
    schema: older,
  })
  expect(v04.stateDown('session', { ...session, config })).toMatchObject({ config: { schema: older } })
  const texts = deepFreeze(root(older))
  expect(v04.stateDown('root', texts)).toBe(texts)
})
