import type { Message, PendingMessage } from './message.ts'
import type { ChatState } from './state.ts'

/**
 * Whether the pending messages of a chat wait for a user. They do while no turn is active and the last turn was cancelled or
 * has failed. The result depends only on the state of the chat, so all clients and a restarted host agree.
 */
export function holdsMessages({ activeTurn, turns }: ChatState): boolean {
  const last = turns.at(-1)?.state
  return !activeTurn && (last === 'cancelled' || last === 'error')
}

export function isQueueHeld(state: ChatState): boolean {
  return state.queuedMessages !== undefined && holdsMessages(state)
}

/** The messages of a chat that wait for a user, in the order in which they become turns. */
export function heldMessages(state: ChatState): readonly PendingMessage[] {
  const { steeringMessage, queuedMessages = [] } = state
  return holdsMessages(state) ? [...(steeringMessage ? [steeringMessage] : []), ...queuedMessages] : []
}

/** Marks a queued message with the turn that its client saw at work, so that the host can hold it if that turn failed meanwhile (H9.13). */
export function behind(message: Message, turnId: string): Message {
  return { ...message, _meta: { ...message._meta, 'x-atrium': { behind: turnId } } }
}

/** The turn behind which a message was queued. Undefined if its client has not named one. */
export function behindOf({ _meta }: Message): string | undefined {
  const own = _meta?.['x-atrium']
  if (typeof own !== 'object' || own === null || !('behind' in own)) return undefined
  return typeof own.behind === 'string' ? own.behind : undefined
}
