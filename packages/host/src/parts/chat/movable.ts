import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'

/**
 * Returns the reason why a chat cannot be moved to another session; undefined if it can. A chat without an active
 * turn has no running workers and no open requests, so a move need not transfer either of them.
 */
export function unmovable({ defaultChat }: SessionState, chat: ChatState): string | undefined {
  if (defaultChat === chat.resource) return 'the default chat stays with its session'
  if (chat.origin?.kind === 'tool') return 'the chat of a worker stays with its parent chat'
  if (chat.activeTurn) return 'a turn is in progress: wait for its end, or cancel it'
  return chat.queuedMessages ? 'the chat has queued messages' : undefined
}

/**
 * The new value of a chat's `movable`; undefined if the value does not change. `hostAction` is the action just appended, if the
 * host produced it.
 */
export function movableChange(
  session: SessionState,
  chat: ChatState,
  hostAction?: { readonly type: string },
): boolean | undefined {
  // When the host removes a queued message, it starts a turn with this message in the same transaction. So the chat does
  // not become movable between the two actions.
  if (hostAction?.type === 'chat/pendingMessageRemoved') return undefined
  const movable = unmovable(session, chat) === undefined
  return movable === (chat.movable ?? false) ? undefined : movable
}
