import type { ChatInputAnswerValue, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'
import { expect, test } from 'vitest'
import { answerWords, problemOf, shownAnswers, submittedAnswers, valueOf } from './answers.ts'

const options = ['a', 'b', 'c'].map((id) => ({ id, label: id }))
const recommending = (...ids: string[]) =>
  options.map((each) => (ids.includes(each.id) ? { ...each, recommended: true } : each))
const ask = (question: object) => ({ id: 'q', message: '?', ...question }) as ChatInputQuestion

test.each<readonly [object, ChatInputAnswerValue | undefined, string | undefined]>([
  [{ kind: 'text', required: true }, undefined, 'This one must be answered.'],
  [{ kind: 'text', required: true }, { kind: 'text', value: '' }, 'This one must be answered.'],
  [{ kind: 'text' }, undefined, undefined],
  [{ kind: 'text', min: 3 }, { kind: 'text', value: 'ab' }, 'A text of at least 3 characters, please.'],
  [{ kind: 'integer', min: 1, max: 9 }, { kind: 'number', value: 1.5 }, 'A whole number, please.'],
  [{ kind: 'integer', min: 1, max: 9 }, { kind: 'number', value: 10 }, 'A number from 1 to 9, please.'],
  [{ kind: 'number', max: 9 }, { kind: 'number', value: 9 }, undefined],
  [{ kind: 'number', required: true }, { kind: 'number', value: NaN }, 'This one must be answered.'],
  [
    { kind: 'single-select', options, required: true },
    { kind: 'selected', value: '' },
    'This one must be answered.',
  ],
  [
    { kind: 'single-select', options, required: true },
    { kind: 'selected', value: '', freeformValues: ['x'] },
    undefined,
  ],
  [
    { kind: 'multi-select', options, max: 1 },
    { kind: 'selected-many', value: ['a', 'b'] },
    'Choose at most 1, please.',
  ],
  [{ kind: 'boolean', required: true }, { kind: 'boolean', value: false }, undefined],
])('[U17] %j with %j: %s', (question, value, problem) => {
  expect(problemOf(ask(question), value)).toBe(problem)
})

test('[U17] a form sends defaults as answers, and skips what has none', () => {
  const questions = [
    ask({ id: 'text', kind: 'text' }),
    ask({ id: 'count', kind: 'integer', defaultValue: 2 }),
    ask({ id: 'yes', kind: 'boolean', defaultValue: false }),
    ask({ id: 'one', kind: 'single-select', options }),
    ask({ id: 'other', kind: 'single-select', options: recommending('b') }),
    ask({ id: 'some', kind: 'multi-select', options: recommending('b', 'c') }),
    ask({ id: 'none', kind: 'multi-select', options: recommending('b', 'c') }),
  ]
  const request: ChatInputRequest = { id: 'r', questions }
  const draft = { state: 'draft' as const, value: { kind: 'selected' as const, value: 'b' } }
  const emptied = { state: 'draft' as const, value: { kind: 'selected-many' as const, value: [] } }
  expect(submittedAnswers(request, { one: draft, none: emptied })).toEqual({
    text: { state: 'skipped' },
    count: { state: 'submitted', value: { kind: 'number', value: 2 } },
    yes: { state: 'submitted', value: { kind: 'boolean', value: false } },
    one: { state: 'submitted', value: { kind: 'selected', value: 'b' } },
    other: { state: 'submitted', value: { kind: 'selected', value: 'b' } },
    some: { state: 'submitted', value: { kind: 'selected-many', value: ['b', 'c'] } },
    none: { state: 'skipped' },
  })
  expect(valueOf(ask({ kind: 'integer', defaultValue: 2 }), { state: 'skipped' })).toBeUndefined()
})

test('[U17] a typed answer is shown until the host has accepted it and the page has drawn a newer one', () => {
  const answer = (value: string) => ({ state: 'draft' as const, value: { kind: 'text' as const, value } })
  const [before, mine, theirs] = [answer(''), answer('Soup'), answer('Stew')]
  expect(shownAnswers({ q: before }, { q: { answer: mine } })).toEqual({ q: mine })
  expect(shownAnswers({ q: theirs }, { q: { answer: mine } })).toEqual({ q: mine })
  expect(shownAnswers({ q: before }, { q: { answer: mine, accepted: { before } } })).toEqual({ q: mine })
  expect(shownAnswers({ q: theirs }, { q: { answer: mine, accepted: { before } } })).toEqual({ q: theirs })
  expect(shownAnswers({}, { q: { answer: mine, accepted: { before: undefined } } })).toEqual({ q: mine })
})

test('[U17] an answered question shows the labels of the chosen options', () => {
  const sizes = [{ id: 'medium', label: 'Medium' }]
  const words = (question: object, value: ChatInputAnswerValue) => answerWords(ask(question), value)
  expect(words({ kind: 'single-select', options: sizes }, { kind: 'selected', value: 'medium' })).toBe(
    'Medium',
  )
  expect(
    words(
      { kind: 'multi-select', options: sizes },
      { kind: 'selected-many', value: ['medium', 'other'], freeformValues: ['own'] },
    ),
  ).toBe('Medium, other, own')
  expect(words({ kind: 'boolean' }, { kind: 'boolean', value: false })).toBe('No')
})
