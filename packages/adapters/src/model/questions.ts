import type { AgentAction } from '@atrium/host/ports/agent'
import type { ChatInputAnswer, ChatInputQuestion } from '@atrium/protocol/chat/request'
import type { ActiveTurn, InputRequestPart, ResponsePart, Turn } from '@atrium/protocol/chat/state'
import { inputOf, textIn, tools } from './tools.ts'

/** Questions of calls that were not put to anybody yet. */
export function* unasked({ responseParts }: ActiveTurn): Iterable<AgentAction> {
  for (const part of responseParts) {
    if (part.kind !== 'toolCall' || part.toolCall.toolName !== 'ask') continue
    const { toolCall } = part
    const done = toolCall.status === 'completed' && toolCall.success
    if (!done || typeof toolCall.toolInput !== 'string' || formOf(responseParts, toolCall.toolCallId))
      continue
    const question = questionIn(toolCall.toolInput)
    if (!question) continue
    const request = { id: formId(toolCall.toolCallId), questions: [question] }
    yield { type: 'chat/inputRequested', request }
  }
}

/** Whether a turn waits for an answer. */
export function isAsking({ responseParts }: ActiveTurn): boolean {
  return responseParts.some((part) => part.kind === 'inputRequest' && part.response === undefined)
}

/** What was answered to the question of a call, in words for the model. */
export function answerTo({ responseParts }: Pick<Turn, 'responseParts'>, toolCallId: string): string {
  const form = formOf(responseParts, toolCallId)
  if (form?.response === undefined) return 'Nobody has answered.'
  if (form.response !== 'accept') return 'The user does not want to answer this.'
  const [question] = form.request.questions ?? []
  const labels = new Map(
    question && 'options' in question ? question.options.map(({ id, label }) => [id, label] as const) : [],
  )
  return spoken(Object.values(form.request.answers ?? {})[0], (id) => labels.get(id) ?? id)
}

function questionIn(text: string): ChatInputQuestion | undefined {
  const input = inputOf(tools.ask, text)
  if (!input) return undefined
  const asked = { id: 'answer', message: textIn(input, 'question'), required: true }
  const options = Array.isArray(input['options']) ? (input['options'] as readonly string[]) : []
  if (options.length === 0) return { ...asked, kind: 'text' }
  const choices = options.map((label, i) => ({ id: `${i + 1}`, label }))
  return { ...asked, kind: 'single-select', options: choices, allowFreeformInput: true }
}

function formOf(parts: readonly ResponsePart[], toolCallId: string): InputRequestPart | undefined {
  return parts.find(
    (part): part is InputRequestPart =>
      part.kind === 'inputRequest' && part.request.id === formId(toolCallId),
  )
}

function formId(toolCallId: string): string {
  return `${toolCallId}-form`
}

function spoken(answer: ChatInputAnswer | undefined, label: (id: string) => string): string {
  if (answer?.state !== 'submitted') return 'The user left it open.'
  const { value } = answer
  const free = 'freeformValues' in value ? (value.freeformValues ?? []) : []
  const chosen = Array.isArray(value.value) ? value.value : [String(value.value)]
  return [...chosen.map(label), ...free].filter((text) => text !== '').join(', ') || 'The user left it open.'
}
