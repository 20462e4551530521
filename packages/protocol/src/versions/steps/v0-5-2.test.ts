import { expect, test } from 'vitest'
import { frozen, lifting } from '../../../test/lifting.ts'
import { Refusal } from '../lens.ts'
import { v052 } from './v0-5-2.ts'

const { down, lowered, lifted } = frozen(v052)

const message = { text: 't', origin: { kind: 'user' } }
const text = { kind: 'markdown', id: 'p', content: 'x' }
const request = { id: 'r', message: 'Which?' }
const open = { kind: 'inputRequest', request }
const answered = { ...open, response: 'accept' }
const turn = (...responseParts: readonly object[]) => ({ id: 't', message, responseParts })
const call = (status: string, more = {}) => ({ toolCallId: 'x', status, ...more })
const chat = (status: number, ...responseParts: readonly object[]) => ({
  status,
  turns: [],
  activeTurn: turn(...responseParts),
})
const toolCall = (status: string, more = {}) => ({ kind: 'toolCall', toolCall: call(status, more) })

test('[V14.1] [V14] [HC-5] an answered request is a part of its turn; an open one is listed beside the turns', () => {
  const state = chat(24, open, text, answered)
  expect(down('chat', state)).toStrictEqual({ ...chat(24, text, answered), inputRequests: [request] })
  const completed = { type: 'chat/inputCompleted', requestId: 'r', response: 'accept' }
  const [same] = lowered('chat', completed)
  expect(same).toBe(completed)
  const requested = { type: 'chat/inputRequested', request }
  expect(lowered('chat', requested)).toStrictEqual([requested])
  const part = { type: 'chat/responsePart', turnId: 't' }
  expect(lowered('chat', { ...part, part: open })).toStrictEqual([requested])
  expect(lowered('chat', { ...part, part: answered })).toStrictEqual([{ ...part, part: answered }])
})

test('[V14.1] [V14] [HC-10] a request that was never answered leaves nothing in a turn that ended', () => {
  const state = { status: 1, turns: [{ ...turn(open, text), state: 'complete' }] }
  expect(down('chat', state)).toStrictEqual({ status: 1, turns: [{ ...turn(text), state: 'complete' }] })
})

test('[V14] [HC-11] a chat without an active turn has no open request', () => {
  expect(down('chat', { status: 1, turns: [] })).toStrictEqual({ status: 1, turns: [] })
})

test('[V14] the answers of an open request are absent if there are none', () => {
  const without = chat(24, { ...open, request: { ...request, answers: {} } })
  expect(down('chat', without)).toMatchObject({ inputRequests: [request] })
  const answers = { q: { state: 'draft' } }
  expect(down('chat', chat(24, { ...open, request: { ...request, answers } }))).toMatchObject({
    inputRequests: [{ ...request, answers }],
  })
})

test('[V14.2] [V14] turns have no times; an older client gets the time and the duration of the host', () => {
  const times = { startedAt: 'now', duration: 3 }
  const timed = {
    turns: [{ ...turn(text), ...times }],
    activeTurn: { ...turn(), startedAt: 'now' },
    status: 8,
  }
  expect(down('chat', timed)).toStrictEqual({ turns: [turn(text)], activeTurn: turn(), status: 8 })
  for (const type of ['chat/turnStarted', 'chat/turnComplete', 'chat/turnCancelled', 'chat/error'])
    expect(lowered('chat', { type, turnId: 't', ...times })).toStrictEqual([{ type, turnId: 't' }])
  expect(v052.resultDown('fetchTurns', { turns: timed.turns })).toStrictEqual({ turns: [turn(text)] })
  const { now: startedAt, turnDuration: duration } = lifting()
  const started = { type: 'chat/turnStarted', turnId: 't', message }
  expect(lifted('chat', started)).toStrictEqual({ ...started, startedAt })
  const cancelled = { type: 'chat/turnCancelled', turnId: 't' }
  expect(lifted('chat', cancelled)).toStrictEqual({ ...cancelled, duration })
})

test('[V14.3] [V14] a tool call that waits for a login is running', () => {
  const waiting = toolCall('auth-required', { auth: {}, content: [] })
  const running = toolCall('running', { content: [] })
  expect(down('chat', chat(24 + 64, waiting))).toStrictEqual(chat(8 + 64, running))
  const asked = toolCall('pending-confirmation')
  expect(down('chat', chat(24, waiting, asked))).toStrictEqual(chat(24, running, asked))
  for (const type of ['chat/toolCallAuthRequired', 'chat/toolCallAuthResolved'])
    expect(lowered('chat', { type, turnId: 't', toolCallId: 'x' })).toEqual([])
})

test('[V14.3] [V14] a session does not list the logins of tool calls', () => {
  const login = { id: 'l', kind: 'toolAuthentication', toolCall: call('auth-required') }
  const other = { id: 'o', kind: 'chatInput' }
  expect(down('session', { status: 24, inputNeeded: [login] })).toStrictEqual({ status: 8 })
  expect(down('session', { status: 24, inputNeeded: [login, other] })).toStrictEqual({
    status: 24,
    inputNeeded: [other],
  })
  const set = (entry: object) => lowered('session', { type: 'session/inputNeededSet', request: entry })
  expect(set(login)).toStrictEqual([{ type: 'session/inputNeededRemoved', id: 'l' }])
  expect(set(other)).toStrictEqual([{ type: 'session/inputNeededSet', request: other }])
})

test('[V14] an empty list of open requests is absent, as it is after the login of a tool call', () => {
  expect(down('session', { status: 1, inputNeeded: [] })).toStrictEqual({ status: 1 })
})

test('[V14.3] [V14] [HC-6] the risk of a tool call is not shown', () => {
  const risk = { riskAssessment: { kind: 'judge', status: 'loading' } }
  expect(down('chat', chat(24, toolCall('pending-confirmation', risk)))).toStrictEqual(
    chat(24, toolCall('pending-confirmation')),
  )
  const ready = { type: 'chat/toolCallReady', toolCallId: 'x', invocationMessage: 'm' }
  expect(lowered('chat', { ...ready, ...risk })).toStrictEqual([ready])
})

test('[V14.4] [V14] the review of files has its older name, and only the host reviews', () => {
  const newer = { type: 'changeset/filesReviewChanged', files: ['a'], reviewed: true }
  const older = { type: 'changeset/filesReviewedChanged', reviewed: true, fileIds: ['a'] }
  expect(lowered('changeset', newer)).toStrictEqual([older])
  expect(lifted('changeset', older)).toBeInstanceOf(Refusal)
  const changesets = [{ label: 'L', capabilities: { review: {} } }]
  expect(lowered('session', { type: 'session/changesetsChanged', changesets })).toStrictEqual([
    { type: 'session/changesetsChanged', changesets: [{ label: 'L' }] },
  ])
  expect(down('session', { status: 1, changesets })).toStrictEqual({
    status: 1,
    changesets: [{ label: 'L' }],
  })
})

test('[V14] the login of an MCP server names no client, and a notice has no metadata', () => {
  const server = (state: object) => [{ type: 'plugin', children: [{ type: 'mcpServer', state }] }]
  const newer = { kind: 'authRequired', oauthClient: { clientId: 'c', clientSecret: 's' } }
  const older = { kind: 'authRequired' }
  expect(down('session', { status: 1, customizations: server(newer) })).toStrictEqual({
    status: 1,
    customizations: server(older),
  })
  const changed = { type: 'session/mcpServerStateChanged', id: 'm' }
  expect(lowered('session', { ...changed, state: newer })).toStrictEqual([{ ...changed, state: older }])
  const notice = { kind: 'systemNotification', content: 'c' }
  expect(down('chat', chat(8, { ...notice, _meta: {} }))).toStrictEqual(chat(8, notice))
})
