import type { Action } from '@atrium/protocol/channel'
import type {
  ChatInputAnswer,
  ChatInputAnswerValue,
  ChatInputOption,
  ChatInputQuestion,
} from '@atrium/protocol/chat/request'
import type { ChatState } from '@atrium/protocol/chat/state'
import { equal } from '../../kernel/log/equal.ts'
import type { Channel } from '../../kernel/log/channel.ts'

type Answers = Readonly<Record<string, ChatInputAnswer>>
type Answering = Action & {
  readonly requestId: string
  readonly questionId?: string
  readonly answer?: ChatInputAnswer
  readonly answers?: Answers
}

/**
 * Converts the answers in a client's action to the kinds of their questions. Some clients send what a person has
 * typed as text, whatever the kind of the question is. A text is converted only if it has exactly one reading. Any
 * other answer stays as it is, and a later check refuses it.
 */
export function convertAnswers(channel: Channel, action: Action): Action {
  if (!channel.is('chat') || !isAnswering(action)) return action
  const questions = questionsIn(channel.head, action.requestId)
  return mapAnswers(action, (id, answer) => {
    const question = questions.find((each) => each.id === id)
    return question ? convertAnswer(question, answer) : answer
  })
}

/** Whether `accepted` is the action `dispatched` after the conversion of its answers. */
export function isConversionOf(accepted: Action, dispatched: Action): boolean {
  if (!isAnswering(accepted) || !isAnswering(dispatched)) return false
  // If a stored answer is the conversion of a text, it counts as equal to any text that is dispatched. The conversion
  // cannot be repeated, because the question may be gone.
  const before = answersOf(accepted)
  const expected = mapAnswers(dispatched, (id, answer) => {
    const stored = before[id]
    const converted = stored && isText(answer) && !isText(stored)
    return converted && (stored.state === 'skipped' || stored.state === answer.state) ? stored : answer
  })
  return equal(accepted, expected)
}

function convertAnswer(question: ChatInputQuestion, answer: ChatInputAnswer): ChatInputAnswer {
  if (answer.state === 'skipped' || answer.value.kind !== 'text') return answer
  if (isBlank(question, answer.value.value)) return { state: 'skipped' }
  const value = readText(question, answer.value.value)
  return value ? { ...answer, value } : answer
}

/** Whether a text means that a question was skipped. An empty text can be the answer to a question for a text. */
function isBlank(question: ChatInputQuestion, text: string): boolean {
  return text.trim() === '' && (question.kind !== 'text' || (question.min ?? 0) > text.length)
}

/**
 * Reads a text as the answer to a question. Undefined if the text does not have exactly one reading, or if the question asks
 * for text.
 */
function readText(question: ChatInputQuestion, text: string): ChatInputAnswerValue | undefined {
  const typed = text.trim()
  switch (question.kind) {
    case 'number':
    case 'integer':
      return decimal.test(typed) ? { kind: 'number', value: Number(typed) } : undefined
    case 'boolean': {
      const value = booleans.get(typed.toLowerCase())
      return value === undefined ? undefined : { kind: 'boolean', value }
    }
    case 'single-select': {
      const value = optionNamed(typed, question.options) ?? (question.allowFreeformInput ? text : undefined)
      return value === undefined ? undefined : { kind: 'selected', value }
    }
    case 'multi-select': {
      const option = optionNamed(typed, question.options)
      if (option !== undefined) return { kind: 'selected-many', value: [option] }
      return question.allowFreeformInput
        ? { kind: 'selected-many', value: [], freeformValues: [text] }
        : undefined
    }
    default:
      return undefined
  }
}

/** Returns the id of the option that a text names: by its id, or by a label that no other option has. */
function optionNamed(typed: string, options: readonly ChatInputOption[]): string | undefined {
  const byId = options.find(({ id }) => id === typed)
  if (byId) return byId.id
  const same = options.filter(({ label }) => label.trim().toLowerCase() === typed.toLowerCase())
  return same.length === 1 ? same[0]?.id : undefined
}

/** A decimal number as people and programs write it. Digit groups and decimal commas could be read in two ways. */
const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i

const booleans: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['yes', true],
  ['false', false],
  ['no', false],
])

function questionsIn({ activeTurn }: ChatState, requestId: string): readonly ChatInputQuestion[] {
  for (const part of activeTurn?.responseParts ?? [])
    if (part.kind === 'inputRequest' && part.request.id === requestId) return part.request.questions ?? []
  return []
}

function isAnswering(action: Action): action is Answering {
  return action.type === 'chat/inputAnswerChanged' || action.type === 'chat/inputCompleted'
}

/** The answers that an action contains. The key of an answer is the id of its question. */
function answersOf({ questionId, answer, answers }: Answering): Answers {
  return answer && questionId !== undefined ? { [questionId]: answer } : (answers ?? {})
}

function mapAnswers(
  action: Answering,
  mapped: (questionId: string, answer: ChatInputAnswer) => ChatInputAnswer,
): Action {
  const { questionId, answer, answers } = action
  const all = Object.entries(answers ?? {}).map(([id, each]) => [id, mapped(id, each)] as const)
  return {
    ...action,
    ...(answer && questionId !== undefined && { answer: mapped(questionId, answer) }),
    ...(answers && { answers: Object.fromEntries(all) }),
  }
}

function isText(answer: ChatInputAnswer): boolean {
  return answer.state !== 'skipped' && answer.value.kind === 'text'
}
