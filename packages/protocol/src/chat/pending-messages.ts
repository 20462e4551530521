import type { Cases } from '../reduce.ts'
import { orAbsent, patch, upsert } from '../update.ts'
import type { PendingMessageAction } from './actions.ts'
import type { ChatState } from './state.ts'

export const pendingMessageCases: Cases<ChatState, PendingMessageAction> = {
  'chat/pendingMessageSet': (state, { kind, id, message }) =>
    kind === 'steering'
      ? { ...state, steeringMessage: { id, message } }
      : { ...state, queuedMessages: upsert(state.queuedMessages, 'id', { id, message }) },

  'chat/pendingMessageRemoved': (state, { kind, id }) => {
    if (kind === 'steering')
      return state.steeringMessage?.id === id ? patch(state, { steeringMessage: undefined }) : state
    const queue = state.queuedMessages ?? []
    const left = queue.filter((message) => message.id !== id)
    return left.length === queue.length ? state : patch(state, { queuedMessages: orAbsent(left) })
  },

  'chat/queuedMessagesReordered': (state, { order }) => {
    if (!state.queuedMessages) return state
    const queued = new Map(state.queuedMessages.map((message) => [message.id, message]))
    const named = new Set(order)
    const first = [...named].flatMap((id) => queued.get(id) ?? [])
    const rest = state.queuedMessages.filter((message) => !named.has(message.id))
    return { ...state, queuedMessages: [...first, ...rest] }
  },
}
