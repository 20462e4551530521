import fc from 'fast-check'
import { expect, test } from 'vitest'
import { valueOf } from '../../test/arbitrary.ts'
import { deepFreeze } from '../../test/cases.ts'
import { problemOf } from '../../test/oracle-v0-9.ts'
import { kinds } from '../channels.ts'
import type { KindName } from '../reducers.ts'
import { v09 } from './v0-9.ts'

const counted = { type: 'array', title: 'T', minItems: 1, maxItems: 2 }
const uncounted = { type: 'array', title: 'T' }
/** Properties in every place where a property may stand, around the one that is given. */
const schema = (leaf: object) => ({
  type: 'object',
  properties: {
    list: { ...leaf, items: leaf },
    table: { type: 'object', title: 'T', properties: { leaf }, additionalProperties: leaf },
    // A value may look like a schema.
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
])('[V6] a %s without what 1.0 brought', (kind, state, told) => {
  expect(v09.stateDown(kind, deepFreeze(state))).toStrictEqual(told)
})

test.each<[string, payload: object, ...told: object[]]>([
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
  // Its sender waits for it, so it is told also when nothing is left.
  ['automation/updateRequested', { changes: { disableConditions: [] } }, { changes: {} }],
  ['automation/set', { automation: newEntry }, { automation: oldEntry }],
])('[V6] %s is told without what 1.0 brought, or not at all', (type, payload, ...told) => {
  const action = deepFreeze({ type, ...payload })
  const expected = told.map((changes) => ({ ...action, ...changes }))
  expect(v09.actionDown(type.split('/')[0] as KindName, action)).toStrictEqual(expected)
})

/** The only ones that are ever something else at 0.9: whatever else is said costs one look into a table. */
const touched = new Set(
  `root/agentsChanged session/chatAdded session/chatUpdated session/chatsReordered session/activeClientSet
  session/customizationsChanged session/customizationUpdated session/mcpServerStateChanged
  session/mcpServerBackgroundRequested chat/isReadChanged chat/isArchivedChanged chat/movableChanged
  chat/changesetsChanged chat/backgroundWorkSet chat/backgroundWorkRemoved chat/canvasesChanged canvas/stateChanged
  automation/createRequested automation/updateRequested automation/set`.split(/\s+/),
)

test('[V6] every other action is told as the very object it is, and nothing of it is read', () => {
  const all = Object.values(kinds).flatMap((kind) =>
    [...kind.actions.keys()].map((type) => [kind.name, type]),
  )
  for (const [kind, type = ''] of [...all, ['chat', 'chat/later'], ['chat', 'constructor']]) {
    if (touched.has(type)) continue
    const reads: PropertyKey[] = []
    const action = new Proxy({ type }, { get: (_, key) => (reads.push(key), type) })
    expect(v09.actionDown(kind as KindName, action)[0]).toBe(action)
    expect(reads).toEqual(['type'])
  }
})

test('[V6] what has nothing of 1.0 comes back as it is, and so does all that is beside what has', () => {
  const bare = deepFreeze({
    status: 1,
    chats: [oldChat, newChat],
    activeClients: [],
    config: config(uncounted),
  })
  const { chats, config: kept } = v09.stateDown('session', bare) as typeof bare
  expect(chats[0]).toBe(bare.chats[0])
  expect(kept).toBe(bare.config)
  const told = deepFreeze({ ...newChat, turns: [{}] })
  expect((v09.stateDown('chat', told) as typeof told).turns).toBe(told.turns)
  for (const changes of [{}, { status: 8 }, { activity: 'x' }]) {
    const action = { type: 'session/chatUpdated', chat: 'c', changes }
    expect(v09.actionDown('session', action)[0]).toBe(action)
  }
  // An open enum: 0.9 keeps the value that it does not know.
  const status = { type: 'changeset/statusChanged', status: 'recomputing' }
  expect(v09.actionDown('changeset', status)[0]).toBe(status)
})

const summary = { resource: 's', status: 97, changes: { files: 1 } }
const newSummary = { ...summary, chats: [{ resource: 'c', title: 'T' }], defaultChat: 'c' }

test('[V6] the session list has no chats in it', () => {
  expect(v09.noteDown('root/sessionAdded', { summary: newSummary })).toStrictEqual({ summary })
  const changed = (changes: object) => v09.noteDown('root/sessionSummaryChanged', { session: 's', changes })
  expect(changed(newSummary)).toStrictEqual({ session: 's', changes: summary })
  expect(changed({ chats: [], defaultChat: 'c' })).toBeUndefined()
  expect(changed({})).toStrictEqual({ session: 's', changes: {} })
  expect(v09.resultDown('listSessions', { items: [newSummary], nextCursor: 'n' })).toStrictEqual({
    items: [summary],
    nextCursor: 'n',
  })
})

test('[V6] answers have nothing of 1.0 in them', () => {
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

const answers = [
  'InitializeResult',
  'ListSessionsResult',
  'ResolveSessionConfigResult',
  'ListAutomationTriggerDefinitionsResult',
]
const told = ['SessionAddedParams', 'SessionSummaryChangedParams']

test.each([...answers, ...told])('[V6] any %s is one of 0.9, and lowering it twice is once', (shape) => {
  const name = shape.replace(/Result$|Params$/, '')
  const method = name.charAt(0).toLowerCase() + name.slice(1)
  const down = (value: object) =>
    shape.endsWith('Result')
      ? (v09.resultDown(method, value) as object)
      : v09.noteDown(`root/${method}`, value)
  fc.assert(
    fc.property(valueOf(shape, { deep: 6 }) as fc.Arbitrary<object>, (value) => {
      const lowered = down(deepFreeze(value))
      if (!lowered) return
      expect(problemOf(shape, lowered)).toBeUndefined()
      expect(down(lowered)).toBe(lowered)
    }),
    { numRuns: 50 },
  )
})

test('[V6] what 0.9 has no method for it may not ask; what it says is taken as it is', () => {
  expect(v09.knows('moveChat')).toBe(false)
  expect(v09.knows('createChat')).toBe(true)
  expect(v09.knows('root/sessionSummaryChanged')).toBe(true)
  const read = { type: 'chat/isReadChanged', isRead: true }
  expect(v09.actionUp('chat', read)).toBe(read)
  const params = { resource: 'r', token: 't', expiresIn: 60 }
  expect(v09.paramsUp('authenticate', params)).toBe(params)
})
