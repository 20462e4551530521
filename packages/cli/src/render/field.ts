import type { ChatInputAnswer, ChatInputOption, ChatInputQuestion } from '@atrium/protocol/chat/request'
import { sanitize } from '../terminal/output.ts'

/**
 * Parses a line as the answer to a question. Returns a sentence about the problem if the line is invalid. An empty line
 * gives the default answer; without a default, it skips the question.
 */
export function answerOf(question: ChatInputQuestion, typed: string): ChatInputAnswer | string {
  const text = typed.trim()
  if (text === '')
    return (
      defaultAnswer(question) ?? (question.required ? 'This one must be answered.' : { state: 'skipped' })
    )
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
      // This kind of question is newer than this build. The answer is the typed text.
      return submitted({ kind: 'text', value: typed })
  }
}

/** Returns an earlier answer as the text of the input line. */
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
    return `${at + 1}. ${sanitize(`${label}${about}`).replaceAll('\n', ' ')}${recommended ? ' (recommended)' : ''}`
  })
}

/** Returns the hint that says what to type. */
export function expects(question: ChatInputQuestion): string {
  const free = 'allowFreeformInput' in question && question.allowFreeformInput ? ', or words of your own' : ''
  const kinds: Readonly<Record<string, string>> = {
    text: 'Type an answer',
    number: `Type a number${range(question).replace(/^ at/, ', at')}`,
    integer: `Type a whole number${range(question).replace(/^ at/, ', at')}`,
    boolean: 'Type y or n',
    'single-select': `Type a number of the list${free}`,
    'multi-select': `Type numbers of the list, with commas${free}`,
  }
  const byDefault = defaultAnswer(question)
  const otherwise = byDefault
    ? `Enter alone is ${answerLabel(question, byDefault)}`
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
  const option = findOption(question.options, text)
  if (option) return submitted({ kind: 'selected', value: option.id })
  if (!question.allowFreeformInput) return `Type a number from 1 to ${question.options.length}.`
  return submitted({ kind: 'selected', value: '', freeformValues: [text] })
}

function someOf(
  question: Extract<ChatInputQuestion, { kind: 'multi-select' }>,
  text: string,
): ChatInputAnswer | string {
  const words = text.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]))
  const chosen = new Set(words.flatMap((word) => findOption(question.options, word)?.id ?? []))
  const free = words.filter((word) => !findOption(question.options, word))
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

/** Finds an option by its number in the list, its id, or its label. */
function findOption(options: readonly ChatInputOption[], word: string): ChatInputOption | undefined {
  if (/^\d+$/.test(word)) return options[Number(word) - 1]
  const lower = word.toLowerCase()
  return options.find(({ id, label }) => id === word || label.toLowerCase() === lower)
}

function defaultAnswer(question: ChatInputQuestion): ChatInputAnswer | undefined {
  if (question.kind === 'text' && question.defaultValue !== undefined)
    return submitted({ kind: 'text', value: question.defaultValue })
  if ((question.kind === 'number' || question.kind === 'integer') && question.defaultValue !== undefined)
    return submitted({ kind: 'number', value: question.defaultValue })
  if (question.kind === 'boolean' && question.defaultValue !== undefined)
    return submitted({ kind: 'boolean', value: question.defaultValue })
  const recommended = optionsOf(question).flatMap(({ id, recommended: is }) => (is === true ? [id] : []))
  const [first] = recommended
  if (first === undefined) return undefined
  return submitted(
    question.kind === 'multi-select'
      ? { kind: 'selected-many', value: recommended }
      : { kind: 'selected', value: first },
  )
}

function answerLabel(question: ChatInputQuestion, answer: ChatInputAnswer): string {
  if (answer.state === 'skipped') return 'nothing'
  const { value } = answer
  if (value.kind === 'selected' || value.kind === 'selected-many')
    return typedOf(question, { [question.id]: answer })
  return value.kind === 'boolean' ? (value.value ? 'y' : 'n') : sanitize(String(value.value))
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
  const { min, max }: Bounds = 'min' in question || 'max' in question ? question : {}
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`
  return min === undefined ? (max === undefined ? '' : ` up to ${max}`) : ` at least ${min}`
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
