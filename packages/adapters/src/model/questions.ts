import type { AgentAction } from '@atrium/host/ports/agent'
import type { ChatInputAnswer, ChatInputQuestion } from '@atrium/protocol/chat/request'
import { requestIn } from '@atrium/protocol/chat/repeated-request'
import type { ActiveTurn, InputRequestPart, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import { ownName, parseInput, textField, textsField, tools } from './tools.ts'

/** Yields an input request for each finished `ask` call that has no input request yet. */
export function* newInputRequests({ responseParts }: ActiveTurn): Iterable<AgentAction> {
  for (const part of responseParts) {
    if (part.kind !== 'toolCall' || ownName(part.toolCall) !== 'ask') continue
    const { toolCall } = part
    const done = toolCall.status === 'completed' && toolCall.success
    if (
      !done ||
      typeof toolCall.toolInput !== 'string' ||
      findInputRequest(responseParts, toolCall.toolCallId)
    )
      continue
    const question = parseQuestion(toolCall.toolInput)
    if (!question) continue
    const request = { id: inputRequestId(toolCall.toolCallId), questions: [question] }
    yield { type: 'chat/inputRequested', request }
  }
}

/** Whether a turn has an input request without a response, or a result that nobody has confirmed or denied. */
export function isWaitingForInput({ responseParts }: ActiveTurn): boolean {
  return responseParts.some((part) =>
    part.kind === 'inputRequest'
      ? part.response === undefined
      : part.kind === 'toolCall' && part.toolCall.status === 'pending-result-confirmation',
  )
}

/** Returns the user's answer to an `ask` call, as text for the model. */
export function answerText({ responseParts }: Pick<Turn, 'responseParts'>, toolCallId: string): string {
  const inputRequest = findInputRequest(responseParts, toolCallId)
  if (inputRequest?.response === undefined) return 'Nobody has answered.'
  if (inputRequest.response !== 'accept') return 'The user does not want to answer this.'
  const [question] = inputRequest.request.questions ?? []
  const labels = new Map(
    question && 'options' in question ? question.options.map(({ id, label }) => [id, label] as const) : [],
  )
  return valueText(Object.values(inputRequest.request.answers ?? {})[0], (id) => labels.get(id) ?? id)
}

function parseQuestion(text: string): ChatInputQuestion | undefined {
  const input = parseInput(tools.ask, text)
  if (!input) return undefined
  const question = { id: 'answer', message: textField(input, 'question'), required: true }
  const options = textsField(input, 'options')
  if (options.length === 0) return { ...question, kind: 'text' }
  const choices = options.map((label, i) => ({ id: `${i + 1}`, label }))
  return { ...question, kind: 'single-select', options: choices, allowFreeformInput: true }
}

function findInputRequest(parts: readonly ResponsePart[], toolCallId: string): InputRequestPart | undefined {
  return requestIn(parts, inputRequestId(toolCallId))
}

function inputRequestId(toolCallId: string): string {
  return `${toolCallId}-form`
}

const noAnswer = 'The user left it open.'

function valueText(answer: ChatInputAnswer | undefined, label: (id: string) => string): string {
  if (answer?.state !== 'submitted') return noAnswer
  const { value } = answer
  const free = 'freeformValues' in value ? (value.freeformValues ?? []) : []
  const chosen = Array.isArray(value.value) ? value.value : [String(value.value)]
  return [...chosen.map(label), ...free].filter((text) => text !== '').join(', ') || noAnswer
}
