import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'

/**
 * Why a chat stays where it is, if it does. One that is at rest has nobody who works for it, and asks nobody anything: so
 * nothing of it has to be carried over but what it is.
 */
export function unmovable({ defaultChat }: SessionState, chat: ChatState): string | undefined {
  if (defaultChat === chat.resource) return 'the default chat stays with its session'
  if (chat.origin?.kind === 'tool') return 'the chat of a worker stays with the one that it worked for'
  if (chat.activeTurn) return 'a turn is in progress: wait for its end, or cancel it'
  return chat.queuedMessages ? 'messages wait in this chat' : undefined
}

/** What a chat must say of that now, if it says something else; `said`: the host's last action there. */
export function movableChange(
  session: SessionState,
  chat: ChatState,
  said?: { readonly type: string },
): boolean | undefined {
  // It takes a message out of a queue to begin with it: that is no rest.
  if (said?.type === 'chat/pendingMessageRemoved') return undefined
  const movable = unmovable(session, chat) === undefined
  return movable === (chat.movable ?? false) ? undefined : movable
}
