import type { Subscription } from '@atrium/client/sync/handle'
import type { Outcome } from '@atrium/client/sync/pending-actions'
import { newId } from '@atrium/client/shared/globals'
import type { Message } from '@atrium/protocol/chat/message'
import { holdsMessages } from '@atrium/protocol/chat/queue'

/**
 * Sends a steering message to the active turn. A chat holds one steering message: if one is pending, the text is
 * appended to it.
 */
export async function steer(
  chat: Pick<Subscription<'chat'>, 'state' | 'confirmed' | 'dispatch'>,
  text: string,
): Promise<Outcome> {
  const pending = chat.state?.steeringMessage
  const id = pending?.id ?? newId()
  const message = messageOf(pending ? `${pending.message.text}\n\n${text}` : text)
  const outcome = await chat.dispatch({ type: 'chat/pendingMessageSet', kind: 'steering', id, message })
  const { confirmed } = chat
  const waits = confirmed && !confirmed.activeTurn && confirmed.steeringMessage?.id === id
  // If the turn was cancelled or has failed meanwhile, the message is held until a user starts a turn (H9.7).
  if (outcome.outcome !== 'accepted' || !waits || holdsMessages(confirmed)) return outcome
  // If the turn completed meanwhile, the message would still be pending during the next turn. So a turn is started with it.
  const startedAt = new Date().toISOString()
  return chat.dispatch({
    type: 'chat/turnStarted',
    turnId: newId(),
    startedAt,
    message,
    queuedMessageId: id,
  })
}

export function messageOf(text: string): Message {
  return { text, origin: { kind: 'user' } }
}
