import { expect, test } from 'vitest'
import { deepFreeze } from '../../../test/cases.ts'
import { lifting } from '../../../test/lifting.ts'
import type { Action } from '../../channel.ts'
import type { KindName } from '../../reducers.ts'
import { knownIn } from '../known.ts'
import { ContextMissing, rebuild } from '../lens.ts'
import { primaryChat } from '../../session/primary-chat.ts'
import { v03 } from './v0-3.ts'

const message = (kind: string, ...attachments: readonly object[]) => ({
  text: 't',
  origin: { kind },
  ...(attachments.length > 0 && { attachments }),
})
const notes = { type: 'annotations', label: '2 notes', range: {}, resource: 'a', annotationIds: ['n'] }
const label = { type: 'simple', label: '2 notes', range: {}, modelRepresentation: '2 notes' }
const call = (_meta?: object) => ({
  kind: 'toolCall',
  toolCall: { toolCallId: 'k', status: 'running', ...(_meta && { _meta }) },
})
const turns = (from: object, meta?: object) => ({
  turns: [{ id: 't', message: from, responseParts: [call(meta)], state: 'complete' }],
  activeTurn: { id: 'u', message: from, responseParts: [] },
  steeringMessage: { id: 'p', message: from },
  queuedMessages: [{ id: 'q', message: from }],
  inputRequests: [{ id: 'r' }],
})
const chat = deepFreeze({
  resource: 'c',
  title: 'Chat',
  status: 24,
  modifiedAt: '2026-01-02T03:04:05.678Z',
  ...turns(message('tool', notes), { keep: 1, 'x-atrium': { by: 'me' }, 'x-atrium.over': {} }),
  _meta: { of: 'chat' },
})
const entry = { resource: 'c', title: 'Chat', status: 8, modifiedAt: '2026-01-02T03:04:05.678Z' }
const summary = { resource: 's', provider: 'p', title: 'T', status: 1 + 32, createdAt: 1, modifiedAt: 2 }
const session = deepFreeze({
  summary: { ...summary, activity: 'all', annotations: { resource: 'n', annotationCount: 0, entryCount: 0 } },
  lifecycle: 'ready',
  chats: [
    { ...entry, resource: 'other', activity: 'other' },
    { ...entry, activity: 'reads' },
  ],
  defaultChat: 'c',
  changesets: [{ label: 'l', uriTemplate: 'u', changeKind: 'session' }],
  _meta: { git: {} },
})

test('[V18.1] [V18.2] [V18] [HC-2] a session contains the turns of its primary chat, and its status has the flags of the session', () => {
  expect(v03.stateDown('session', session, { viewer: 'me', chat })).toStrictEqual({
    summary: { ...summary, status: 24 + 32, activity: 'all' },
    lifecycle: 'ready',
    changesets: session.changesets,
    _meta: { git: {} },
    ...turns(message('systemNotification', label), { keep: 1 }),
  })
  // Without the chat, its entry in the list gives the status.
  expect(v03.stateDown('session', session)).toMatchObject({ summary: { status: 8 + 32 }, turns: [] })
  const bare = { ...session, chats: [], defaultChat: 'c' }
  expect(v03.stateDown('session', deepFreeze(bare))).toMatchObject({
    summary: { status: 1 + 32, activity: 'all' },
    turns: [],
  })
})

test('[V8.2] [V18] [HC-2] the primary chat is the default chat, or the first one', () => {
  expect(primaryChat(session)).toBe('c')
  expect(primaryChat({ ...session, defaultChat: 'gone' })).toBe('other')
  expect(primaryChat({ chats: [] })).toBeUndefined()
})

test('[V18] [HC-1] [HC-15] another chat is a session of its own, with the title of the chat', () => {
  const listed = { ...summary, workingDirectory: 'file:///w' }
  const modifiedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
  expect(v03.stateDown('chat', chat, { viewer: 'me', summary: listed })).toStrictEqual({
    summary: { ...listed, resource: 'c', title: 'Chat', status: 24, modifiedAt },
    lifecycle: 'ready',
    ...turns(message('systemNotification', label), { keep: 1 }),
  })
  const own = { ...entry, workingDirectory: 'file:///c', turns: [] }
  expect(v03.stateDown('chat', own, { viewer: 'me', summary: listed })).toMatchObject({
    summary: { workingDirectory: 'file:///c', provider: 'p' },
  })
  expect(v03.stateDown('chat', own)).toStrictEqual({
    summary: {
      resource: 'c',
      provider: '',
      title: 'Chat',
      status: 8,
      modifiedAt,
      workingDirectory: 'file:///c',
    },
    lifecycle: 'ready',
    turns: [],
  })
})

const lowered = (kind: KindName, action: Action & object, states?: { before: object; after: object }) =>
  v03.actionDown(kind, deepFreeze(action), states && { viewer: 'me', ...deepFreeze(states) })

test('[V18.1] [V18] [HC-13] the actions of a chat are actions of the session, and read no state', () => {
  const types = [...knownIn('0.4.0')].filter((type) => type.startsWith('chat/'))
  expect(types).toHaveLength(22)
  for (const type of types) {
    const older = type.replace('chat/', 'session/')
    const payload = { turnId: 't', part: { kind: 'markdown' } }
    expect(lowered('chat', { type, ...payload })).toStrictEqual([{ type: older, ...payload }])
    expect(v03.actionUp('session', { type: older }, lifting())).toStrictEqual({ type })
  }
})

test('[V18] an action of a session that stands in the channel of a chat does nothing', () => {
  const title = { type: 'session/titleChanged', title: 'U' }
  expect(lowered('chat', title)).toStrictEqual([])
  expect(lowered('session', title)).toStrictEqual([title])
})

test.each<[string, object, object]>([
  [
    'turnStarted',
    { message: message('agent', notes), _meta: {} },
    { message: message('systemNotification', label) },
  ],
  ['pendingMessageSet', { id: 'q', message: message('user') }, { id: 'q', message: message('user') }],
  [
    'toolCallConfirmed',
    { userSuggestion: message('user', notes) },
    { userSuggestion: message('user', label) },
  ],
  ['toolCallStart', { _meta: { keep: 1, 'x-atrium': {} } }, { _meta: { keep: 1 } }],
  ['toolCallReady', { _meta: { 'x-atrium.over': {} } }, {}],
  ['delta', { content: 'x', _meta: {} }, { content: 'x' }],
  ['responsePart', { part: call({ 'x-atrium': 1 }) }, { part: call() }],
])('[V18.4] [V18] chat/%s has no additions of 0.4', (name, payload, older) => {
  expect(lowered('chat', { type: `chat/${name}`, ...payload })).toStrictEqual([
    { type: `session/${name}`, ...older },
  ])
})

test('[V18.3] [V18] [HC-2] a switch of the primary chat needs a new snapshot; other chats are not seen', () => {
  const change = (type: string, after: object, before: object = session) =>
    lowered('session', { type }, { before, after })
  expect(change('session/defaultChatChanged', { ...session, defaultChat: 'other' })).toBe(rebuild)
  expect(change('session/defaultChatChanged', { ...session, defaultChat: 'c' })).toStrictEqual([])
  expect(change('session/chatRemoved', { ...session, chats: session.chats.slice(0, 1) })).toBe(rebuild)
  expect(change('session/chatRemoved', { ...session, chats: session.chats.slice(1) })).toStrictEqual([])
  const third = { ...session, chats: [...session.chats, { ...entry, resource: 'third' }] }
  expect(change('session/chatAdded', third)).toStrictEqual([])
  expect(change('session/chatAdded', session, { ...session, chats: [] })).toBe(rebuild)
})

test('[V18.2] [V18] the activity is that of the session, which follows its chats', () => {
  const changed = { type: 'session/activityChanged', activity: 'reads' }
  expect(v03.actionDown('session', changed)).toEqual([changed])
  const updated = { type: 'session/chatUpdated', chat: 'c', changes: { activity: 'reads' } }
  expect(v03.actionDown('session', updated)).toEqual([])
})

const operation = { id: 'o', label: 'O', scopes: ['changeset'] }
const failure = { errorType: 'e', message: 'm' }

test('[V18.5] [V18] a changeset has no groups and no disabled operations, and an error only if it failed', () => {
  const operations = [
    { ...operation, status: 'disabled', group: 'g' },
    { ...operation, status: 'error', error: failure },
  ]
  const older = [{ ...operation, status: 'idle' }, operations[1]]
  const state = { status: 'ready', error: failure, files: [], operations }
  expect(v03.stateDown('changeset', deepFreeze(state))).toStrictEqual({
    status: 'ready',
    files: [],
    operations: older,
  })
  const failed = deepFreeze({ status: 'error', error: failure, files: [] })
  expect(v03.stateDown('changeset', failed)).toBe(failed)
  const changed = { type: 'changeset/operationsChanged', operations }
  expect(lowered('changeset', changed)).toStrictEqual([{ ...changed, operations: older }])
  const status = { type: 'changeset/operationStatusChanged', operationId: 'o', status: 'disabled' }
  expect(lowered('changeset', status)).toStrictEqual([{ ...status, status: 'idle' }])
})

test('[V18.5] [V18] new content of a changeset is sent file by file', () => {
  const files = [{ id: 'a' }, { id: 'b' }]
  const content = { type: 'changeset/contentChanged', files }
  const ready = { status: 'ready', files: [] }
  const filled = [
    { type: 'changeset/cleared' },
    { type: 'changeset/fileSet', file: { id: 'a' } },
    { type: 'changeset/fileSet', file: { id: 'b' } },
  ]
  expect(lowered('changeset', content, { before: ready, after: ready })).toStrictEqual(filled)
  const disabled = [{ ...operation, status: 'disabled' }]
  expect(
    lowered('changeset', { ...content, operations: disabled } as Action, { before: ready, after: ready }),
  ).toStrictEqual([
    ...filled,
    { type: 'changeset/operationsChanged', operations: [{ ...operation, status: 'idle' }] },
  ])
  const failed = { status: 'error', files: [] }
  expect(
    lowered('changeset', content, { before: { ...failed, error: failure }, after: failed }),
  ).toStrictEqual([...filled, { type: 'changeset/statusChanged', status: 'error' }])
  expect(
    lowered('changeset', content, { before: failed, after: { ...failed, error: failure } }),
  ).toStrictEqual([...filled, { type: 'changeset/statusChanged', status: 'error', error: failure }])
  expect(() => lowered('changeset', content)).toThrow(ContextMissing)
})

test('[V18] there are no annotations and no open keys in settings', () => {
  const property = { type: 'object', title: 'T', additionalProperties: { type: 'string', title: 'U' } }
  const schema = (one: object) => ({ type: 'object', properties: { one } })
  const config = (one: object) => ({ schema: schema(one), values: {} })
  const older = { type: 'object', title: 'T' }
  expect(v03.stateDown('root', { agents: [], config: config(property), _meta: {} })).toStrictEqual({
    agents: [],
    config: config(older),
  })
  expect(v03.resultDown('resolveSessionConfig', config(property))).toStrictEqual(config(older))
  expect(v03.stateDown('session', { ...session, config: config(property) })).toMatchObject({
    config: config(older),
  })
  const item = (attachment: object) => ({ items: [{ insertText: 'i', attachment }] })
  expect(v03.resultDown('completions', item(notes))).toStrictEqual(item(label))
  const annotated = { ...summary, annotations: {} }
  expect(v03.resultDown('listSessions', { items: [annotated] })).toStrictEqual({ items: [summary] })
  expect(
    v03.notificationDown('root/sessionSummaryChanged', { session: 's', changes: { annotations: {} } }),
  ).toBeUndefined()
  expect(lowered('annotations', { type: 'annotations/set' })).toStrictEqual([])
  expect(v03.stateDown('annotations', { annotations: [{}] })).toStrictEqual({})
  expect(['createChat', 'disposeChat'].map((method) => v03.knows(method))).toEqual([false, false])
  const page = { turns: chat.turns, hasMore: false }
  expect(v03.resultDown('fetchTurns', page)).toMatchObject({
    turns: [{ message: message('systemNotification', label) }],
    hasMore: false,
  })
})
