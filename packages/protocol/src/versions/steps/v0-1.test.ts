import { expect, test } from 'vitest'
import { deepFreeze } from '../../../test/cases.ts'
import { lifting } from '../../../test/lifting.ts'
import type { Action } from '../../channel.ts'
import { AhpError } from '../../errors.ts'
import type { KindName } from '../../reducers.ts'
import type { SessionState } from '../../session/state.ts'
import { ContextMissing, Refusal, rebuild } from '../lens.ts'
import { v01 } from './v0-1.ts'

const icons = [{ src: 'i' }]
const tree = deepFreeze([
  {
    type: 'plugin',
    id: 'a',
    uri: 'u',
    name: 'A',
    icons,
    enabled: true,
    load: { kind: 'loaded' },
    children: [],
  },
  { type: 'plugin', id: 'b', uri: 'u', name: 'B', enabled: false, clientId: 'me', nonce: 'n' },
  { type: 'directory', id: 'c', uri: 'd', name: 'C', enabled: true, load: { kind: 'error', message: 'm' } },
  { type: 'plugin', id: 'd', uri: 'e', name: 'D', enabled: true, _meta: { description: 'text' } },
])
const flat = [
  { customization: { uri: 'u', displayName: 'A', icons }, enabled: true, status: 'loaded' },
  { customization: { uri: 'u#b', displayName: 'B', nonce: 'n' }, enabled: false, clientId: 'me' },
  { customization: { uri: 'd', displayName: 'C' }, enabled: true, status: 'error', statusMessage: 'm' },
  { customization: { uri: 'e', displayName: 'D', description: 'text' }, enabled: true },
]
const refs = [
  { uri: 'u', displayName: 'A', icons },
  { uri: 'u', displayName: 'B', nonce: 'n' },
]
const newMessage = { text: 't', _meta: { m: 1 } }
const turns = (userMessage: object) => ({
  turns: [{ id: 't', userMessage, responseParts: [{ kind: 'markdown', id: 'p', content: '' }] }],
  activeTurn: {
    id: 'u',
    userMessage,
    responseParts: [{ kind: 'toolCall', toolCall: { toolClientId: 'me', userSuggestion: userMessage } }],
  },
  steeringMessage: { id: 'p', userMessage },
  queuedMessages: [{ id: 'q', userMessage }],
})
const summary = { resource: 's', status: 1, model: { id: 'm' } }

test.each<KindName>(['session', 'chat'])(
  '[V20.1] [V20] [HC-7] a %s has a flat list of customizations',
  (kind) => {
    const state = deepFreeze({
      summary: { ...summary, agent: { uri: 'a' }, changesets: [] },
      ...turns(newMessage),
      customizations: tree,
      activeClient: { clientId: 'me', tools: [], customizations: tree.slice(0, 2) },
    })
    const older = {
      summary,
      ...turns({ text: 't' }),
      customizations: flat,
      activeClient: { clientId: 'me', tools: [], customizations: refs },
    }
    expect(v01.stateDown(kind, state, { viewer: 'me' })).toStrictEqual(older)
    expect(v01.resultDown('fetchTurns', { turns: state.turns, hasMore: true })).toStrictEqual({
      turns: older.turns,
      hasMore: true,
    })
  },
)

const lowered = (action: Action & object, states?: { before: object; after: object }) =>
  v01.actionDown('session', deepFreeze(action), states && { viewer: 'me', ...deepFreeze(states) })

test.each<[string, object, object]>([
  [
    'session/turnStarted',
    { turnId: 't', userMessage: newMessage },
    { turnId: 't', userMessage: { text: 't' } },
  ],
  [
    'session/pendingMessageSet',
    { id: 'q', userMessage: newMessage },
    { id: 'q', userMessage: { text: 't' } },
  ],
  ['session/toolCallConfirmed', { userSuggestion: newMessage }, { userSuggestion: { text: 't' } }],
  ['session/customizationsChanged', { customizations: tree }, { customizations: flat }],
  [
    'session/activeClientChanged',
    { activeClient: { clientId: 'me', customizations: tree.slice(0, 2) } },
    { activeClient: { clientId: 'me', customizations: refs } },
  ],
  [
    'root/agentsChanged',
    { agents: [{ customizations: tree.slice(0, 2) }] },
    { agents: [{ customizations: refs }] },
  ],
])('[V20] %s has no additions of 0.2', (type, payload, older) => {
  expect(lowered({ type, ...payload })).toStrictEqual([{ type, ...older }])
})

test('[V20] what 0.1 does not have becomes nothing', () => {
  for (const type of [
    'session/agentChanged',
    'session/changesetsChanged',
    'changeset/cleared',
    'resourceWatch/changed',
  ])
    expect(lowered({ type })).toStrictEqual([])
  expect(v01.stateDown('changeset', { files: [{}] })).toStrictEqual({})
  const delta = { type: 'session/delta' }
  expect((v01.actionDown('session', delta) as readonly Action[])[0]).toBe(delta)
})

test('[V20.1] [V20] [HC-7] every change of customizations replaces the list', () => {
  const states = (...after: readonly object[]) => ({
    before: { customizations: tree },
    after: { customizations: after },
  })
  const list = { type: 'session/customizationsChanged', customizations: flat.slice(1) }
  const [, second = {}, ...others] = flat
  const first = { ...second, customization: { uri: 'u', displayName: 'B', nonce: 'n' } }
  for (const type of ['customizationToggled', 'customizationUpdated', 'customizationRemoved']) {
    const action = { type: `session/${type}`, id: 'a' }
    // The second item has its URI for itself now.
    expect(lowered(action, states(...tree.slice(1)))).toStrictEqual([
      { ...list, customizations: [first, ...others] },
    ])
    expect(lowered(action, states(...tree))).toStrictEqual([])
    expect(() => lowered(action)).toThrow(ContextMissing)
  }
})

test('[V20.2] [V20] [HC-3] after session/ready the flags of a session are set again', () => {
  const ready = { type: 'session/ready' }
  const made = (status: number) => lowered(ready, { before: {}, after: { summary: { ...summary, status } } })
  const read = { type: 'session/isReadChanged', isRead: true }
  const archived = { type: 'session/isArchivedChanged', isArchived: true }
  expect(made(1)).toStrictEqual([ready])
  expect(made(1 + 32)).toStrictEqual([ready, read])
  expect(made(1 + 64)).toStrictEqual([ready, archived])
  expect(made(1 + 32 + 64)).toStrictEqual([ready, read, archived])
  // No action can say again that a turn runs, or set a flag of a later version.
  for (const status of [8, 24 + 32, 2, 1 + 128]) expect(made(status)).toBe(rebuild)
  expect(() => lowered(ready)).toThrow(ContextMissing)
})

test('[V20.1] [V20] [HC-7] a customization is toggled by its URI', () => {
  // The lens reads only these keys of the session.
  const context = lifting({ customizations: tree as unknown as NonNullable<SessionState['customizations']> })
  const toggled = (uri: unknown) =>
    v01.actionUp('session', { type: 'session/customizationToggled', uri, enabled: false } as Action, context)
  const byId = (id: string) => ({ type: 'session/customizationToggled', enabled: false, id })
  expect(['u', 'u#b', 'd'].map(toggled)).toStrictEqual(['a', 'b', 'c'].map(byId))
  for (const unknown of ['x', undefined, 7]) expect(toggled(unknown)).toBeInstanceOf(Refusal)
})

test('[V20.1] [V20] [HC-7] the plugins of a client get ids that follow from the client and the URI', () => {
  const given = { clientId: 'me', tools: [], customizations: [{ ...refs[0], description: 'text' }, refs[1]] }
  const lifted = {
    clientId: 'me',
    tools: [],
    customizations: [
      {
        type: 'plugin',
        id: 'me u',
        uri: 'u',
        name: 'A',
        enabled: true,
        icons,
        _meta: { description: 'text' },
      },
      { type: 'plugin', id: 'me u', uri: 'u', name: 'B', enabled: true, nonce: 'n' },
    ],
  }
  const changed = { type: 'session/activeClientChanged', activeClient: deepFreeze(given) }
  expect(v01.actionUp('session', changed, lifting())).toStrictEqual({ ...changed, activeClient: lifted })
  const left = { type: 'session/activeClientChanged', activeClient: null }
  expect(v01.actionUp('session', left, lifting())).toBe(left)
  expect(v01.paramsUp('createSession', { session: 's', activeClient: given })).toStrictEqual({
    channel: 's',
    activeClient: lifted,
  })
})

test.each<[string, object, object]>([
  ['subscribe', { resource: 'x' }, { channel: 'x' }],
  ['unsubscribe', { resource: 'x' }, { channel: 'x' }],
  ['disposeSession', { session: 'x' }, { channel: 'x' }],
  ['fetchTurns', { session: 'x', before: 't', limit: 3 }, { channel: 'x', before: 't', limit: 3 }],
  ['completions', { session: 'x', text: '' }, { channel: 'x', text: '' }],
  ['createTerminal', { terminal: 'x', name: 'n' }, { channel: 'x', name: 'n' }],
  ['disposeTerminal', { terminal: 'x' }, { channel: 'x' }],
  ['createSession', { session: 'x', model: 'm' }, { channel: 'x', model: { id: 'm' } }],
  ['createSession', { session: 'x', model: { id: 'm' } }, { channel: 'x', model: { id: 'm' } }],
  ['initialize', { clientId: 'me' }, { clientId: 'me', channel: 'ahp-root://' }],
  ['ping', {}, { channel: 'ahp-root://' }],
  ['reconnect', { subscriptions: [] }, { subscriptions: [], channel: 'ahp-root://' }],
  ['listSessions', {}, { channel: 'ahp-root://' }],
  ['authenticate', { resource: 'r' }, { resource: 'r', channel: 'ahp-root://' }],
  ['resourceRead', { uri: 'u' }, { uri: 'u', channel: 'ahp-root://' }],
  ['resourceWrite', { uri: 'u', mode: 'append', ifMatch: 'e' }, { uri: 'u', channel: 'ahp-root://' }],
])('[V20.3] [V20] [HC-1] the params of %s name the channel', (method, params, expected) => {
  expect(v01.paramsUp(method, deepFreeze(params))).toStrictEqual(expected)
})

test('[V20] [HC-32] the source of a fork stays in the params of a new session', () => {
  const fork = { session: 'o', turnId: 't' }
  expect(v01.paramsUp('createSession', { session: 'x', fork })).toStrictEqual({ channel: 'x', fork })
})

test.each<[string, object, string]>([
  ['subscribe', { channel: 'x' }, 'subscribe: resource is missing or not a URI'],
  ['unsubscribe', { resource: 7 }, 'unsubscribe: resource is missing or not a URI'],
  ['createSession', { session: '' }, 'createSession: session is missing or not a URI'],
  ['createTerminal', { channel: 'x' }, 'createTerminal: terminal is missing or not a URI'],
  [
    'dispatchAction',
    { clientSeq: 1, channel: 's', action: { type: 'session/turnCancelled' } },
    'dispatchAction: action: session is missing or not a URI',
  ],
  [
    'dispatchAction',
    { clientSeq: 1, action: { type: 'terminal/input', session: 's' } },
    'dispatchAction: action: terminal is missing or not a URI',
  ],
])('[V20.3] [V20] [HC-19] %s is refused in the words of 0.1', (method, params, problem) => {
  expect(() => v01.paramsUp(method, params)).toThrow(AhpError.invalidParams(problem))
})

test('[V20.3] [V20] [HC-19] an action names its channel itself', () => {
  const dispatched = (action: object) => v01.paramsUp('dispatchAction', { clientSeq: 1, action })
  const is = (channel: string, action: object) => ({ clientSeq: 1, channel, action })
  expect(dispatched({ type: 'session/turnCancelled', session: 's', turnId: 't' })).toStrictEqual(
    is('s', { type: 'session/turnCancelled', turnId: 't' }),
  )
  expect(dispatched({ type: 'terminal/input', terminal: 'x', data: '' })).toStrictEqual(
    is('x', { type: 'terminal/input', data: '' }),
  )
  const config = { type: 'root/configChanged', config: {} }
  expect(dispatched(config)).toStrictEqual(is('ahp-root://', config))
})

test('[V20.4] [V20] [HC-16] [HC-17] the notifications that 0.1 has in a wrapper have no channel', () => {
  const channel = 'ahp-root://'
  const listed = { ...summary, modifiedAt: 5 }
  const down = (method: string, params: object) => v01.notificationDown(method, { channel, ...params })
  expect(down('root/sessionAdded', { summary: { ...listed, agent: {} } })).toStrictEqual({ summary: listed })
  expect(down('root/sessionRemoved', { session: 's' })).toStrictEqual({ session: 's' })
  expect(
    down('root/sessionSummaryChanged', { session: 's', changes: { modifiedAt: 5, changesets: [] } }),
  ).toStrictEqual({
    session: 's',
    changes: { modifiedAt: 5 },
  })
  expect(down('root/sessionSummaryChanged', { session: 's', changes: { agent: {} } })).toBeUndefined()
  expect(down('auth/required', { resource: 'r', reason: 'expired' })).toStrictEqual({
    resource: 'r',
    reason: 'expired',
  })
  const wrapped = ['root/sessionAdded', 'root/sessionRemoved', 'root/sessionSummaryChanged', 'auth/required']
  for (const method of [...wrapped, 'subscribe', 'action', 'unsubscribe'])
    expect(v01.knows(method)).toBe(true)
  for (const method of ['root/progress', 'otlp/exportLogs', 'createChat', 'resourceMkdir', 'constructor'])
    expect(v01.knows(method)).toBe(false)
})

test('[V20] results have no additions of 0.2', () => {
  expect(v01.resultDown('initialize', { serverSeq: 1, telemetry: {} })).toStrictEqual({ serverSeq: 1 })
  expect(v01.resultDown('listSessions', { items: [{ ...summary, agent: {} }] })).toStrictEqual({
    items: [summary],
  })
  expect(v01.stateDown('root', { agents: [{ customizations: tree.slice(0, 2) }] })).toStrictEqual({
    agents: [{ customizations: refs }],
  })
})

test('[V20] [HC-20] an error that asks for a sign-in has its resources in an object', () => {
  const resource = { resource: 'https://r' }
  expect(AhpError.authRequired('sign in first', [resource]).data).toStrictEqual({ resources: [resource] })
})
