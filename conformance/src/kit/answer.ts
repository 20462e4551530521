import type { ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'
import { Skipped } from './check.ts'

type Answer = { readonly state: string; readonly value: { readonly kind: string; readonly value: unknown } }

/** An answer to every question, such as nobody can object to. */
export function answersTo({ questions = [] }: ChatInputRequest): Readonly<Record<string, Answer>> {
  return Object.fromEntries(questions.map((question) => [question.id, answerTo(question)]))
}

export function answerTo(question: ChatInputQuestion, state = 'submitted'): Answer {
  return { state, value: valueOf(question) }
}

/** The question whose answer leaves the least to argue about. */
export function plainest({ questions = [] }: ChatInputRequest): ChatInputQuestion {
  const rank = ({ kind }: ChatInputQuestion) =>
    ['boolean', 'single-select', 'integer', 'number'].indexOf(kind)
  const known = questions.filter(({ kind }) => kinds.includes(kind))
  const found = known.toSorted((a, b) => order(rank(a)) - order(rank(b)))[0]
  if (!found) throw new Skipped('the agent put no question that the kit can answer')
  return found
}

const kinds = ['boolean', 'single-select', 'multi-select', 'integer', 'number', 'text']

function order(rank: number): number {
  return rank < 0 ? kinds.length : rank
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
      return { kind: 'text', value: question.defaultValue ?? written(question) }
    default:
      throw new Skipped('the agent put a question that the kit cannot answer')
  }
}

function written({
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
