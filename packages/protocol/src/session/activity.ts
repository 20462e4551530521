import type { ChatSummary } from '../chat/state.ts'
import type { SessionStatus } from '../common/status.ts'
import { Activity, activityMask, activityOf, withActivity } from '../status.ts'
import type { SessionState } from './state.ts'

/**
 * Returns the status to show for a session: the activity of its leading chat, and the session's own flags. The status in the
 * state cannot be used, because no action sets it back to idle after a request for input, or to "in progress" when a turn
 * starts.
 */
export function sessionStatus(
  state: Pick<SessionState, 'status' | 'lifecycle' | 'chats' | 'defaultChat'>,
): SessionStatus {
  const activity =
    state.lifecycle === 'failed' ? Activity.Error : activityOf(leadingChat(state)?.status ?? Activity.Idle)
  // `activityOf` returns a value of `Activity`, typed as a number.
  return withActivity(state.status, activity as Activity)
}

/**
 * Returns the chat whose activity a session shows: a chat that needs input, else a chat that failed, else the default
 * chat, else the newest chat.
 */
export function leadingChat({
  chats,
  defaultChat,
}: Pick<SessionState, 'chats' | 'defaultChat'>): ChatSummary | undefined {
  return (
    chats.find(({ status }) => (status & activityMask) === Activity.InputNeeded) ??
    chats.find(({ status }) => (status & activityMask) === Activity.Error) ??
    chats.find(({ resource }) => resource === defaultChat) ??
    newestChat(chats)
  )
}

export function newestChat(chats: readonly ChatSummary[]): ChatSummary | undefined {
  return chats.reduce<ChatSummary | undefined>(
    (last, chat) => (last && modificationTime(last) >= modificationTime(chat) ? last : chat),
    undefined,
  )
}

/**
 * The time of the last change in milliseconds since 1970, or 0 if it is not a valid time. The texts themselves cannot
 * be compared, because clients write the times of their turns in any time zone.
 */
export function modificationTime({ modifiedAt }: ChatSummary): number {
  return Date.parse(modifiedAt) || 0
}
