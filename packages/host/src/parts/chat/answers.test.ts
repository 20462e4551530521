import type { ChatInputRequest } from '@atrium/protocol/chat/request'
import { describe, expect, test } from 'vitest'
import { answer, toolCallStarted, completed, confirmed, ready } from '../../../test/tool-call-actions.ts'
import { accepted, chat, chatOf, refused, twoClientSession, turn } from '../../../test/two-client-session.ts'
import type { AnyAction } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'

const options = ['a', 'b', 'c'].map((id) => ({ id, label: id }))
const unknown = 'there is no such question'
const invalid = 'that is not a valid answer to this question'
const notAnOption = 'that is not an option of this question'
const text = (value: string) => ({ kind: 'text', value })
const number = (value: number) => ({ kind: 'number', value })
const one = (value: string, ...freeformValues: string[]) => ({
  kind: 'selected',
  value,
  ...(freeformValues.length > 0 && { freeformValues }),
})
const many = (value: readonly string[], ...freeformValues: string[]) => ({
  kind: 'selected-many',
  value,
  freeformValues,
})

/** A turn with an input request of one or several questions. */
async function asked(questions: readonly object[], more: Partial<ChatInputRequest> = {}) {
  const all = await twoClientSession()
  const request = {
    id: 'r1',
    questions: questions.map((each) => ({ id: 'q', message: '?', ...each })),
    ...more,
  }
  await turn(all, 't1', { type: 'chat/inputRequested', request } as unknown as AgentAction)
  return all
}
const part = (all: Awaited<ReturnType<typeof asked>>) => chatOf(all).activeTurn?.responseParts[0]
const submitted = (value: object, id = 'q') => ({ answers: { [id]: { state: 'submitted', value } } })

type Row = readonly [question: object, good: readonly object[], bad: readonly (readonly [object, string])[]]
const rows: readonly Row[] = [
  [
    { kind: 'text', min: 2, max: 3 },
    [text('ab'), text('abc')],
    [
      [text('a'), 'an answer to this question has at least 2 characters'],
      [text('abcd'), 'an answer to this question has at most 3 characters'],
    ],
  ],
  [
    { kind: 'number', min: 0.5, max: 1 },
    [number(0.5), number(1)],
    [
      [number(0.4), 'an answer to this question is at least 0.5'],
      [number(1.1), 'an answer to this question is at most 1'],
      [text('one'), invalid],
    ],
  ],
  [
    { kind: 'integer', min: 1 },
    [number(1)],
    [
      [number(0), 'an answer to this question is at least 1'],
      [number(1.5), invalid],
    ],
  ],
  [
    { kind: 'single-select', options },
    [one('a')],
    [
      [one('d'), notAnOption],
      [one(''), notAnOption],
      [one('a', 'mine'), notAnOption],
    ],
  ],
  [
    { kind: 'single-select', options, allowFreeformInput: true },
    [one('a'), one('', 'mine'), one('mine')],
    [],
  ],
  [
    { kind: 'multi-select', options, min: 1, max: 2 },
    [many(['a']), many(['a', 'c'])],
    [
      [many([]), 'an answer to this question selects at least 1 options'],
      [many(['a', 'b', 'c']), 'an answer to this question selects at most 2 options'],
      [many(['a', 'd']), notAnOption],
      [many(['a', 'a']), invalid],
      [many(['a'], 'mine'), notAnOption],
    ],
  ],
  [
    { kind: 'multi-select', options, allowFreeformInput: true, max: 2 },
    [many(['a'], 'mine'), many([])],
    [[many(['a', 'b'], 'mine'), 'an answer to this question selects at most 2 options']],
  ],
]

describe('[X6] an answer is within the bounds of its question', () => {
  test.each(rows)('%j', async (question, good, bad) => {
    const all = await asked([question])
    for (const [value, reason] of bad) {
      expect(await refused(all, chat, answer('r1', 'q', value))).toBe(reason)
      expect(await refused(all, chat, completed('r1', submitted(value)))).toBe(reason)
    }
    for (const value of good) await accepted(all.ann, chat, answer('r1', 'q', value))
    await accepted(all.ann, chat, completed('r1', submitted(good[0] ?? {})))
    expect(part(all)).toMatchObject({ response: 'accept' })
  })

  test('a draft may be out of bounds, and cannot be accepted as it is', async () => {
    const all = await asked([{ kind: 'text', min: 3, required: true }])
    const draft = { ...answer('r1', 'q', text('a')), answer: { state: 'draft', value: text('a') } }
    await accepted(all.ann, chat, draft)
    await all.ben.until(() => JSON.stringify(all.ben.state(chat)).includes('"draft"'))
    expect(await refused(all, chat, completed('r1'))).toBe('a required question is not answered')
    await accepted(all.ben, chat, completed('r1', submitted(text('abc'))))
    expect(part(all)).toMatchObject({ request: submitted(text('abc')), response: 'accept' })
  })

  test.each(['accept', 'decline', 'cancel'])(
    'to %s with an answer to what was not asked is refused',
    async (response) => {
      const all = await asked([{ kind: 'text' }])
      expect(await refused(all, chat, completed('r1', { response, ...submitted(text('x'), 'other') }))).toBe(
        unknown,
      )
      expect(await refused(all, chat, completed('r1', { response, ...submitted(number(1)) }))).toBe(invalid)
      await accepted(all.ann, chat, completed('r1', { response, ...submitted(text('x')) }))
      expect(part(all)).toMatchObject({ response })
    },
  )

  test.each(['decline', 'cancel'])('to %s, answers need not be within their bounds', async (response) => {
    const all = await asked([{ kind: 'text', min: 3, required: true }])
    await accepted(all.ann, chat, completed('r1', { response, ...submitted(text('x')) }))
    expect(part(all)).toMatchObject({ response })
  })

  test('a request with a URL and no questions is accepted, declined or cancelled, once', async () => {
    for (const response of ['accept', 'decline', 'cancel']) {
      const all = await asked([], { url: 'https://example.com/consent' })
      expect(await refused(all, chat, answer('r1', 'q', text('x')))).toBe(unknown)
      await accepted(all.ben, chat, completed('r1', { response }))
      expect(await refused(all, chat, completed('r1', { response: 'cancel' }))).toBe(
        'no such input request is open',
      )
      expect(part(all)).toMatchObject({ request: { url: 'https://example.com/consent' }, response })
    }
  })

  test('a request that is open when its turn ends stays unanswered, and needs no input any more', async () => {
    const all = await asked([{ kind: 'text' }])
    await accepted(all.ann, chat, answer('r1', 'q', text('x')))
    await accepted(all.ann, chat, { type: 'chat/turnCancelled', turnId: 't1', duration: 1 })
    const [old] = chatOf(all).turns[0]?.responseParts ?? []
    expect(old).toMatchObject({ kind: 'inputRequest', request: submitted(text('x')) })
    expect(old).not.toHaveProperty('response')
    for (const late of [completed('r1'), answer('r1', 'q', text('y'))])
      expect(await refused(all, chat, late)).toBe('no such input request is open')
  })
})

describe('[X1] an answer to a call', () => {
  const no: AnyAction = { ...confirmed, approved: false }
  test.each([
    [{}, { ...confirmed, editedToolInput: 'x' }, 'the input of this tool call cannot be edited'],
    [{ editable: true }, { ...confirmed, editedToolInput: 'x' }, 'this tool call has no input to edit'],
    [
      { editable: true, toolInput: { uri: 'x:/kept' } },
      { ...confirmed, editedToolInput: 'x' },
      'the input of this tool call is stored outside the state, and cannot be edited',
    ],
    [{}, { ...no, reason: 'result-denied' }, 'this tool call has no result yet'],
  ])('%j: %j is refused', async (more, action, reason) => {
    const all = await twoClientSession()
    await turn(all, 't1', toolCallStarted(), ready(more))
    expect(await refused(all, chat, action)).toBe(reason)
  })

  test('an edited input is allowed with a denial', async () => {
    const all = await twoClientSession()
    await turn(all, 't1', toolCallStarted(), ready())
    await accepted(all.ann, chat, { ...no, reason: 'denied', editedToolInput: 'x' })
    expect(chatOf(all).activeTurn?.responseParts).toMatchObject([{ toolCall: { reason: 'denied' } }])
  })

  test.each(['x', ''])('an input that is edited to %j is used', async (editedToolInput) => {
    const all = await twoClientSession()
    await turn(all, 't1', toolCallStarted(), ready({ editable: true, toolInput: 'ls' }))
    await accepted(all.ann, chat, { ...confirmed, editedToolInput })
    expect(chatOf(all).activeTurn?.responseParts).toMatchObject([
      { toolCall: { toolInput: editedToolInput } },
    ])
  })
})
