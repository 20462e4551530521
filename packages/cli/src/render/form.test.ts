import type { ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'
import { expect, test } from 'vitest'
import type { Key } from '../terminal/keys.ts'
import { styled } from '../terminal/output.ts'
import type { Question } from './question.ts'
import { answerOf, expects } from './field.ts'
import { Form } from './form.ts'

const options = ['Small', 'Large'].map((label) => ({ id: label.toLowerCase(), label }))
const recommended = options.map((each) => (each.id === 'large' ? { ...each, recommended: true } : each))
// The cast admits a kind of question that is newer than this build.
const of = (question: object): ChatInputQuestion =>
  ({ id: 'q', message: 'Q', ...question }) as ChatInputQuestion
const submitted = (kind: string, value: unknown, freeformValues?: readonly string[]) => ({
  state: 'submitted',
  value: { kind, value, ...(freeformValues && { freeformValues }) },
})

test.each([
  [{ kind: 'text' }, ' a b', submitted('text', ' a b')],
  [{ kind: 'text', min: 3 }, 'ab', 'It must have at least 3 characters.'],
  [{ kind: 'text', defaultValue: 'x' }, '', submitted('text', 'x')],
  [{ kind: 'text', required: true }, ' ', 'This one must be answered.'],
  [{ kind: 'text' }, '', { state: 'skipped' }],
  [{ kind: 'number', min: 0 }, '2,5', submitted('number', 2.5)],
  [{ kind: 'number' }, 'two', 'That is no number.'],
  [{ kind: 'integer' }, '2.5', 'That is no whole number.'],
  [{ kind: 'integer', min: 1, max: 3 }, '4', 'It must be from 1 to 3.'],
  [{ kind: 'boolean' }, 'YES', submitted('boolean', true)],
  [{ kind: 'boolean' }, 'maybe', 'Type y or n.'],
  [{ kind: 'boolean', defaultValue: false }, '', submitted('boolean', false)],
  [{ kind: 'single-select', options: recommended }, '', submitted('selected', 'large')],
  [{ kind: 'multi-select', options: recommended }, '', submitted('selected-many', ['large'])],
  [{ kind: 'single-select', options }, '2', submitted('selected', 'large')],
  [{ kind: 'single-select', options }, 'LARGE', submitted('selected', 'large')],
  [{ kind: 'single-select', options }, '3', 'Type a number from 1 to 2.'],
  [{ kind: 'single-select', options, allowFreeformInput: true }, 'huge', submitted('selected', '', ['huge'])],
  [{ kind: 'multi-select', options }, '2, 1, 2', submitted('selected-many', ['large', 'small'])],
  [{ kind: 'multi-select', options }, '1, huge', 'Type numbers from 1 to 2, with commas.'],
  [{ kind: 'multi-select', options, min: 2 }, '1', 'Choose at least 2 of them.'],
  [
    { kind: 'multi-select', options, allowFreeformInput: true },
    '1,huge',
    submitted('selected-many', ['small'], ['huge']),
  ],
  [{ kind: 'of-tomorrow' }, 'x', submitted('text', 'x')],
])('[Z6] %j answered with %j', (question, typed, answer) => {
  expect(answerOf(of(question), typed)).toEqual(answer)
  expect(expects(of(question))).toMatch(/^Type/)
})

const keys = (text: string): readonly Key[] =>
  Array.from(text, (each) => (each === '\n' ? { name: 'enter' } : { name: 'text', text: each }))

/** Presses the keys. Returns the drafts, and the answer or the rows of the open question. */
function pressAll(question: Question, pressed: readonly Key[]) {
  const drafts: unknown[] = []
  let now = question
  for (const key of pressed) {
    const next = now.press(key)
    if (!next.next) return { drafts, answer: 'action' in next.answer ? next.answer.action : undefined }
    if (next.draft) drafts.push(next.draft)
    now = next.next
  }
  return { drafts, rows: now.rows(styled(false), 40).rows }
}

const request: ChatInputRequest = {
  id: 'r',
  message: 'Two\nthings',
  questions: [of({ kind: 'text', id: 'a' }), of({ kind: 'boolean', id: 'b', required: true })],
}

test('[Z6.2] questions are asked one after the other; each answer is sent as a draft, and the last one completes the form', () => {
  const { drafts, answer } = pressAll(new Form(request), keys('hello\ny\n'))
  expect(drafts).toEqual([
    { type: 'chat/inputAnswerChanged', requestId: 'r', questionId: 'a', answer: submitted('text', 'hello') },
  ])
  expect(answer).toEqual({
    type: 'chat/inputCompleted',
    requestId: 'r',
    response: 'accept',
    answers: { a: submitted('text', 'hello'), b: submitted('boolean', true) },
  })
})

test('[Z6] Up goes back to the earlier answer, and drafts of other clients are shown', () => {
  expect(pressAll(new Form(request), [...keys('hello\n'), { name: 'up' }]).rows).toContain('> hello')
  // `submitted` returns answers of any kind.
  const drafted = { ...request, answers: { a: submitted('text', 'theirs') } } as ChatInputRequest
  expect(pressAll(new Form(drafted), []).rows).toContain('> theirs')
})

test('[Z6] Esc declines; a form without questions is accepted or declined with one key', () => {
  expect(pressAll(new Form(request), [{ name: 'escape' }]).answer).toEqual({
    type: 'chat/inputCompleted',
    requestId: 'r',
    response: 'decline',
  })
  const bare = { id: 'r', message: 'See there', url: 'https://example.test/\u001b' }
  expect(new Form(bare).more(styled(false)).lines).toEqual(['? See there', '  https://example.test/\ufffd'])
  expect(pressAll(new Form(bare), keys('y')).answer).toMatchObject({ response: 'accept' })
  expect(pressAll(new Form(bare), keys('n')).answer).toMatchObject({ response: 'decline' })
})
