import type { Cases } from '../reduce.ts'
import { patch } from '../update.ts'
import type { InputAction } from './actions.ts'
import type { ChatInputAnswer, ChatInputRequest } from './request.ts'
import type { ChatState, InputRequestPart } from './state.ts'
import { statusOf } from './tool-call.ts'
import { unread, withTurn } from './turn.ts'

export const inputCases: Cases<ChatState, InputAction> = {
  'chat/inputRequested': (state, { request }) => {
    const turn = state.activeTurn
    if (!turn) return state
    const asked = openPart(state, request.id)
    if (!asked) {
      const part: InputRequestPart = { kind: 'inputRequest', request }
      return unread(withTurn(state, { ...turn, responseParts: [...turn.responseParts, part] }))
    }
    const answers = request.answers ?? asked.part.request.answers
    return unread(withPartAt(state, asked.index, { ...asked.part, request: withAnswers(request, answers) }))
  },

  'chat/inputAnswerChanged': (state, { requestId, questionId, answer }) => {
    const asked = openPart(state, requestId)
    if (!asked) return state
    const { [questionId]: _, ...others } = asked.part.request.answers ?? {}
    const answers = answer ? { ...asked.part.request.answers, [questionId]: answer } : others
    return withPartAt(state, asked.index, {
      ...asked.part,
      request: withAnswers(asked.part.request, answers),
    })
  },

  'chat/inputCompleted': (state, { requestId, response, answers }) => {
    const asked = openPart(state, requestId)
    if (!asked) return state
    const request = withAnswers(asked.part.request, { ...asked.part.request.answers, ...answers })
    const next = withPartAt(state, asked.index, { ...asked.part, request, response })
    return { ...next, status: statusOf(next) }
  },
}

/** Finds a request without a response in the active turn. A request with a response never opens again. */
function openPart(
  state: ChatState,
  requestId: string,
): { part: InputRequestPart; index: number } | undefined {
  for (const [index, part] of (state.activeTurn?.responseParts ?? []).entries())
    if (part.kind === 'inputRequest' && part.response === undefined && part.request.id === requestId)
      return { part, index }
  return undefined
}

function withPartAt(state: ChatState, index: number, part: InputRequestPart): ChatState {
  const turn = state.activeTurn
  return turn ? withTurn(state, { ...turn, responseParts: turn.responseParts.with(index, part) }) : state
}

function withAnswers(
  request: ChatInputRequest,
  answers: { readonly [question: string]: ChatInputAnswer } | undefined,
): ChatInputRequest {
  return patch(request, { answers: answers && Object.keys(answers).length > 0 ? answers : undefined })
}
