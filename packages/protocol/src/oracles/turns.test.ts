import { describe, expect, test } from 'vitest'
import { converse, now, reduce, spans } from '../../test/older-conversation.ts'

const message = { text: 'hi', origin: { kind: 'user' } }
const began = '1970-01-01T00:00:02.000Z'
const running = { id: 't1', startedAt: began, message, responseParts: [] }
const start = { type: 'turnStarted', turnId: 't1', startedAt: began, message }
const readAndArchived = 32 | 64

describe('the start of a turn', () => {
  test.each(spans(['0.3.0', '0.5.2', { message }], ['0.6.0', '1.0.0', { message, startedAt: began }]))(
    '[V7] $version keeps $expected',
    ({ version, expected }) => {
      const { activeTurn, status } = converse(version, { status: 1 | readAndArchived }, start)
      expect(activeTurn).toEqual({ id: 't1', responseParts: [], ...expected })
      expect(status, 'in progress and no longer read').toBe(8 | 64)
    },
  )

  test.each(spans(['0.1.0', '0.2.0', undefined]))(
    '[V7] $version keeps the message of a user',
    ({ version }) => {
      const userMessage = { text: 'hi' }
      const state = { summary: { status: 33, modifiedAt: 1 }, turns: [] }
      const action = {
        type: 'session/turnStarted',
        session: 'copilot:/s',
        turnId: 't1',
        userMessage,
        message,
      }
      expect(reduce(version, 'session', state, action)).toEqual({
        summary: { status: 8, modifiedAt: now },
        turns: [],
        activeTurn: { id: 't1', userMessage, responseParts: [] },
      })
      const queued = { type: 'session/pendingMessageSet', kind: 'queued', id: 'q', userMessage }
      const steering = { ...queued, kind: 'steering', id: 's' }
      expect(reduce(version, 'session', state, queued, steering)).toEqual({
        ...state,
        queuedMessages: [{ id: 'q', userMessage }],
        steeringMessage: { id: 's', userMessage },
      })
    },
  )

  test.each(spans(['0.1.0', '0.8.0', now], ['0.9.0', '1.0.0', 2000]))(
    '[V7] $version sets the time of the last change to $expected',
    ({ version, expected }) => {
      expect(converse(version, {}, start)).toMatchObject({ modifiedAt: expected })
    },
  )

  test.each(spans(['0.1.0', '1.0.0', undefined]))(
    '[V7] $version replaces a running turn, and takes its message out of the queue',
    ({ version }) => {
      const pending = { steeringMessage: { id: 'a' }, queuedMessages: [{ id: 'a' }, { id: 'b' }] }
      const state = { ...pending, activeTurn: { ...running, id: 't0' } }
      expect(converse(version, state, { ...start, queuedMessageId: 'a' })).toMatchObject({
        turns: [],
        activeTurn: { id: 't1' },
        queuedMessages: [{ id: 'b' }],
      })
      const last = converse(version, state, start, { ...start, queuedMessageId: 'a' })
      expect(last).not.toHaveProperty('steeringMessage')
      expect(
        converse(version, { queuedMessages: [{ id: 'a' }] }, { ...start, queuedMessageId: 'a' }),
      ).not.toHaveProperty('queuedMessages')
    },
  )
})

describe('the end of a turn', () => {
  const state = { status: 8 | 32, activeTurn: { ...running, usage: { inputTokens: 3 } } }
  const end = { turnId: 't1', duration: 500 }

  test.each(
    spans(
      ['0.3.0', '0.5.2', { modifiedAt: now }],
      ['0.6.0', '0.8.0', { modifiedAt: now, startedAt: began, duration: 500 }],
      ['0.9.0', '1.0.0', { modifiedAt: 2500, startedAt: began, duration: 500 }],
    ),
  )('[V7] $version keeps the turn with $expected', ({ version, expected: { modifiedAt, ...times } }) => {
    const turn = { id: 't1', message, responseParts: [], usage: { inputTokens: 3 }, ...times }
    for (const [type, outcome] of [
      ['turnComplete', 'complete'],
      ['turnCancelled', 'cancelled'],
    ] as const)
      expect(converse(version, state, { ...end, type })).toEqual({
        status: 1 | 32,
        modifiedAt,
        turns: [{ ...turn, state: outcome }],
      })
    expect(converse(version, state, { ...end, type: 'turnComplete', turnId: 'other' })).toMatchObject({
      modifiedAt: 1000,
      activeTurn: state.activeTurn,
    })
  })

  const error = { errorType: 'x', message: 'no' }
  const part = { kind: 'error', error, resumable: true }
  const given = { error, part }
  test.each(
    spans(['0.3.0', '0.8.0', { responseParts: [], error }], ['0.9.0', '1.0.0', { responseParts: [part] }]),
  )('[V7] $version keeps the error of a turn as $expected', ({ version, expected }) => {
    const failed = converse(version, state, { ...end, ...given, type: 'error' })
    expect(failed).toMatchObject({ status: 2 | 32, turns: [{ state: 'error', ...expected }] })
    expect((failed['turns'] as object[])[0]).toHaveProperty('responseParts', expected.responseParts)
    expect('error' in ((failed['turns'] as object[])[0] ?? {})).toBe('error' in expected)
  })

  test.each(spans(['0.3.0', '0.8.0', [part]], ['0.9.0', '1.0.0', []]))(
    '[V7] $version has $expected after a response part that is an error',
    ({ version, expected }) => {
      const after = converse(version, state, { type: 'responsePart', turnId: 't1', part })
      expect(after).toMatchObject({ activeTurn: { responseParts: expected } })
    },
  )

  test.each(spans(['0.4.0', '0.8.0', false], ['0.9.0', '1.0.0', true]))(
    '[V7] $version resumes a turn that failed: $expected',
    ({ version, expected }) => {
      const turns = [{ ...running, state: 'error', responseParts: [part] }]
      const after = converse(version, { turns }, { type: 'turnResume', turnId: 't1' })
      expect('activeTurn' in after).toBe(expected)
    },
  )
})

describe('truncation', () => {
  const turns = [{ id: 't1' }, { id: 't2' }]
  const state = { turns, activeTurn: running, status: 8 | 32, turnsNextCursor: 'c', inputRequests: [] }

  test.each(spans(['0.1.0', '0.8.0', now], ['0.9.0', '1.0.0', 1000]))(
    '[V7] $version leaves the time $expected',
    ({ version, expected }) => {
      expect(converse(version, state, { type: 'truncated', turnId: 't1' })).toMatchObject({
        turns: [{ id: 't1' }],
        status: 1 | 32,
        modifiedAt: expected,
      })
      const unknown = converse(version, state, { type: 'truncated', turnId: 'none' })
      expect(unknown).toMatchObject({ turns, activeTurn: { id: 't1' }, modifiedAt: 1000 })
    },
  )

  test.each(spans(['0.4.0', '0.5.0', true], ['0.5.1', '1.0.0', false]))(
    '[V7] $version keeps the cursor of a chat without turns: $expected',
    ({ version, expected }) => {
      const empty = converse(version, state, { type: 'truncated' })
      expect(empty).toMatchObject({ turns: [] })
      expect('turnsNextCursor' in empty).toBe(expected)
      expect(converse(version, state, { type: 'truncated', turnId: 't1' })).toHaveProperty('turnsNextCursor')
    },
  )

  test.each(spans(['0.4.0', '0.5.0', 2], ['0.5.1', '1.0.0', 3]))(
    '[V7] $version has $expected turns after a page of older ones',
    ({ version, expected }) => {
      const page = { type: 'turnsLoaded', turns: [{ id: 't0' }, { id: 't1' }] }
      expect(converse(version, state, page)['turns']).toHaveLength(expected)
    },
  )
})

describe('text', () => {
  test.each(spans(['0.1.0', '1.0.0', undefined]))(
    '[V7] $version appends to the part of the kind',
    ({ version }) => {
      const parts = [
        { kind: 'markdown', id: 'm', content: 'a' },
        { kind: 'reasoning', id: 'r', content: 'b' },
      ]
      const state = { activeTurn: { ...running, responseParts: parts } }
      const to = (type: string, partId: string) => ({ type, turnId: 't1', partId, content: '!' })
      const after = converse(
        version,
        state,
        to('delta', 'm'),
        to('delta', 'r'),
        to('reasoning', 'r'),
        to('delta', 'x'),
      )
      expect(after).toMatchObject({ activeTurn: { responseParts: [{ content: 'a!' }, { content: 'b!' }] } })
    },
  )
})
