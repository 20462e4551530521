import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Conversation } from '../session/conversation.ts'

/**
 * Says a line in a chat: to the turn that goes on, else as a new one, of which `begun` is told. Gives back why that was
 * not possible, if it was not.
 */
export async function sayIn(
  conversation: Conversation,
  text: string,
  begun: (turnId: string) => void = () => {},
): Promise<string | undefined> {
  if (conversation.chat.state?.activeTurn) return reasonOf(await conversation.steer(text))
  const { turnId, outcome } = conversation.start(text)
  begun(turnId)
  const said = await outcome
  // Somebody began one in the same moment.
  if (said.outcome === 'refused' && conversation.chat.confirmed?.activeTurn)
    return reasonOf(await conversation.steer(text))
  return reasonOf(said)
}

/** Why a wish did not come true, if it did not. */
export function reasonOf(said: Outcome): string | undefined {
  return said.outcome === 'accepted' ? undefined : said.reason
}
