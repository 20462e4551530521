import type {
  ChatInputAnswer,
  ChatInputAnswerValue,
  ChatInputQuestion,
  ChatInputRequest,
} from '@atrium/protocol/chat/request'

type Answers = Readonly<Record<string, ChatInputAnswer>>

/** Why this is no answer to a question of a request, if it is none. No answer at all takes the last one back. */
export function answerProblem(
  { questions = [] }: ChatInputRequest,
  questionId: string,
  answer: ChatInputAnswer | undefined,
): string | undefined {
  const question = questions.find(({ id }) => id === questionId)
  if (!question) return unasked
  return answer && problemOf(question, answer)
}

/** Why these are no answers to the questions of a request, if they are none. Who does not want to answer may have begun to. */
export function answersProblem(
  { questions = [] }: ChatInputRequest,
  given: Answers = {},
): string | undefined {
  for (const [questionId, answer] of Object.entries(given)) {
    const question = questions.find(({ id }) => id === questionId)
    const problem = question ? kindProblem(question, answer) : unasked
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Why a request cannot be agreed to with these answers and those that it has, if it cannot. */
export function consentProblem(request: ChatInputRequest, given: Answers = {}): string | undefined {
  const { questions = [], answers: before } = request
  const answers = new Map(Object.entries({ ...before, ...given }))
  for (const question of questions) {
    const answer = answers.get(question.id)
    const problem = answer && problemOf(question, answer)
    if (problem !== undefined) return problem
    if (question.required && answer?.state !== 'submitted') return 'a question that must be answered is not'
  }
  return undefined
}

/** What is only begun has the kind that was asked for, and may be too little yet, or too much. */
function problemOf(question: ChatInputQuestion, answer: ChatInputAnswer): string | undefined {
  const problem = kindProblem(question, answer)
  return problem ?? (answer.state === 'submitted' ? limitProblem(question, answer.value) : undefined)
}

function kindProblem({ kind }: ChatInputQuestion, answer: ChatInputAnswer): string | undefined {
  const wanted = valueKinds.get(kind)
  // A kind of question that came after this build is not judged.
  if (answer.state === 'skipped' || wanted === undefined) return undefined
  const { value } = answer
  const fits = value.kind === wanted && (kind !== 'integer' || Number.isInteger(value.value))
  return fits ? undefined : unfit
}

function limitProblem(question: ChatInputQuestion, answer: ChatInputAnswerValue): string | undefined {
  if (question.kind === 'text' && answer.kind === 'text')
    return beyond(question, answer.value.length, (bound) => `an answer here has ${bound} characters`)
  if ((question.kind === 'number' || question.kind === 'integer') && answer.kind === 'number')
    return beyond(question, answer.value, (bound) => `an answer here is ${bound}`)
  if (question.kind === 'single-select' && answer.kind === 'selected')
    return choiceProblem(question, [answer.value], answer.freeformValues)
  if (question.kind !== 'multi-select' || answer.kind !== 'selected-many') return undefined
  const { value, freeformValues = [] } = answer
  if (new Set(value).size < value.length) return unfit
  const count = value.length + freeformValues.length
  return (
    choiceProblem(question, value, freeformValues) ??
    beyond(question, count, (bound) => `${bound} are chosen here`)
  )
}

/** Who may choose in their own words may write them in either place. */
function choiceProblem(
  {
    options,
    allowFreeformInput,
  }: Extract<ChatInputQuestion, { readonly kind: 'single-select' | 'multi-select' }>,
  chosen: readonly string[],
  free: readonly string[] = [],
): string | undefined {
  const offered = free.length === 0 && chosen.every((each) => options.some(({ id }) => id === each))
  return allowFreeformInput || offered ? undefined : 'that is not among the choices of this question'
}

function beyond(
  { min = -Infinity, max = Infinity }: { readonly min?: number; readonly max?: number },
  size: number,
  words: (bound: string) => string,
): string | undefined {
  if (size < min) return words(`at least ${min}`)
  return size > max ? words(`at most ${max}`) : undefined
}

const unasked = 'there is no such question'
const unfit = 'that is no answer to this question'

const valueKinds: ReadonlyMap<string, string> = new Map([
  ['text', 'text'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['single-select', 'selected'],
  ['multi-select', 'selected-many'],
])
