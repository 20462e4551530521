import { expect, test } from 'vitest'
import { deepFreeze } from '../../../test/cases.ts'
import { frozen, lifting } from '../../../test/lifting.ts'
import { ContextMissing, Refusal, rebuild } from '../lens.ts'
import { hasKind } from '../step.ts'
import { v08 } from './v0-8.ts'

const failure = { errorType: 'network', message: 'the line is dead' }
const error = (message = failure.message) => ({
  kind: 'error',
  error: { ...failure, message },
  resumable: true,
})
const notice = (content: string) => ({ kind: 'systemNotification', content })
const text = { kind: 'markdown', id: 'p', content: 'x' }
const message = (kind: string) => ({ text: 't', origin: { kind } })
const turn = (state: string, ...responseParts: readonly object[]) => ({
  id: state,
  message: message('user'),
  responseParts,
  state,
})
const { down, lowered, lifted } = frozen(v08)

test('[V5.5] [V11.2] [V11] [HC-21] a turn that is resumed cannot be shown by actions', () => {
  expect(lowered('chat', { type: 'chat/turnResume', turnId: 't' })).toBe(rebuild)
})

test('[V11.2] [V11] [HC-22] the last error part of a failed turn becomes its error; earlier ones become notices', () => {
  const state = {
    turns: [
      turn('error', text, error('first'), error('last')),
      turn('complete', error('resumed'), text),
      turn('cancelled', text),
    ],
    activeTurn: { id: 'a', responseParts: [text, error('open')] },
  }
  expect(down('chat', state)).toStrictEqual({
    turns: [
      { ...turn('error', text, notice('first')), error: { ...failure, message: 'last' } },
      turn('complete', notice('resumed'), text),
      turn('cancelled', text),
    ],
    activeTurn: { id: 'a', responseParts: [text, notice('open')] },
  })
  const action = { type: 'chat/error', turnId: 't', duration: 3 }
  expect(lowered('chat', { ...action, part: error() })).toStrictEqual([{ ...action, error: failure }])
  expect(lowered('chat', { type: 'chat/responsePart', turnId: 't', part: error() })).toEqual([])
  expect(v08.resultDown('fetchTurns', { turns: state.turns.slice(0, 1), hasMore: false })).toMatchObject({
    turns: [{ error: { message: 'last' } }],
    hasMore: false,
  })
})

test('[V11.3] [V11] [HC-27] a terminal that exited without a code has the code -1', () => {
  const terminal = { title: 't', content: [], claim: { kind: 'client', clientId: 'c' } }
  const ended = (exitCode?: number) => ({
    ...terminal,
    lifecycle: { status: 'exited', ...(exitCode !== undefined && { exitCode }) },
  })
  expect(down('terminal', ended())).toStrictEqual({ ...terminal, exitCode: -1 })
  expect(down('terminal', ended(0))).toStrictEqual({ ...terminal, exitCode: 0 })
  expect(down('terminal', { ...terminal, lifecycle: { status: 'running' } })).toStrictEqual(terminal)
  expect(down('root', { agents: [], terminals: [ended(2)] })).toStrictEqual({
    agents: [],
    terminals: [{ ...terminal, exitCode: 2 }],
  })
  expect(lowered('terminal', { type: 'terminal/exited' })).toStrictEqual([
    { type: 'terminal/exited', exitCode: -1 },
  ])
})

test('[V11.3] [V11] a claim of a session has no chat; the client that claims for a session means its default chat', () => {
  const older = { type: 'terminal/claimed', claim: { kind: 'session', session: 's', turnId: 't' } }
  const newer = { ...older, claim: { ...older.claim, chat: 'c' } }
  expect(lowered('terminal', newer)).toStrictEqual([older])
  expect(lifted('terminal', older, lifting({ defaultChat: 'c' }))).toStrictEqual(newer)
  expect(lifted('terminal', older)).toBeInstanceOf(Refusal)
  const byClient = { type: 'terminal/claimed', claim: { kind: 'client', clientId: 'c' } }
  expect(lifted('terminal', byClient)).toBe(byClient)
})

const annotation = { id: 'a', resource: 'file:///f', resolved: false, entries: [] }
const inTurn = { ...annotation, origin: { session: 's', chat: 'c', turnId: 't' } }
const inChat = { ...annotation, origin: { session: 's', chat: 'c' } }
const old = { ...annotation, turnId: 't' }

test('[V11.4] [V11] [HC-28] an annotation without a turn is not shown', () => {
  expect(down('annotations', { annotations: [inTurn, inChat] })).toStrictEqual({ annotations: [old] })
  const set = (given: object) => lowered('annotations', { type: 'annotations/set', annotation: given })
  expect(set(inTurn)).toStrictEqual([{ type: 'annotations/set', annotation: old }])
  const removed = [{ type: 'annotations/removed', annotationId: 'a' }]
  expect(set(inChat)).toStrictEqual(removed)
  const update = { type: 'annotations/updated', annotationId: 'a' }
  const moved = { ...update, origin: inTurn.origin }
  const from = (before: object) => ({ before: { annotations: [before] }, after: { annotations: [inTurn] } })
  expect(lowered('annotations', { ...update, origin: inChat.origin })).toStrictEqual(removed)
  expect(lowered('annotations', moved, from(inTurn))).toStrictEqual([{ ...update, turnId: 't' }])
  expect(lowered('annotations', moved, from(inChat))).toStrictEqual([
    { type: 'annotations/set', annotation: old },
  ])
  expect(() => lowered('annotations', moved)).toThrow(ContextMissing)
  const resolved = { ...update, resolved: true }
  expect(lowered('annotations', resolved)).toStrictEqual([resolved])
})

test('[V11] an annotation of an older client belongs to the session of the channel', () => {
  const context = lifting({})
  const origin = { session: 'ahp-session:/s', turnId: 't' }
  expect(lifted('annotations', { type: 'annotations/set', annotation: old }, context)).toEqual({
    type: 'annotations/set',
    annotation: { ...annotation, origin },
  })
  const update = { type: 'annotations/updated', annotationId: 'a' }
  expect(lifted('annotations', { ...update, turnId: 't' }, context)).toEqual({
    ...update,
    origin,
  })
  expect(lifted('annotations', update, context)).toBe(update)
  expect(lifted('annotations', { ...update, turnId: 't' }, lifting())).toBeInstanceOf(Refusal)
})

test('[V11.1] [V11] [HC-31] a message of an automation is a notice of the system', () => {
  const queued = (kind: string) => ({ id: 'q', message: message(kind) })
  const chat = (kind: string) => ({
    turns: [{ ...turn('complete', text), message: message(kind) }],
    activeTurn: { id: 'a', message: message(kind), responseParts: [] },
    steeringMessage: queued(kind),
    queuedMessages: [queued(kind)],
    draft: message(kind),
  })
  expect(down('chat', chat('automation'))).toStrictEqual(chat('systemNotification'))
  const user = deepFreeze(chat('user'))
  expect(v08.stateDown('chat', user)).toBe(user)
  for (const [type, key] of [
    ['chat/turnStarted', 'message'],
    ['chat/pendingMessageSet', 'message'],
    ['chat/draftChanged', 'draft'],
    ['chat/toolCallConfirmed', 'userSuggestion'],
  ] as const) {
    const action = (kind: string) => ({ type, [key]: message(kind) })
    expect(lowered('chat', action('automation'))).toStrictEqual([action('systemNotification')])
  }
})

test('[V11.4] [V11] [HC-34] a changeset that is computed again is computed', () => {
  expect(down('changeset', { status: 'recomputing', files: [] })).toEqual({ status: 'computing', files: [] })
  expect(lowered('changeset', { type: 'changeset/statusChanged', status: 'recomputing' })).toEqual([
    { type: 'changeset/statusChanged', status: 'computing' },
  ])
})

test('[V11.4] [V11] new content of a changeset is sent with the error that stays', () => {
  const action = { type: 'changeset/contentChanged', files: [] }
  const states = (after: object) => ({ before: {}, after })
  expect(lowered('changeset', action, states({ error: failure }))).toEqual([{ ...action, error: failure }])
  expect(lowered('changeset', action, states({}))).toEqual([action])
  expect(() => lowered('changeset', action)).toThrow(ContextMissing)
})

test('[V11.1] [V11] a session has no origin, and one that could not be created has the older name for that', () => {
  const session = { title: 't', chats: [] }
  expect(down('session', { ...session, origin: {}, lifecycle: 'failed' })).toEqual({
    ...session,
    lifecycle: 'creationFailed',
  })
  const summary = { resource: 's', origin: {} }
  expect(v08.notificationDown('root/sessionAdded', { summary })).toEqual({ summary: { resource: 's' } })
  expect(v08.notificationDown('root/sessionSummaryChanged', { changes: { origin: {} } })).toBeUndefined()
  expect(v08.resultDown('listSessions', { items: [summary] })).toEqual({ items: [{ resource: 's' }] })
  expect(v08.resultDown('initialize', { serverSeq: 1, _meta: {}, automations: {} })).toEqual({ serverSeq: 1 })
})

test('[V11.1] [V11] 0.8 has no automations and no canvases', () => {
  for (const kind of ['automation', 'automationRun', 'canvas'] as const) {
    expect(hasKind('0.8.0', kind)).toBe(false)
    expect(v08.stateDown(kind, { entries: [1] })).toEqual({})
  }
  expect(lowered('automation', { type: 'automation/set' })).toEqual([])
  expect(v08.knows('runAutomation')).toBe(false)
  expect(hasKind('0.8.0', 'annotations')).toBe(true)
})

test('[V11] an action that 0.8 has too is returned as the same object', () => {
  const delta = { type: 'chat/delta', turnId: 't', partId: 'p', content: 'x' }
  const part = { type: 'chat/responsePart', turnId: 't', part: text }
  for (const action of [delta, part]) expect(lowered('chat', deepFreeze(action))).toStrictEqual([action])
  expect(v08.actionDown('chat', delta)[0]).toBe(delta)
  expect(v08.actionDown('chat', part)[0]).toBe(part)
})

test('[V11] [HC-32] the fork of a session is taken as the client names it', () => {
  const params = { channel: 's', fork: { session: 'o', turnId: 't' } }
  expect(v08.paramsUp('createSession', params)).toBe(params)
})
