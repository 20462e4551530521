import { expect, test } from 'vitest'
import { frozen } from '../../../test/lifting.ts'
import { AhpError } from '../../errors.ts'
import { v06 } from './v0-6.ts'

const { down, lowered, lifted } = frozen(v06)

test('[V13.1] [V13] [HC-25] the first working directory is the only one, and later changes are not sent', () => {
  const newer = { title: 't', workingDirectories: ['a', 'b'] }
  const older = { title: 't', workingDirectory: 'a' }
  expect(down('session', { ...newer, chats: [newer] })).toStrictEqual({ ...older, chats: [older] })
  expect(down('session', { title: 't', workingDirectories: [], chats: [] })).toStrictEqual({
    title: 't',
    chats: [],
  })
  expect(down('chat', { ...newer, turns: [] })).toStrictEqual({ ...older, turns: [] })
  for (const type of ['session/workingDirectorySet', 'session/workingDirectoryRemoved'])
    expect(lowered('session', { type, directory: 'a' })).toEqual([])
  expect(lowered('session', { type: 'session/chatAdded', summary: newer })).toStrictEqual([
    { type: 'session/chatAdded', summary: older },
  ])
  const updated = { type: 'session/chatUpdated', chat: 'c' }
  const update = (changes: object) => lowered('session', { ...updated, changes })
  expect(update(newer)).toStrictEqual([{ ...updated, changes: older }])
  expect(update({ workingDirectories: [] })).toEqual([])
  expect(v06.notificationDown('root/sessionAdded', { summary: newer })).toStrictEqual({ summary: older })
  expect(v06.notificationDown('root/sessionSummaryChanged', { changes: newer })).toEqual({ changes: older })
  expect(
    v06.notificationDown('root/sessionSummaryChanged', { changes: { workingDirectories: [] } }),
  ).toBeUndefined()
  expect(v06.resultDown('listSessions', { items: [newer] })).toStrictEqual({ items: [older] })
})

test('[V13] [HC-25] a client names one working directory for a new session', () => {
  const up = (params: object) => v06.paramsUp('createSession', params)
  expect(up({ channel: 's', workingDirectory: 'a' })).toStrictEqual({
    channel: 's',
    workingDirectories: ['a'],
  })
  expect(() => up({ workingDirectory: 3 })).toThrow(AhpError)
  const none = { channel: 's' }
  expect(up(none)).toBe(none)
})

test('[V13] the source of a new chat is always a fork', () => {
  const source = { chat: 'c', turnId: 't' }
  expect(v06.paramsUp('createChat', { chat: 'd', source })).toEqual({
    chat: 'd',
    source: { kind: 'fork', ...source },
  })
})

test('[V13.2] [V13] [HC-23] a tool input outside the state is a text with its URI, and cannot be edited', () => {
  const toolInput = { uri: 'ahp-content:/1', sizeHint: 9 }
  const named = 'The input is stored at ahp-content:/1.'
  const state = (call: object) => ({
    turns: [],
    activeTurn: { responseParts: [{ kind: 'toolCall', toolCall: call }] },
  })
  const pending = { toolCallId: 'x', status: 'pending-confirmation', editable: true }
  expect(down('chat', state({ ...pending, toolInput }))).toStrictEqual(
    state({ ...pending, toolInput: named, editable: false }),
  )
  const running = { toolCallId: 'x', status: 'running' }
  expect(down('chat', state({ ...running, toolInput }))).toStrictEqual(
    state({ ...running, toolInput: named }),
  )
  const needed = (input: unknown) => ({
    inputNeeded: [{ id: 'n', toolCall: { ...running, toolInput: input } }],
  })
  expect(down('session', needed(toolInput))).toStrictEqual(needed(named))
  const ready = { type: 'chat/toolCallReady', toolCallId: 'x' }
  expect(lowered('chat', { ...ready, toolInput, editable: true })).toStrictEqual([
    { ...ready, toolInput: named, editable: false },
  ])
  const confirmed = { ...ready, confirmed: 'not-needed' }
  expect(lowered('chat', { ...confirmed, toolInput })).toStrictEqual([{ ...confirmed, toolInput: named }])
})

test('[V13] a call that is ready keeps its contributor and intention; a text of a call is never missing', () => {
  const ready = { type: 'chat/toolCallReady', toolCallId: 'x', toolInput: 'i' }
  expect(lowered('chat', { ...ready, intention: 'why', contributor: { kind: 'mcp' } })).toStrictEqual([ready])
  const delta = { type: 'chat/toolCallDelta', toolCallId: 'x' }
  expect(lowered('chat', { ...delta, invocationMessage: 'm' })).toStrictEqual([
    { ...delta, invocationMessage: 'm', content: '' },
  ])
})

test('[V13.3] [V13] [HC-31] a side chat is a chat of the user, and a chat as an attachment is a text', () => {
  expect(down('chat', { origin: { kind: 'sideChat', chat: 'c', turnId: 't' }, turns: [] })).toStrictEqual({
    origin: { kind: 'user' },
    turns: [],
  })
  const message = (attachment: object) => ({ text: 't', origin: { kind: 'user' }, attachments: [attachment] })
  const newer = { type: 'chat', label: 'L', resource: 'ahp-chat:/c' }
  const older = { type: 'simple', label: 'L', modelRepresentation: 'Chat ahp-chat:/c' }
  expect(down('chat', { turns: [], draft: message(newer) })).toStrictEqual({
    turns: [],
    draft: message(older),
  })
  const started = { type: 'chat/turnStarted', turnId: 't' }
  expect(lowered('chat', { ...started, message: message({ ...newer, endTurn: 't1' }) })).toStrictEqual([
    { ...started, message: message({ ...older, modelRepresentation: 'Chat ahp-chat:/c, up to turn t1' }) },
  ])
  expect(v06.resultDown('completions', { items: [{ attachment: newer }] })).toStrictEqual({
    items: [{ attachment: older }],
  })
})

const terminal = { type: 'terminal', resource: 't', title: 'T' }
const result = { exitCode: 1, preview: 'p' }
const complete = { type: 'terminalComplete', resource: 't', ...result }

test('[V13.4] [V13] the result of a command in a terminal is a block of its own', () => {
  const changed = (...content: readonly object[]) => ({ type: 'chat/toolCallContentChanged', content })
  const completed = (...content: readonly object[]) => ({
    type: 'chat/toolCallComplete',
    result: { content },
  })
  const newer = { ...terminal, isPty: true, result }
  expect(lowered('chat', changed(newer))).toStrictEqual([changed(terminal, complete)])
  expect(lowered('chat', completed({ ...terminal, isPty: false }))).toStrictEqual([completed(terminal)])
  expect(lifted('chat', changed(terminal, complete))).toStrictEqual(changed({ ...terminal, result }))
  expect(lifted('chat', completed({ ...complete, cwd: 'd' }))).toStrictEqual(
    completed({ type: 'terminal', resource: 't', title: 'Terminal', result }),
  )
  expect(lifted('chat', changed({ type: 'terminalComplete', preview: 'p' }))).toStrictEqual(
    changed({ type: 'text', text: 'p' }),
  )
  const plain = changed(terminal)
  expect(lifted('chat', plain)).toBe(plain)
  expect(down('terminal', { title: 't', isPty: true })).toStrictEqual({ title: 't' })
})

test('[V13] an agent has no side chats and no further working directories', () => {
  const root = (capabilities: object) => ({ agents: [{ provider: 'a', capabilities }] })
  expect(
    down('root', root({ multipleChats: { fork: true, sideChat: true }, multipleWorkingDirectories: {} })),
  ).toStrictEqual(root({ multipleChats: { fork: true } }))
})
