import { describe, expect, test } from 'vitest'
import { converse, now, spans } from '../../test/older-conversation.ts'

const answer = { state: 'draft', value: { kind: 'text', value: 'x' } }
const submitted = { ...answer, state: 'submitted' }
const request = { id: 'r', questions: [] }
const turn = { id: 't1', startedAt: '1970-01-01T00:00:02.000Z', responseParts: [] }
const ask = { type: 'inputRequested', request }
const change = { type: 'inputAnswerChanged', requestId: 'r', questionId: 'q', answer }
const complete = {
  type: 'inputCompleted',
  requestId: 'r',
  response: 'accept',
  answers: { p: submitted },
}

describe('an input request', () => {
  test.each(spans(['0.1.0', '0.5.2', [request]], ['0.6.0', '1.0.0', undefined]))(
    '[V7] $version keeps $expected of a request without a turn',
    ({ version, expected }) => {
      const after = converse(version, { status: 1 | 32 }, ask)
      expect(after['inputRequests']).toEqual(expected)
      expect(after['status']).toBe(expected ? 24 : 33)
    },
  )

  test.each(spans(['0.1.0', '0.5.2', 'list'], ['0.6.0', '1.0.0', 'part']))(
    '[V7] $version keeps a request with its answers in a $expected',
    ({ version, expected }) => {
      const repeated = { ...ask, request: { ...request, message: 'again' } }
      const after = converse(version, { status: 8 | 32 | 64, activeTurn: turn }, ask, change, repeated)
      const kept = { ...repeated.request, answers: { q: answer } }
      expect(after['status']).toBe(24 | 64)
      expect(after).toMatchObject(
        expected === 'list'
          ? { inputRequests: [kept], activeTurn: { responseParts: [] } }
          : { activeTurn: { responseParts: [{ kind: 'inputRequest', request: kept }] } },
      )
      const { answer: _, ...clear } = change
      expect(JSON.stringify(converse(version, { activeTurn: turn }, ask, change, clear))).not.toContain(
        'answers',
      )
    },
  )

  test.each(spans(['0.1.0', '0.8.0', now], ['0.9.0', '1.0.0', 1000]))(
    '[V7] $version leaves the time $expected after each step',
    ({ version, expected }) => {
      const after = { modifiedAt: expected }
      expect(converse(version, { activeTurn: turn }, ask)).toMatchObject(after)
      const asked = converse(version, { activeTurn: turn }, ask)
      const before = { ...asked, modifiedAt: 1000 }
      expect(converse(version, before, change)).toMatchObject(after)
      expect(converse(version, before, complete)).toMatchObject(after)
      expect(converse(version, before, { ...complete, requestId: 'none' })).toMatchObject({
        modifiedAt: 1000,
      })
      expect(converse(version, before, { ...change, requestId: 'none' })).toMatchObject({ modifiedAt: 1000 })
    },
  )

  const done = {
    kind: 'inputRequest',
    request: { ...request, answers: { q: answer, p: submitted } },
    response: 'accept',
  }
  const text = { kind: 'markdown', id: 'm', content: '' }
  test.each(
    spans(['0.1.0', '0.5.1', [text]], ['0.5.2', '0.5.2', [text, done]], ['0.6.0', '1.0.0', [done, text]]),
  )('[V7] $version has the parts $expected after the completion', ({ version, expected }) => {
    const part = { type: 'responsePart', turnId: 't1', part: text }
    const after = converse(version, { activeTurn: turn }, ask, change, part, complete)
    expect(after).toMatchObject({ status: 8, activeTurn: { responseParts: expected } })
    expect(after).toHaveProperty('activeTurn.responseParts.length', expected.length)
    expect(after).not.toHaveProperty('inputRequests')
  })

  test.each(spans(['0.1.0', '0.5.2', []], ['0.6.0', '1.0.0', [{ kind: 'inputRequest', request }]]))(
    '[V7] $version ends a turn with an open request with the parts $expected',
    ({ version, expected }) => {
      const end = { type: 'turnComplete', turnId: 't1', duration: 0 }
      const after = converse(version, { activeTurn: turn }, ask, end)
      expect(after).toMatchObject({ status: 1, turns: [{ responseParts: expected }] })
      expect(after).not.toHaveProperty('inputRequests')
    },
  )
})
