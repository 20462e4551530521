import { catalogOf } from '../../catalog/catalog.ts'
import type { Action, Uri } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { movableChange } from '../chat/movable.ts'
import type { Core } from '../../kernel/core.ts'
import type { Channel } from '../../kernel/log/channel.ts'

/** A client's choice of the default chat. Without a chat, the session has no default chat. */
interface DefaultChatChanged extends Action {
  readonly defaultChat?: Uri | null | undefined
}

export function defaultChatProblem(
  { defaultChat }: DefaultChatChanged,
  { chats }: SessionState,
): string | undefined {
  // `null` counts as absent.
  const chosen = defaultChat ?? undefined
  return chosen === undefined || chats.some(({ resource }) => resource === chosen)
    ? undefined
    : 'this session has no such chat'
}

/**
 * The chats that must be loaded into memory before the default chat of a session changes: the old and the new default
 * chat. The state of each says whether it can be moved, and this changes in the same step.
 */
export function asleepForDefault(core: Core, session: Uri, action: Action): readonly Uri[] {
  const entry = action.type === 'session/defaultChatChanged' ? catalogOf(core).get(session) : undefined
  if (!entry) return []
  // No schema has checked the action yet. A value that is no chat of the session is ignored here.
  const { defaultChat: next } = action as DefaultChatChanged
  const chats = (entry.chats ?? []).map(({ resource }) => resource)
  return chats.filter((uri) => (uri === entry.defaultChat || uri === next) && !core.log.channel(uri))
}

/** Updates `movable` of the chats, after a client has changed the default chat: a default chat cannot be moved. */
export function defaultChatChanged(core: Core, session: Channel<'session'>): void {
  for (const { resource } of session.head.chats) {
    const chat = core.log.channel(resource, 'chat')
    const movable = chat && movableChange(session.head, chat.head)
    if (chat && movable !== undefined) core.log.append(chat, { type: 'chat/movableChanged', movable })
  }
}
