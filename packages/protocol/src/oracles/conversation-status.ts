import { Activity, Flag, withActivity, withFlag } from '../status.ts'
import type { Conversation } from './traits.ts'

/**
 * The status of a conversation up to 0.5.2. The conversation needs input while a request is open, even without an active
 * turn, or while a call of the active turn waits for a person.
 */
export function statusOf({ activeTurn, inputRequests, status }: Conversation): number {
  const waits = activeTurn?.responseParts.some(
    ({ kind, toolCall }) =>
      kind === 'toolCall' &&
      (toolCall?.status === 'pending-confirmation' || toolCall?.status === 'pending-result-confirmation'),
  )
  if (waits || (inputRequests && inputRequests.length > 0)) return withActivity(status, Activity.InputNeeded)
  return withActivity(status, activeTurn ? Activity.InProgress : Activity.Idle)
}

export function withStatus(state: Conversation): Conversation {
  return { ...state, status: statusOf(state) }
}

/** The state with its status computed again and without the flag IsRead, because there is something new to read. */
export function unread(state: Conversation): Conversation {
  return { ...state, status: withFlag(statusOf(state), Flag.IsRead, false) }
}
