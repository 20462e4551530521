import { describe, expect, test } from 'vitest'
import { converse, spans } from '../../test/older-conversation.ts'
import type { OracleVersion } from './oracle.ts'

type Json = { readonly [key: string]: unknown }
const name = { toolCallId: 'c', toolName: 'sh', displayName: 'Shell' }
const owner = { kind: 'mcp', customizationId: 'm' }
const extra = { toolClientId: 'me', contributor: owner, intention: 'list files' }
const about = { turnId: 't1', toolCallId: 'c' }
const start = { type: 'toolCallStart', ...about, ...name, ...extra, _meta: { a: 1 } }
const options = [{ id: 'yes', label: 'Yes', kind: 'approve' }]
const ready = { type: 'toolCallReady', ...about, invocationMessage: 'Run', toolInput: 'ls' }
const confirm = { type: 'toolCallConfirmed', ...about, approved: true, confirmed: 'user-action' }
const result = { success: true, pastTenseMessage: 'Ran' }
const complete = { type: 'toolCallComplete', ...about, result }

/** The call after the actions, and the status of the conversation. */
function run(version: OracleVersion, ...actions: readonly ({ readonly type: string } & Json)[]): Json {
  const state = { activeTurn: { id: 't1', startedAt: '1970-01-01T00:00:02.000Z', responseParts: [] } }
  const { activeTurn, status } = converse(version, { ...state, status: 8 | 64 }, start, ...actions)
  const parts = (activeTurn as { readonly responseParts: readonly { readonly toolCall: Json }[] })
    .responseParts
  return { ...parts[0]?.toolCall, chatStatus: status }
}

describe('a tool call', () => {
  test.each(
    spans(
      ['0.1.0', '0.2.0', { toolClientId: 'me' }],
      ['0.3.0', '0.5.0', { contributor: owner }],
      ['0.5.1', '1.0.0', { contributor: owner, intention: 'list files' }],
    ),
  )('[V7] $version keeps $expected from start to end', ({ version, expected }) => {
    const base = { ...name, ...expected, _meta: { a: 1 } }
    expect(run(version)).toEqual({ ...base, status: 'streaming', chatStatus: 72 })
    const waiting = run(version, { ...ready, options })
    const pending = {
      ...base,
      status: 'pending-confirmation',
      invocationMessage: 'Run',
      toolInput: 'ls',
      options,
    }
    expect(waiting).toEqual({ ...pending, chatStatus: 24 | 64 })
    expect(run(version, { ...ready, options }, { ...confirm, selectedOptionId: 'yes' }, complete)).toEqual({
      ...base,
      ...result,
      status: 'completed',
      invocationMessage: 'Run',
      toolInput: 'ls',
      confirmed: 'user-action',
      selectedOption: options[0],
      chatStatus: 72,
    })
    const deny = { ...about, type: 'toolCallConfirmed', approved: false, reason: 'denied' }
    expect(run(version, ready, deny)).toEqual({
      ...base,
      status: 'cancelled',
      invocationMessage: 'Run',
      toolInput: 'ls',
      reason: 'denied',
      chatStatus: 72,
    })
  })

  test.each(spans(['0.1.0', '0.3.0', { a: 1 }], ['0.4.0', '1.0.0', { b: 2 }]))(
    '[V7] $version has the _meta $expected after an action with another',
    ({ version, expected }) => {
      const _meta = { b: 2 }
      const delta = { type: 'toolCallDelta', ...about, content: 'l', _meta }
      for (const action of [delta, { ...ready, _meta }])
        expect(run(version, action)).toMatchObject({ _meta: expected })
      expect(run(version, ready, { ...confirm, _meta })).toMatchObject({ _meta: expected })
      expect(run(version, ready, { ...complete, _meta })).toMatchObject({
        _meta: expected,
        confirmed: 'not-needed',
      })
    },
  )

  const again = { ...about, type: 'toolCallReady', invocationMessage: 'Run now', editable: true }
  test.each(
    spans(
      ['0.1.0', '0.5.2', { invocationMessage: 'Run', options }],
      ['0.6.0', '1.0.0', { invocationMessage: 'Run now', options, editable: true }],
    ),
  )('[V7] $version has $expected after a second announcement', ({ version, expected }) => {
    const { chatStatus, status, ...call } = run(version, { ...ready, options }, again)
    expect({ chatStatus, status }).toEqual({ chatStatus: 24 | 64, status: 'pending-confirmation' })
    expect(call).toMatchObject({ ...expected, toolInput: 'ls' })
    expect('editable' in call).toBe('editable' in expected)
  })

  test.each(spans(['0.1.0', '0.6.0', undefined], ['0.7.0', '1.0.0', 'ls']))(
    '[V7] $version has the input $expected after an announcement of a running call without one',
    ({ version, expected }) => {
      const approved = { ...ready, confirmed: 'not-needed' }
      const pending = run(version, approved, again)
      expect([pending['status'], pending['toolInput']]).toEqual(['pending-confirmation', expected])
      const running = run(version, approved, { ...again, confirmed: 'setting' })
      expect([running['status'], running['toolInput'], running['confirmed']]).toEqual([
        'running',
        expected,
        'setting',
      ])
    },
  )

  test.each(spans(['0.6.0', '0.6.0', undefined], ['0.7.0', '1.0.0', 'ls']))(
    '[V7] $version keeps the input $expected when a waiting call is announced as approved',
    ({ version, expected }) => {
      expect(run(version, ready, { ...again, confirmed: 'setting' })['toolInput']).toBe(expected)
    },
  )

  test.each(
    spans(
      ['0.3.0', '0.5.0', { contributor: owner }],
      ['0.5.1', '0.6.0', { contributor: owner, intention: 'list files' }],
      ['0.7.0', '1.0.0', { contributor: { ...owner, customizationId: 'n' }, intention: 'find files' }],
    ),
  )('[V7] $version has $expected after an announcement that names others', ({ version, expected }) => {
    const other = { contributor: { ...owner, customizationId: 'n' }, intention: 'find files' }
    const call = run(version, { ...ready, ...other })
    expect(call).toMatchObject(expected)
    expect('intention' in call).toBe('intention' in expected)
  })

  test.each(spans(['0.1.0', '0.6.0', 'pwd'], ['0.7.0', '1.0.0', undefined]))(
    '[V7] $version has the input $expected after an edit of a call without input',
    ({ version, expected }) => {
      const { toolInput: _, ...empty } = ready
      expect(run(version, empty, { ...confirm, editedToolInput: 'pwd' })['toolInput']).toBe(expected)
      expect(run(version, ready, { ...confirm, editedToolInput: 'pwd' })['toolInput']).toBe('pwd')
    },
  )

  test.each(spans(['0.4.0', '0.5.2', 'running'], ['0.6.0', '1.0.0', 'auth-required']))(
    '[V7] $version has the status $expected when a login is needed',
    ({ version, expected }) => {
      const auth = { reason: 'required', resource: { resource: 'r' } }
      const login = { ...about, type: 'toolCallAuthRequired', auth }
      const call = run(version, { ...ready, confirmed: 'setting' }, login)
      expect(call).toMatchObject({ status: expected, chatStatus: (expected === 'running' ? 8 : 24) | 64 })
    },
  )

  test.each(spans(['0.1.0', '1.0.0', undefined]))(
    '[V7] $version waits for the approval of a result, and cancels what a turn leaves unfinished',
    ({ version }) => {
      const reviewed = [
        { ...ready, confirmed: 'setting' },
        { ...complete, requiresResultConfirmation: true },
      ]
      const judge = { ...about, type: 'toolCallResultConfirmed' }
      expect(run(version, ...reviewed)).toMatchObject({
        status: 'pending-result-confirmation',
        chatStatus: 88,
        ...result,
      })
      expect(run(version, ...reviewed, { ...judge, approved: true })).toMatchObject({
        status: 'completed',
        ...result,
      })
      const denied = run(version, ...reviewed, { ...judge, approved: false })
      expect(denied).toMatchObject({ status: 'cancelled', reason: 'result-denied', chatStatus: 72 })
      expect(denied).not.toHaveProperty('success')

      const turn = { id: 't1', startedAt: '1970-01-01T00:00:02.000Z', responseParts: [] }
      const end = { type: 'turnCancelled', turnId: 't1', duration: 1 }
      const after = converse(version, { activeTurn: turn }, start, end)
      expect(after).toHaveProperty('turns[0].responseParts[0].toolCall.reason', 'skipped')
      expect(after).toHaveProperty('turns[0].responseParts[0].toolCall.invocationMessage', '')
    },
  )
})
