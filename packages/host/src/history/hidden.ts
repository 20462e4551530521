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

/** Whether the text of an action may be that of an action which is not shown, so that it must be parsed. */
export function mayBeHidden(text: string): boolean {
  return text.includes(drafted)
}

/**
 * Returns an action as it is shown. A pending message that became a turn which was taken away is shown without its
 * content.
 */
export function shownAction(action: Action, taken: ReadonlySet<string>): Action {
  if (taken.size === 0 || action.type !== 'chat/pendingMessageSet') return action
  // The cast is safe: a schema had checked the action before it was stored.
  return withoutTaken(action as Action & PendingMessage, taken)
}

/** Returns the state of a chat as it is shown: without its draft, and without the content of messages that were taken away. */
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
