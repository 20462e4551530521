import { orAbsent, patch, remove, upsert } from '../update.ts'
import { unread, withStatus } from './conversation-status.ts'
import type { Conversation, Traits, InputRequest } from './traits.ts'

type Answers = InputRequest['answers']

interface Requested {
  readonly request: InputRequest
}
interface AnswerChanged {
  readonly requestId: string
  readonly questionId: string
  readonly answer?: unknown
}
interface Completed {
  readonly requestId: string
  readonly response: unknown
  readonly answers?: Answers
}

/** The rules of input requests up to 0.5.1. The requests are a list beside the turns, and need no active turn. */
export function requestRules({ time }: Pick<Traits, 'time'>) {
  return {
    inputRequested: (state: Conversation, { request }: Requested, now: number): Conversation => {
      const answers = request.answers ?? requestIn(state, request.id)?.answers
      const inputRequests = upsert(state.inputRequests, 'id', answered(request, answers))
      return unread({ ...state, inputRequests, modifiedAt: time(now) })
    },

    inputAnswerChanged: (state: Conversation, action: AnswerChanged, now: number): Conversation => {
      const { requestId, questionId, answer } = action
      const request = requestIn(state, requestId)
      if (!request) return state
      const { [questionId]: _, ...others } = request.answers ?? {}
      const answers = answer ? { ...request.answers, [questionId]: answer } : others
      const inputRequests = upsert(state.inputRequests, 'id', answered(request, answers))
      return { ...state, inputRequests, modifiedAt: time(now) }
    },

    inputCompleted: (state: Conversation, { requestId }: Completed, now: number): Conversation => {
      if (!requestIn(state, requestId)) return state
      const left = remove(state.inputRequests ?? [], 'id', requestId)
      return withStatus(patch(state, { inputRequests: orAbsent(left), modifiedAt: time(now) }))
    },
  }
}

/**
 * Records a completed request as 0.5.2 does: appends a part with the request, its answers and the response to the
 * active turn.
 */
export function recorded(state: Conversation, { requestId, response, answers }: Completed): Conversation {
  const turn = state.activeTurn
  const asked = requestIn(state, requestId)
  if (!turn || !asked) return state
  const request = answered(asked, { ...asked.answers, ...answers })
  const part = { kind: 'inputRequest', request, response }
  return { ...state, activeTurn: { ...turn, responseParts: [...turn.responseParts, part] } }
}

function requestIn({ inputRequests }: Conversation, requestId: string): InputRequest | undefined {
  return inputRequests?.find(({ id }) => id === requestId)
}

function answered(request: InputRequest, answers: Answers): InputRequest {
  return patch(request, { answers: answers && Object.keys(answers).length > 0 ? answers : undefined })
}
