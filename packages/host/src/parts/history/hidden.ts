import type { Action } from '@atrium/protocol/channel'
import type { Message, PendingMessage } from '@atrium/protocol/chat/message'
import type { ChatState } from '@atrium/protocol/chat/state'
import { patch } from '@atrium/protocol/update'

/** The type of the action that changes the draft of a chat. */
const drafted = 'chat/draftChanged'

/** Whether an action belongs to the history. A draft was not sent, so it is no part of the past. */
export function isShown({ type }: Action): boolean {
  return type !== drafted
}

/** Whether an action, given as JSON, may be one that is not shown. Only then must it be parsed. */
export function mayBeHidden(text: string): boolean {
  return text.includes(drafted)
}

/**
 * Returns an action as it is shown. If it sets a pending message whose turn was removed by a truncation, the content
 * of the message is left out.
 */
export function shownAction(action: Action, taken: ReadonlySet<string>): Action {
  if (taken.size === 0 || action.type !== 'chat/pendingMessageSet') return action
  // The cast is safe: a schema had checked the action before it was stored.
  return withoutTaken(action as Action & PendingMessage, taken)
}

/**
 * Returns the state of a chat as it is shown: without its draft, and without the contents of pending messages whose
 * turns were removed by a truncation.
 */
export function shownChat(state: ChatState, taken: ReadonlySet<string>): ChatState {
  const { steeringMessage, queuedMessages } = state
  const shown = state.draft === undefined ? state : patch(state, { draft: undefined })
  if (taken.size === 0) return shown
  return {
    ...shown,
    ...(steeringMessage && { steeringMessage: withoutTaken(steeringMessage, taken) }),
    ...(queuedMessages && { queuedMessages: queuedMessages.map((each) => withoutTaken(each, taken)) }),
  }
}

function withoutTaken<M extends PendingMessage>(pending: M, taken: ReadonlySet<string>): M {
  if (!taken.has(pending.id)) return pending
  const { origin } = pending.message
  const message: Message = { text: '', origin, _meta: { 'x-atrium': { truncated: true } } }
  return { ...pending, message }
}
