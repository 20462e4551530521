import type { LinkState } from '@atrium/client/link/reconnect'
import type { PendingAction } from '@atrium/client/sync/replica'

/** Why the message of a turn is not with the host yet, in words. Undefined if the host has it. */
export function waitingWords(
  pending: readonly PendingAction[],
  turnId: string,
  link: LinkState,
): string | undefined {
  const waits = pending.some(
    ({ action }) => action.type === 'chat/turnStarted' && 'turnId' in action && action.turnId === turnId,
  )
  if (!waits) return undefined
  return link === 'live' ? 'Sending…' : 'Waits for the host'
}
