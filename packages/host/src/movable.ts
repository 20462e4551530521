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

/** The same as its state says it, where that does not say so yet. */
export function movableChange(session: SessionState, chat: ChatState): boolean | undefined {
  const movable = unmovable(session, chat) === undefined
  return movable === (chat.movable ?? false) ? undefined : movable
}
