import type {
  ChatInputAnswer,
  ChatInputAnswerValue,
  ChatInputQuestion,
  ChatInputRequest,
} from '@atrium/protocol/chat/request'

export type Answers = { readonly [question: string]: ChatInputAnswer }

/** Answers that were typed on this page. `before`: the drawn answer when an accepted one was sent. */
export type TypedAnswers = {
  readonly [question: string]: {
    readonly answer: ChatInputAnswer
    readonly accepted?: { readonly before: ChatInputAnswer | undefined }
  }
}

/**
 * The answers that the page shows. A typed answer counts until the host has accepted it and the page has drawn a newer
 * answer than the one before it. The page draws later than the host accepts, so the field would show the answer before.
 */
export function shownAnswers(shared: Answers, typed: TypedAnswers): Answers {
  const counting = Object.entries(typed).filter(
    ([question, { accepted }]) => !accepted || accepted.before === shared[question],
  )
  return { ...shared, ...Object.fromEntries(counting.map(([question, { answer }]) => [question, answer])) }
}

/** The value that a question has now: an answer, or its default. */
export function valueOf(
  question: ChatInputQuestion,
  answer: ChatInputAnswer | undefined,
): ChatInputAnswerValue | undefined {
  if (answer && answer.state !== 'skipped') return answer.value
  if (answer) return undefined
  if ('options' in question) return recommendedChoice(question)
  const value = 'defaultValue' in question ? question.defaultValue : undefined
  if (typeof value === 'boolean') return { kind: 'boolean', value }
  if (typeof value === 'number') return { kind: 'number', value }
  return typeof value === 'string' ? { kind: 'text', value } : undefined
}

/** An answer in words: the labels of chosen options, not their ids. */
export function answerWords(question: ChatInputQuestion, value: ChatInputAnswerValue | undefined): string {
  if (value === undefined) return '–'
  if (value.kind === 'boolean') return value.value ? 'Yes' : 'No'
  const options = 'options' in question ? question.options : []
  const labelOf = (id: string) => options.find((each) => each.id === id)?.label ?? id
  const chosen = Array.isArray(value.value) ? value.value.map(labelOf) : [labelOf(String(value.value))]
  const free = 'freeformValues' in value ? (value.freeformValues ?? []) : []
  return [...chosen, ...free].filter(Boolean).join(', ')
}

/** The choices that are selected before a person has chosen: AHP has no other default for a question with choices. */
function recommendedChoice({
  kind,
  options,
}: Extract<ChatInputQuestion, { readonly options: unknown }>): ChatInputAnswerValue | undefined {
  const [first, ...others] = options.flatMap(({ id, recommended }) => (recommended === true ? [id] : []))
  if (first === undefined) return undefined
  return kind === 'single-select'
    ? { kind: 'selected', value: first }
    : { kind: 'selected-many', value: [first, ...others] }
}

/** Returns a sentence about the problem with the answer to a question. Undefined if there is none. */
export function problemOf(
  question: ChatInputQuestion,
  value: ChatInputAnswerValue | undefined,
): string | undefined {
  if (isEmpty(value)) return question.required ? 'This one must be answered.' : undefined
  const { min = -Infinity, max = Infinity } = 'min' in question || 'max' in question ? question : {}
  const within = (size: number) => size >= min && size <= max
  const range = Number.isFinite(min)
    ? Number.isFinite(max)
      ? `from ${min} to ${max}`
      : `at least ${min}`
    : `at most ${max}`
  if (value?.kind === 'number') {
    if (question.kind === 'integer' && !Number.isInteger(value.value)) return 'A whole number, please.'
    return within(value.value) ? undefined : `A number ${range}, please.`
  }
  if (value?.kind === 'selected-many') {
    const count = value.value.length + (value.freeformValues?.length ?? 0)
    return within(count) ? undefined : `Choose ${range}, please.`
  }
  if (value?.kind === 'text' && question.kind === 'text')
    return within(value.value.length) ? undefined : `A text of ${range} characters, please.`
  return undefined
}

/** The answers of a whole form, as they are sent. Questions without an answer are skipped. */
export function submittedAnswers({ questions = [] }: ChatInputRequest, answers: Answers): Answers {
  const all = questions.map((question): readonly [string, ChatInputAnswer] => {
    const value = valueOf(question, answers[question.id])
    return [
      question.id,
      value === undefined || isEmpty(value) ? { state: 'skipped' } : { state: 'submitted', value },
    ]
  })
  return Object.fromEntries(all)
}

function isEmpty(value: ChatInputAnswerValue | undefined): boolean {
  if (value === undefined) return true
  if (value.kind === 'text') return value.value === ''
  if (value.kind === 'number') return Number.isNaN(value.value)
  const free = 'freeformValues' in value ? (value.freeformValues?.length ?? 0) : 0
  if (value.kind === 'selected') return value.value === '' && free === 0
  return value.kind === 'selected-many' && value.value.length === 0 && free === 0
}
