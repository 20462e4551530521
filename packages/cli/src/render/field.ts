import type { ChatInputAnswer, ChatInputOption, ChatInputQuestion } from '@atrium/protocol/chat/request'
import { harmless } from '../terminal/output.ts'

/** The answer that a line means, or a sentence that says why it means none. An empty line is what is usual, or nothing. */
export function answerOf(question: ChatInputQuestion, typed: string): ChatInputAnswer | string {
  const text = typed.trim()
  if (text === '')
    return usual(question) ?? (question.required ? 'This one must be answered.' : { state: 'skipped' })
  switch (question.kind) {
    case 'number':
    case 'integer':
      return numberIn(question, text)
    case 'boolean': {
      const value = yesNo.get(text.toLowerCase())
      return value === undefined ? 'Type y or n.' : submitted({ kind: 'boolean', value })
    }
    case 'single-select':
      return oneOf(question, text)
    case 'multi-select':
      return someOf(question, text)
    case 'text':
      return lengthProblem(question, typed) ?? submitted({ kind: 'text', value: typed })
    default:
      // A kind of question that came after this build: what was typed is the best there is.
      return submitted({ kind: 'text', value: typed })
  }
}

/** What is shown in the line where an answer was given before. */
export function typedOf(
  question: ChatInputQuestion | undefined,
  answers: Readonly<Record<string, ChatInputAnswer>> | undefined,
): string {
  const answer = question && new Map(Object.entries(answers ?? {})).get(question.id)
  if (!question || !answer || answer.state === 'skipped') return ''
  const { value } = answer
  if (value.kind === 'boolean') return value.value ? 'y' : 'n'
  if (value.kind !== 'selected' && value.kind !== 'selected-many') return String(value.value)
  const chosen = typeof value.value === 'string' ? [value.value] : value.value
  const numbers = chosen.flatMap((id) => {
    const at = optionsOf(question).findIndex((option) => option.id === id)
    return at < 0 ? [] : [String(at + 1)]
  })
  return [...numbers, ...(value.freeformValues ?? [])].join(', ')
}

export function choicesIn(question: ChatInputQuestion): readonly string[] {
  return optionsOf(question).map(({ label, description, recommended }, at) => {
    const about = description === undefined ? '' : `: ${description}`
    return `${at + 1}. ${harmless(`${label}${about}`).replaceAll('\n', ' ')}${recommended ? ' (recommended)' : ''}`
  })
}

/** What to type, in words. */
export function expects(question: ChatInputQuestion): string {
  const free = 'allowFreeformInput' in question && question.allowFreeformInput ? ', or words of your own' : ''
  const kinds: Readonly<Record<string, string>> = {
    text: 'Type an answer',
    number: `Type a number${range(question)}`,
    integer: `Type a whole number${range(question)}`,
    boolean: 'Type y or n',
    'single-select': `Type a number of the list${free}`,
    'multi-select': `Type numbers of the list, with commas${free}`,
  }
  const given = usual(question)
  const otherwise = given
    ? `Enter alone is ${spoken(given)}`
    : question.required
      ? ''
      : 'Enter alone skips it'
  return [kinds[question.kind] ?? 'Type an answer', otherwise].filter((text) => text !== '').join('; ')
}

function numberIn(
  question: Extract<ChatInputQuestion, { kind: 'number' | 'integer' }>,
  text: string,
): ChatInputAnswer | string {
  const value = Number(text.replace(',', '.'))
  const { min = -Infinity, max = Infinity, kind } = question
  if (!Number.isFinite(value)) return 'That is no number.'
  if (kind === 'integer' && !Number.isInteger(value)) return 'That is no whole number.'
  if (value < min || value > max) return `It must be${range(question)}.`
  return submitted({ kind: 'number', value })
}

function oneOf(
  question: Extract<ChatInputQuestion, { kind: 'single-select' }>,
  text: string,
): ChatInputAnswer | string {
  const option = found(question.options, text)
  if (option) return submitted({ kind: 'selected', value: option.id })
  if (!question.allowFreeformInput) return `Type a number from 1 to ${question.options.length}.`
  return submitted({ kind: 'selected', value: '', freeformValues: [text] })
}

function someOf(
  question: Extract<ChatInputQuestion, { kind: 'multi-select' }>,
  text: string,
): ChatInputAnswer | string {
  const words = text.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]))
  const chosen = new Set(words.flatMap((word) => found(question.options, word)?.id ?? []))
  const free = words.filter((word) => !found(question.options, word))
  if (free.length > 0 && !question.allowFreeformInput)
    return `Type numbers from 1 to ${question.options.length}, with commas.`
  const { min = 0, max = Infinity } = question
  const count = chosen.size + free.length
  if (count < min || count > max) return `Choose${range(question)} of them.`
  return submitted({
    kind: 'selected-many',
    value: [...chosen],
    ...(free.length > 0 && { freeformValues: free }),
  })
}

function found(options: readonly ChatInputOption[], word: string): ChatInputOption | undefined {
  if (/^\d+$/.test(word)) return options[Number(word) - 1]
  const lower = word.toLowerCase()
  return options.find(({ id, label }) => id === word || label.toLowerCase() === lower)
}

/** What an empty line means, where the question says it. */
function usual(question: ChatInputQuestion): ChatInputAnswer | undefined {
  if (question.kind === 'text' && question.defaultValue !== undefined)
    return submitted({ kind: 'text', value: question.defaultValue })
  if ((question.kind === 'number' || question.kind === 'integer') && question.defaultValue !== undefined)
    return submitted({ kind: 'number', value: question.defaultValue })
  if (question.kind === 'boolean' && question.defaultValue !== undefined)
    return submitted({ kind: 'boolean', value: question.defaultValue })
  return undefined
}

function spoken(answer: ChatInputAnswer): string {
  if (answer.state === 'skipped') return 'nothing'
  const { value } = answer
  return value.kind === 'boolean' ? (value.value ? 'y' : 'n') : harmless(String(value.value))
}

function lengthProblem({ min = 0, max = Infinity }: Bounds, text: string): string | undefined {
  if (text.length < min) return `It must have at least ${min} characters.`
  return text.length > max ? `It must have at most ${max} characters.` : undefined
}

interface Bounds {
  readonly min?: number
  readonly max?: number
}

function range(question: ChatInputQuestion): string {
  const { min, max }: Bounds = question as Bounds
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  return min === undefined ? (max === undefined ? '' : ` up to ${max}`) : ` from ${min}`
}

function optionsOf(question: ChatInputQuestion): readonly ChatInputOption[] {
  return 'options' in question ? question.options : []
}

type Value = Extract<ChatInputAnswer, { state: 'submitted' }>['value']

function submitted(value: Value): ChatInputAnswer {
  return { state: 'submitted', value }
}

const yesNo: ReadonlyMap<string, boolean> = new Map([
  ['y', true],
  ['yes', true],
  ['true', true],
  ['n', false],
  ['no', false],
  ['false', false],
])
