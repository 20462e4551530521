import { expect, test } from 'vitest'
import { deepFreeze } from '../../../test/cases.ts'
import { lifting } from '../../../test/lifting.ts'
import type { Action } from '../../channel.ts'
import type { KindName } from '../../reducers.ts'
import { ContextMissing, Refusal } from '../lens.ts'
import { v02 } from './v0-2.ts'

const newMessage = { text: 't', origin: { kind: 'systemNotification' }, _meta: { m: 1 } }
const oldMessage = { text: 't', _meta: { m: 1 } }
const part = (given: object) => ({ kind: 'toolCall', toolCall: { toolCallId: 'k', ...given } })
const byClient = { contributor: { kind: 'client', clientId: 'me' } }
const byServer = { contributor: { kind: 'mcp', customizationId: 'm' } }

const server = (state: object) => ({
  type: 'mcpServer',
  id: 'm',
  uri: 'u',
  name: 'M',
  enabled: true,
  state,
  channel: 'mcp://m',
  mcpApp: { capabilities: {} },
})
const shown = (load?: object) => ({
  type: 'plugin',
  id: 'm',
  uri: 'u',
  name: 'M',
  enabled: true,
  ...(load && { load }),
})
const child = { type: 'mcpServer', id: 'm', uri: 'u', name: 'M' }
const plugin = (...children: readonly object[]) => ({ type: 'plugin', id: 'p', enabled: true, children })
const ready = { kind: 'ready' }
const newList = [server(ready), plugin(server(ready), { type: 'skill', id: 's' })]
const oldList = [shown({ kind: 'loaded' }), plugin(child, { type: 'skill', id: 's' })]

const newer = deepFreeze({
  summary: { resource: 's', status: 1 },
  lifecycle: 'ready',
  turns: [{ id: 't', message: newMessage, responseParts: [part(byClient), part(byServer)] }],
  activeTurn: { id: 'u', message: newMessage, responseParts: [part({ userSuggestion: newMessage })] },
  steeringMessage: { id: 'p', message: newMessage },
  queuedMessages: [{ id: 'q', message: newMessage }],
  changesets: [{ label: 'l', uriTemplate: 'x', changeKind: 'session' }],
  customizations: newList,
  activeClient: { clientId: 'me', tools: [], customizations: newList.slice(1) },
})
const older = {
  summary: { resource: 's', status: 1, changesets: [{ label: 'l', uriTemplate: 'x' }] },
  lifecycle: 'ready',
  turns: [{ id: 't', responseParts: [part({ toolClientId: 'me' }), part({})], userMessage: oldMessage }],
  activeTurn: { id: 'u', responseParts: [part({ userSuggestion: oldMessage })], userMessage: oldMessage },
  steeringMessage: { id: 'p', userMessage: oldMessage },
  queuedMessages: [{ id: 'q', userMessage: oldMessage }],
  customizations: oldList,
  activeClient: { clientId: 'me', tools: [], customizations: oldList.slice(1) },
}

test.each<KindName>(['session', 'chat'])(
  '[V19.1] [V19] [HC-7] a %s has messages of users, clients of tool calls, and servers without a state',
  (kind) => {
    expect(v02.stateDown(kind, newer, { viewer: 'me' })).toStrictEqual(older)
    expect(v02.resultDown('fetchTurns', { turns: newer.turns, hasMore: true })).toStrictEqual({
      turns: older.turns,
      hasMore: true,
    })
  },
)

test.each<[string, object, object | undefined]>([
  ['starting', {}, { kind: 'loading' }],
  ['ready', {}, { kind: 'loaded' }],
  ['authRequired', { description: 'sign in' }, { kind: 'degraded', message: 'sign in' }],
  ['authRequired', {}, { kind: 'degraded', message: 'sign-in is required' }],
  ['error', { error: { message: 'no such file' } }, { kind: 'error', message: 'no such file' }],
  ['stopped', {}, undefined],
  ['later', {}, undefined],
])('[V19.2] [V19] [HC-7] a server that is %s is shown as a plugin', (kind, payload, load) => {
  const changed = (customizations: readonly object[]) => ({
    type: 'session/customizationsChanged',
    customizations,
  })
  expect(v02.actionDown('session', changed([server({ kind, ...payload })]))).toStrictEqual([
    changed([shown(load)]),
  ])
})

const lowered = (action: Action & object, states?: { before: object; after: object }) =>
  v02.actionDown('session', deepFreeze(action), states && { viewer: 'me', ...deepFreeze(states) })

test.each<[string, object, object]>([
  ['session/turnStarted', { turnId: 't', message: newMessage }, { turnId: 't', userMessage: oldMessage }],
  ['session/pendingMessageSet', { id: 'q', message: newMessage }, { id: 'q', userMessage: oldMessage }],
  ['session/toolCallConfirmed', { userSuggestion: newMessage }, { userSuggestion: oldMessage }],
  ['session/toolCallStart', { toolName: 'n', ...byClient }, { toolName: 'n', toolClientId: 'me' }],
  ['session/toolCallStart', { toolName: 'n', ...byServer }, { toolName: 'n' }],
  ['session/responsePart', { part: part(byClient) }, { part: part({ toolClientId: 'me' }) }],
  ['session/customizationUpdated', { customization: newList[1] }, { customization: oldList[1] }],
  ['session/activeClientChanged', { activeClient: newer.activeClient }, { activeClient: older.activeClient }],
  ['session/activeClientChanged', { activeClient: null }, { activeClient: null }],
  ['session/changesetsChanged', { changesets: newer.changesets }, { changesets: older.summary.changesets }],
  ['session/changesetsChanged', {}, {}],
  [
    'root/agentsChanged',
    { agents: [{ customizations: newList }] },
    { agents: [{ customizations: oldList }] },
  ],
  [
    'changeset/operationsChanged',
    { operations: [{ id: 'o', status: 'error', error: {} }] },
    { operations: [{ id: 'o' }] },
  ],
])('[V19] %s has no additions of 0.3', (type, payload, expected) => {
  expect(lowered({ type, ...payload })).toStrictEqual([{ type, ...expected }])
})

test('[V19.2] [V19] [HC-7] the state of a server at the top changes the plugin that stands for it; others show none', () => {
  const changed = { type: 'session/mcpServerStateChanged', id: 'm', state: ready }
  const states = (before: object, after: object) => ({
    before: { customizations: [before] },
    after: { customizations: [after] },
  })
  expect(lowered(changed, states(server({ kind: 'starting' }), server(ready)))).toStrictEqual([
    { type: 'session/customizationUpdated', customization: shown({ kind: 'loaded' }) },
  ])
  expect(lowered(changed, states(server(ready), { ...server(ready), channel: 'mcp://n' }))).toStrictEqual([])
  expect(lowered(changed, states(plugin(server({ kind: 'starting' })), plugin(server(ready))))).toStrictEqual(
    [],
  )
  expect(lowered(changed, { before: {}, after: {} })).toStrictEqual([])
  expect(() => lowered(changed)).toThrow(ContextMissing)
  for (const type of ['session/customizationToggled', 'session/customizationRemoved', 'session/delta']) {
    const action = { type }
    expect((v02.actionDown('session', action) as readonly Action[])[0]).toBe(action)
  }
})

test('[V19.1] [V19] an operation of a changeset has no status', () => {
  const state = { status: 'ready', files: [], operations: [{ id: 'o', status: 'idle' }] }
  expect(v02.stateDown('changeset', deepFreeze(state))).toStrictEqual({ ...state, operations: [{ id: 'o' }] })
  expect(v02.actionDown('changeset', { type: 'changeset/operationStatusChanged' })).toStrictEqual([])
  expect(v02.stateDown('root', { agents: [{ customizations: newList }] })).toStrictEqual({
    agents: [{ customizations: oldList }],
  })
})

test('[V19] the message of a user gets its origin', () => {
  const up = (action: Action & object) => v02.actionUp('session', deepFreeze(action), lifting())
  const message = { text: 't', origin: { kind: 'user' } }
  expect(
    up({ type: 'session/turnStarted', turnId: 't', userMessage: { text: 't' } } as Action),
  ).toStrictEqual({
    type: 'session/turnStarted',
    turnId: 't',
    message,
  })
  const denied = { type: 'session/toolCallConfirmed', approved: false }
  expect(up({ ...denied, userSuggestion: { text: 't' } } as Action)).toStrictEqual({
    ...denied,
    userSuggestion: message,
  })
  expect(up(denied)).toStrictEqual(denied)
  for (const userMessage of [undefined, 'text', null]) {
    const refused = up({ type: 'session/pendingMessageSet', message, userMessage } as Action)
    expect(refused).toStrictEqual(new Refusal('userMessage: not an object'))
  }
})

test('[V19] clients declare no capabilities, and the session list counts no changes', () => {
  const params = { channel: 'ahp-root://', clientId: 'me' }
  expect(v02.paramsUp('initialize', { ...params, capabilities: { mcpApps: {} } })).toStrictEqual(params)
  expect(v02.resultDown('listSessions', { items: [{ resource: 's', changes: {} }] })).toStrictEqual({
    items: [{ resource: 's' }],
  })
  expect(
    v02.notificationDown('root/sessionSummaryChanged', { session: 's', changes: { changes: {} } }),
  ).toBeUndefined()
})
