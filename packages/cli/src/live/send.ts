import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Conversation } from '../session/conversation.ts'

/**
 * Sends a line to a chat: as a steering message if a turn is active, otherwise as a new turn, whose id `started` gets.
 * Returns the reason if the host did not accept it.
 */
export async function sendLine(
  conversation: Conversation,
  text: string,
  started: (turnId: string) => void = () => {},
): Promise<string | undefined> {
  if (conversation.chat.state?.activeTurn) return rejectionOf(await conversation.steer(text))
  const { turnId, outcome } = conversation.start(text)
  started(turnId)
  const result = await outcome
  // Another client started a turn at the same moment: steer that one.
  if (result.outcome === 'refused' && conversation.chat.confirmed?.activeTurn)
    return rejectionOf(await conversation.steer(text))
  return rejectionOf(result)
}

/** Returns why an action was not accepted; nothing where it was. */
export function rejectionOf(result: Outcome): string | undefined {
  return result.outcome === 'accepted' ? undefined : result.reason
}
