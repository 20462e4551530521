import type { ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'
import { Skipped } from './check.ts'

type Answer = { readonly state: string; readonly value: { readonly kind: string; readonly value: unknown } }

/** A valid answer to every question of a request. */
export function answersTo({ questions = [] }: ChatInputRequest): Readonly<Record<string, Answer>> {
  return Object.fromEntries(questions.map((question) => [question.id, answerTo(question)]))
}

export function answerTo(question: ChatInputQuestion, state = 'submitted'): Answer {
  return { state, value: valueOf(question) }
}

/** The question of the simplest kind. A host is least likely to refuse the value of its answer. */
export function simplestQuestion({ questions = [] }: ChatInputRequest): ChatInputQuestion {
  const rank = ({ kind }: ChatInputQuestion) => simplestKinds.indexOf(kind)
  const known = questions.filter(({ kind }) => answerableKinds.includes(kind))
  const found = known.toSorted((a, b) => order(rank(a)) - order(rank(b)))[0]
  if (!found) throw new Skipped('the agent asked no question that the kit can answer')
  return found
}

const simplestKinds = ['boolean', 'single-select', 'integer', 'number']
const answerableKinds = ['boolean', 'single-select', 'multi-select', 'integer', 'number', 'text']

function order(rank: number): number {
  return rank < 0 ? answerableKinds.length : rank
}

function valueOf(question: ChatInputQuestion): Answer['value'] {
  switch (question.kind) {
    case 'boolean':
      return { kind: 'boolean', value: true }
    case 'integer':
    case 'number':
      return { kind: 'number', value: question.defaultValue ?? Math.ceil(question.min ?? question.max ?? 1) }
    case 'single-select':
      return { kind: 'selected', value: question.options[0]?.id ?? '' }
    case 'multi-select':
      return {
        kind: 'selected-many',
        value: question.options.slice(0, Math.max(1, question.min ?? 1)).map(({ id }) => id),
      }
    case 'text':
      return { kind: 'text', value: question.defaultValue ?? textFor(question) }
    default:
      throw new Skipped('the agent asked a question that the kit cannot answer')
  }
}

function textFor({
  format,
  min = 0,
  max = Infinity,
}: {
  format?: string
  min?: number
  max?: number
}): string {
  const known = format === undefined ? undefined : formats[format]
  return known ?? 'conformance'.padEnd(min, '.').slice(0, max)
}

const formats: { readonly [format: string]: string } = {
  email: 'conformance@example.org',
  uri: 'https://example.org/',
  date: '2026-01-02',
  'date-time': '2026-01-02T03:04:05Z',
}
