import fc from 'fast-check'
import { expect, test } from 'vitest'
import { valueOf } from '../../../test/arbitrary.ts'
import { deepFreeze } from '../../../test/cases.ts'
import { problemOf } from '../../../test/oracle-v0-9.ts'
import { kindNames } from '../../../test/random-actions.ts'
import { kinds } from '../../channels.ts'
import type { KindName } from '../../reducers.ts'
import { v09 } from './v0-9.ts'

const counted = { type: 'array', title: 'T', minItems: 1, maxItems: 2 }
const uncounted = { type: 'array', title: 'T' }
/** A config schema that has the given property in every place where a property is allowed. */
const schema = (leaf: object) => ({
  type: 'object',
  properties: {
    list: { ...leaf, items: leaf },
    table: { type: 'object', title: 'T', properties: { leaf }, additionalProperties: leaf },
    // A default value may look like a schema and must not change.
    free: { type: 'object', title: 'T', default: counted },
  },
})
const config = (leaf: object) => ({ schema: schema(leaf), values: { minItems: 3 } })

const server = (state: object) => ({ type: 'mcpServer', id: 's', uri: 'u', name: 'n', state })
const customizations = (state: object) => [
  server(state),
  { type: 'plugin', id: 'p', uri: 'u', name: 'n', children: [{ type: 'hook', id: 'h' }, server(state)] },
  { type: 'x-later', children: [null, 'x', { type: 'mcpServer' }, server(state)] },
]
const blocking = { kind: 'starting', blocking: true }
const starting = { kind: 'starting' }

const definition = { title: 'T', enabled: true, triggers: [] }
const newDefinition = { ...definition, disableConditions: [], session: { provider: 'p', customizations: [] } }
const oldDefinition = { ...definition, session: { provider: 'p' } }
const entry = { resource: 'a', runs: [], operations: [] }
const newEntry = { ...entry, definition: newDefinition, runCount: 3, customizations: [] }
const oldEntry = { ...entry, definition: oldDefinition }

const chat = { resource: 'c', title: 'T', modifiedAt: 'now', interactivity: 'full' }
const newChat = { ...chat, status: 128 + 64 + 32 + 8, changes: { files: 1 }, movable: false }
const oldChat = { ...chat, status: 128 + 8 }
const chatState = { turns: [], changesets: [], backgroundWork: [], canvases: [] }

const agent = { provider: 'p', models: [] }
const agents = (state: object, leaf: object) => [
  { ...agent, customizations: customizations(state), models: [{ id: 'm', configSchema: schema(leaf) }] },
]
const activeClient = (state: object) => ({
  clientId: 'c',
  tools: [],
  customizations: customizations(state).slice(1, 2),
})

test.each<[KindName, object, object]>([
  ['chat', { ...newChat, ...chatState }, { ...oldChat, turns: [] }],
  ['chat', { ...newChat, status: 0xffff_ffff, turns: [] }, { ...oldChat, status: 0xffff_ff9f, turns: [] }],
  [
    'session',
    {
      status: 96,
      chats: [newChat],
      defaultChat: 'c',
      changesets: [],
      config: config(counted),
      customizations: customizations(blocking),
      activeClients: [activeClient(blocking)],
    },
    {
      status: 96,
      chats: [oldChat],
      defaultChat: 'c',
      changesets: [],
      config: config(uncounted),
      customizations: customizations(starting),
      activeClients: [activeClient(starting)],
    },
  ],
  [
    'root',
    { agents: agents(blocking, counted), config: config(counted) },
    { agents: agents(starting, uncounted), config: config(uncounted) },
  ],
  ['automation', { entries: [newEntry] }, { entries: [oldEntry] }],
  ['canvas', { instanceId: 'i', url: 'https://secret' }, {}],
])('[V6.1] [V6] the state of a %s has no additions of 1.0', (kind, state, older) => {
  expect(v09.stateDown(kind, deepFreeze(state))).toStrictEqual(older)
})

test.each<[string, payload: object, ...older: object[]]>([
  ['root/agentsChanged', { agents: agents(blocking, counted) }, { agents: agents(starting, uncounted) }],
  ['session/chatAdded', { summary: newChat }, { summary: oldChat }],
  ['session/chatUpdated', { chat: 'c', changes: { title: 'T', movable: true } }, { changes: { title: 'T' } }],
  ['session/chatUpdated', { chat: 'c', changes: { status: 97 } }, { changes: { status: 1 } }],
  ['session/chatUpdated', { chat: 'c', changes: { movable: true, changes: {} } }],
  ['session/chatsReordered', { chats: ['b', 'a'] }],
  [
    'session/activeClientSet',
    { activeClient: activeClient(blocking) },
    { activeClient: activeClient(starting) },
  ],
  [
    'session/customizationsChanged',
    { customizations: customizations(blocking) },
    { customizations: customizations(starting) },
  ],
  [
    'session/customizationUpdated',
    { customization: customizations(blocking)[1] },
    { customization: customizations(starting)[1] },
  ],
  ['session/mcpServerStateChanged', { id: 's', state: blocking }, { state: starting }],
  ['session/mcpServerBackgroundRequested', { id: 's' }],
  ['chat/isReadChanged', { isRead: true }],
  ['chat/isArchivedChanged', { isArchived: true }],
  ['chat/movableChanged', { movable: true }],
  ['chat/changesetsChanged', { changesets: [] }],
  ['chat/backgroundWorkSet', { work: { id: 'w' } }],
  ['chat/backgroundWorkRemoved', { id: 'w' }],
  ['chat/canvasesChanged', { canvases: [] }],
  ['canvas/stateChanged', { canvas: {} }],
  ['automation/createRequested', { definition: newDefinition }, { definition: oldDefinition }],
  // The client that sent this action waits for its echo, so the action is delivered even without changes.
  ['automation/updateRequested', { changes: { disableConditions: [] } }, { changes: {} }],
  ['automation/set', { automation: newEntry }, { automation: oldEntry }],
])('[V6.1] [V6.3] [V6] %s has no additions of 1.0, or is left out', (type, payload, ...older) => {
  const action = deepFreeze({ type, ...payload })
  const expected = older.map((changes) => ({ ...action, ...changes }))
  expect(v09.actionDown(type.split('/')[0] as KindName, action)).toStrictEqual(expected)
})

/** The action types that differ in 0.9. For any other action, the lens only looks the type up in a table. */
const translated = new Set(
  `root/agentsChanged session/chatAdded session/chatUpdated session/chatsReordered session/activeClientSet
  session/customizationsChanged session/customizationUpdated session/mcpServerStateChanged
  session/mcpServerBackgroundRequested chat/isReadChanged chat/isArchivedChanged chat/movableChanged
  chat/changesetsChanged chat/backgroundWorkSet chat/backgroundWorkRemoved chat/canvasesChanged canvas/stateChanged
  automation/createRequested automation/updateRequested automation/set session/changesetsChanged`.split(
    /\s+/,
  ),
)

test('[V6.6] [V6] the catalogue of a session also has the changesets of turns, because chats have no catalogue', () => {
  const own = { label: 'All', uriTemplate: 's:/1/changeset/session', changeKind: 'session' }
  const branch = { label: 'Branch', uriTemplate: 's:/1/changeset/branch', changeKind: 'branch' }
  const changed = (changesets: readonly object[]) => ({ type: 'session/changesetsChanged', changesets })
  const [lowered] = v09.actionDown('session', deepFreeze(changed([branch, own])))
  const shown = changed([
    branch,
    own,
    expect.objectContaining({ uriTemplate: 's:/1/changeset/turn/{turnId}', changeKind: 'turn' }),
    expect.objectContaining({
      uriTemplate: 's:/1/changeset/compare/{originalTurnId}/{modifiedTurnId}',
      changeKind: 'compare-turns',
    }),
  ])
  expect(lowered).toEqual(shown)
  const { changesets } = shown
  expect(v09.stateDown('session', deepFreeze({ status: 1, changesets: [branch, own] }))).toEqual({
    status: 1,
    changesets,
  })
  const foreign = { ...own, uriTemplate: 'ahp-changeset:/x' }
  for (const same of [lowered, changed([]), changed([branch]), changed([foreign])] as const)
    expect(v09.actionDown('session', same as ReturnType<typeof changed>)[0]).toBe(same)
})

test('[V6] every other action is returned as the same object, and only its type is read', () => {
  const all = kindNames.flatMap((kind) => [...kinds[kind].actions.keys()].map((type) => ({ kind, type })))
  const unknown = ['chat/later', 'constructor'].map((type) => ({ kind: 'chat' as const, type }))
  for (const { kind, type } of [...all, ...unknown]) {
    if (translated.has(type)) continue
    const reads: PropertyKey[] = []
    const action = new Proxy({ type }, { get: (_, key) => (reads.push(key), type) })
    expect(v09.actionDown(kind, action)[0]).toBe(action)
    expect(reads).toEqual(['type'])
  }
})

test('[V6.7] [V6] values and parts of values without additions of 1.0 are returned as the same object', () => {
  const bare = deepFreeze({
    status: 1,
    chats: [oldChat, newChat],
    activeClients: [],
    config: config(uncounted),
  })
  const { chats, config: kept } = v09.stateDown('session', bare) as typeof bare
  expect(chats[0]).toBe(bare.chats[0])
  expect(kept).toBe(bare.config)
  const withTurns = deepFreeze({ ...newChat, turns: [{}] })
  expect((v09.stateDown('chat', withTurns) as typeof withTurns).turns).toBe(withTurns.turns)
  for (const changes of [{}, { status: 8 }, { activity: 'x' }]) {
    const action = { type: 'session/chatUpdated', chat: 'c', changes }
    expect(v09.actionDown('session', action)[0]).toBe(action)
  }
  // The status is an open enum, so 0.9 accepts the unknown value.
  const status = { type: 'changeset/statusChanged', status: 'recomputing' }
  expect(v09.actionDown('changeset', status)[0]).toBe(status)
})

const summary = { resource: 's', status: 97, changes: { files: 1 } }
const newSummary = { ...summary, chats: [{ resource: 'c', title: 'T' }], defaultChat: 'c' }

test('[V6.3] [V6] the entries of the session list have no chats', () => {
  expect(v09.notificationDown('root/sessionAdded', { summary: newSummary })).toStrictEqual({ summary })
  const changed = (changes: object) =>
    v09.notificationDown('root/sessionSummaryChanged', { session: 's', changes })
  expect(changed(newSummary)).toStrictEqual({ session: 's', changes: summary })
  expect(changed({ chats: [], defaultChat: 'c' })).toBeUndefined()
  expect(changed({})).toStrictEqual({ session: 's', changes: {} })
  expect(v09.resultDown('listSessions', { items: [newSummary], nextCursor: 'n' })).toStrictEqual({
    items: [summary],
    nextCursor: 'n',
  })
})

test('[V6] results have no additions of 1.0', () => {
  expect(v09.resultDown('resolveSessionConfig', config(counted))).toStrictEqual(config(uncounted))
  const definitions = (leaf: object) => ({
    items: [{ type: 't', configSchema: schema(leaf) }, { type: 'u' }],
  })
  expect(v09.resultDown('listAutomationTriggerDefinitions', definitions(counted))).toStrictEqual(
    definitions(uncounted),
  )
  expect(
    v09.resultDown('initialize', { snapshots: [], automations: { create: {}, customizations: {} } }),
  ).toStrictEqual({ snapshots: [], automations: { create: {} } })
  for (const result of [null, {}, { items: [] }]) expect(v09.resultDown('ping', result)).toBe(result)
})

const results = [
  'InitializeResult',
  'ListSessionsResult',
  'ResolveSessionConfigResult',
  'ListAutomationTriggerDefinitionsResult',
]
const notifications = ['SessionAddedParams', 'SessionSummaryChangedParams']

test.each([...results, ...notifications])('[V6] any %s becomes valid for 0.9 and is then stable', (shape) => {
  const name = shape.replace(/Result$|Params$/, '')
  const method = name.charAt(0).toLowerCase() + name.slice(1)
  const down = (value: object) =>
    shape.endsWith('Result')
      ? (v09.resultDown(method, value) as object)
      : v09.notificationDown(`root/${method}`, value)
  fc.assert(
    fc.property(valueOf(shape, { deep: 6 }) as fc.Arbitrary<object>, (value) => {
      const older = down(deepFreeze(value))
      if (!older) return
      expect(problemOf(shape, older)).toBeUndefined()
      expect(down(older)).toBe(older)
    }),
    { numRuns: 50 },
  )
})

test('[V6.5] [V6] 0.9 lacks the methods of 1.0; its actions and params are taken unchanged', () => {
  expect(v09.knows('moveChat')).toBe(false)
  expect(v09.knows('createChat')).toBe(true)
  expect(v09.knows('root/sessionSummaryChanged')).toBe(true)
  const read = { type: 'chat/isReadChanged', isRead: true }
  expect(v09.actionUp('chat', read)).toBe(read)
  const params = { resource: 'r', token: 't', expiresIn: 60 }
  expect(v09.paramsUp('authenticate', params)).toBe(params)
})

test('[V6.2] [V6] [HC-29] the read and archived bits of a chat are masked in every place', () => {
  const flagged = deepFreeze({ ...chat, status: 32 + 64 + 8 })
  const masked = { ...chat, status: 8 }
  const session = (one: object) => ({ status: 32 + 64 + 1, chats: [one] })
  expect(v09.stateDown('chat', flagged)).toStrictEqual(masked)
  expect(v09.stateDown('session', session(flagged))).toStrictEqual(session(masked))
  const update = (status: number) => ({ type: 'session/chatUpdated', chat: 'c', changes: { status } })
  expect(v09.actionDown('session', update(32 + 64 + 8))).toStrictEqual([update(8)])
})

test('[V6.4] [V6] [HC-30] a new order of the chats is not sent', () => {
  expect(v09.actionDown('session', { type: 'session/chatsReordered' })).toEqual([])
})

test('[V6] [HC-34] blocking servers, background work, canvases and whether a chat can move are not shown', () => {
  const changed = { type: 'session/mcpServerStateChanged', id: 's' }
  expect(v09.actionDown('session', deepFreeze({ ...changed, state: blocking }))).toStrictEqual([
    { ...changed, state: starting },
  ])
  expect(v09.stateDown('chat', deepFreeze({ ...newChat, ...chatState }))).toStrictEqual({
    ...oldChat,
    turns: [],
  })
  for (const name of ['movableChanged', 'backgroundWorkSet', 'backgroundWorkRemoved', 'canvasesChanged'])
    expect(v09.actionDown('chat', { type: `chat/${name}` })).toEqual([])
})
