import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Conversation } from '../session/conversation.ts'

/**
 * Sends a line to a chat. If a turn is active, the line is a steering message. Otherwise it starts a turn, and `started`
 * is called with the id of that turn. Returns the reason if the host did not accept the line.
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
  // Another client started a turn at the same moment: the line steers that turn.
  if (result.outcome === 'refused' && conversation.chat.confirmed?.activeTurn)
    return rejectionOf(await conversation.steer(text))
  return rejectionOf(result)
}

/** Returns why the host did not accept an action, or undefined if it did. */
export function rejectionOf(result: Outcome): string | undefined {
  return result.outcome === 'accepted' ? undefined : result.reason
}
