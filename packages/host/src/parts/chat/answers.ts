import type {
  ChatInputAnswer,
  ChatInputAnswerValue,
  ChatInputQuestion,
  ChatInputRequest,
} from '@atrium/protocol/chat/request'

type Answers = Readonly<Record<string, ChatInputAnswer>>

/**
 * Returns the reason why an answer to one question of a request is invalid; undefined if it is valid. An `answer`
 * that is undefined removes the earlier answer, and is valid.
 */
export function answerProblem(
  { questions = [] }: ChatInputRequest,
  questionId: string,
  answer: ChatInputAnswer | undefined,
): string | undefined {
  const question = questions.find(({ id }) => id === questionId)
  if (!question) return unknownQuestion
  return answer && problemOf(question, answer)
}

/**
 * Returns the reason why answers have the wrong kind; undefined if they have not. Bounds are not checked, because a
 * declined request may have half-finished answers.
 */
export function answersProblem(
  { questions = [] }: ChatInputRequest,
  given: Answers = {},
): string | undefined {
  for (const [questionId, answer] of Object.entries(given)) {
    const question = questions.find(({ id }) => id === questionId)
    const problem = question ? kindProblem(question, answer) : unknownQuestion
    if (problem !== undefined) return problem
  }
  return undefined
}

/**
 * Returns the reason why a request cannot be accepted with its answers (those given now, and those given earlier);
 * undefined if it can.
 */
export function acceptProblem(request: ChatInputRequest, given: Answers = {}): string | undefined {
  const { questions = [], answers: earlier } = request
  const answers = new Map(Object.entries({ ...earlier, ...given }))
  for (const question of questions) {
    const answer = answers.get(question.id)
    const problem = answer && problemOf(question, answer)
    if (problem !== undefined) return problem
    if (question.required && answer?.state !== 'submitted') return 'a required question is not answered'
  }
  return undefined
}

/**
 * Returns the problem with the answer to a question. A draft must have the right kind. A submitted answer must also
 * be within the bounds of the question.
 */
function problemOf(question: ChatInputQuestion, answer: ChatInputAnswer): string | undefined {
  const problem = kindProblem(question, answer)
  return problem ?? (answer.state === 'submitted' ? limitProblem(question, answer.value) : undefined)
}

function kindProblem({ kind }: ChatInputQuestion, answer: ChatInputAnswer): string | undefined {
  const expected = valueKinds.get(kind)
  // Questions of a later protocol version are not checked.
  if (answer.state === 'skipped' || expected === undefined) return undefined
  const { value } = answer
  const fits = value.kind === expected && (kind !== 'integer' || Number.isInteger(value.value))
  return fits ? undefined : invalid
}

function limitProblem(question: ChatInputQuestion, answer: ChatInputAnswerValue): string | undefined {
  if (question.kind === 'text' && answer.kind === 'text')
    return boundsProblem(
      question,
      answer.value.length,
      (bound) => `an answer to this question has ${bound} characters`,
    )
  if ((question.kind === 'number' || question.kind === 'integer') && answer.kind === 'number')
    return boundsProblem(question, answer.value, (bound) => `an answer to this question is ${bound}`)
  if (question.kind === 'single-select' && answer.kind === 'selected')
    return choiceProblem(question, [answer.value], answer.freeformValues)
  if (question.kind !== 'multi-select' || answer.kind !== 'selected-many') return undefined
  const { value, freeformValues = [] } = answer
  if (new Set(value).size < value.length) return invalid
  const count = value.length + freeformValues.length
  return (
    choiceProblem(question, value, freeformValues) ??
    boundsProblem(question, count, (bound) => `an answer to this question selects ${bound} options`)
  )
}

/**
 * Returns the reason why a choice is invalid. If the question allows freeform values, they may be in `chosen` and in
 * `free`, because some clients send them in one list and some in the other.
 */
function choiceProblem(
  {
    options,
    allowFreeformInput,
  }: Extract<ChatInputQuestion, { readonly kind: 'single-select' | 'multi-select' }>,
  chosen: readonly string[],
  free: readonly string[] = [],
): string | undefined {
  const offered = free.length === 0 && chosen.every((each) => options.some(({ id }) => id === each))
  return allowFreeformInput || offered ? undefined : 'that is not an option of this question'
}

function boundsProblem(
  { min = -Infinity, max = Infinity }: { readonly min?: number; readonly max?: number },
  size: number,
  sentence: (bound: string) => string,
): string | undefined {
  if (size < min) return sentence(`at least ${min}`)
  return size > max ? sentence(`at most ${max}`) : undefined
}

const unknownQuestion = 'there is no such question'
const invalid = 'that is not a valid answer to this question'

const valueKinds: ReadonlyMap<string, string> = new Map([
  ['text', 'text'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['single-select', 'selected'],
  ['multi-select', 'selected-many'],
])
