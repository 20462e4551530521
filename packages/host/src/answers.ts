import type { ChatInputAnswer, ChatInputQuestion, ChatInputRequest } from '@atrium/protocol/chat/request'

/** Why this is no answer to a question of a request, if it is none. No answer at all takes the last one back. */
export function answerProblem(
  { questions = [] }: ChatInputRequest,
  questionId: string,
  answer: ChatInputAnswer | undefined,
): string | undefined {
  const question = questions.find(({ id }) => id === questionId)
  if (!question) return 'there is no such question'
  return answer === undefined || fits(question, answer) ? undefined : 'that is no answer to this question'
}

/** Why a request cannot be agreed to with these answers and those that it has, if it cannot. */
export function answersProblem(
  { questions = [], answers: before }: ChatInputRequest,
  given: Readonly<Record<string, ChatInputAnswer>> = {},
): string | undefined {
  const answers = new Map(Object.entries({ ...before, ...given }))
  for (const question of questions) {
    const answer = answers.get(question.id)
    if (answer && !fits(question, answer)) return 'that is no answer to this question'
    if (question.required && answer?.state !== 'submitted') return 'a question that must be answered is not'
  }
  return undefined
}

function fits({ kind }: ChatInputQuestion, answer: ChatInputAnswer): boolean {
  if (answer.state === 'skipped') return true
  const wanted = valueKinds.get(kind)
  // A kind of question that came after this build is not judged.
  if (wanted === undefined) return true
  const { value } = answer
  return value.kind === wanted && (kind !== 'integer' || Number.isInteger(value.value))
}

const valueKinds: ReadonlyMap<string, string> = new Map([
  ['text', 'text'],
  ['number', 'number'],
  ['integer', 'number'],
  ['boolean', 'boolean'],
  ['single-select', 'selected'],
  ['multi-select', 'selected-many'],
])
