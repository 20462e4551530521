import type { ChatAction } from '@atrium/protocol/chat/actions'
import { behindOf, isQueueHeld } from '@atrium/protocol/chat/queue'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { PendingMessage } from '@atrium/protocol/chat/message'
import type { World } from '../../ports/world.ts'

type Kind = 'steering' | 'queued'

/**
 * Returns the actions by which an idle chat starts its next turn, after `action`, with one of its pending messages.
 * When a turn has completed, a steering message that the agent has not read comes first, and then the queue. After a
 * turn that was cancelled or has failed, no pending message starts a turn until a user does something. A steering
 * message that is set while the chat is idle waits for the next turn.
 */
export function nextTurn(state: ChatState, action: ChatAction, world: World): readonly ChatAction[] {
  if (state.activeTurn || !startsNext.has(action.type)) return []
  const steering = action.type === 'chat/turnComplete' ? state.steeringMessage : undefined
  if (steering) return start('steering', steering, world)
  return isQueueHeld(state) && !isOnlyMessage(state, action) ? [] : startQueued(state, world)
}

const startsNext = new Set(['chat/turnComplete', 'chat/pendingMessageSet', 'chat/truncated'])

/**
 * Whether an action sets the only queued message. This message starts a turn at once even if the queue is held (after
 * a turn that was cancelled or has failed), because there is no earlier message that it would overtake. If its sender
 * saw the last turn at work, the message is held as if it had come before the end of the turn.
 */
function isOnlyMessage({ queuedMessages, turns }: ChatState, action: ChatAction): boolean {
  if (action.type !== 'chat/pendingMessageSet' || action.kind !== 'queued') return false
  return queuedMessages?.length === 1 && behindOf(action.message) !== turns.at(-1)?.id
}

/** Returns the actions that start a turn with the next queued message of an idle chat, after a restart of the host. */
export function nextAfterRestart(state: ChatState, world: World): readonly ChatAction[] {
  return state.activeTurn || isQueueHeld(state) ? [] : startQueued(state, world)
}

function startQueued({ queuedMessages }: ChatState, world: World): readonly ChatAction[] {
  const first = queuedMessages?.[0]
  return first ? start('queued', first, world) : []
}

function start(kind: Kind, { id, message }: PendingMessage, world: World): readonly ChatAction[] {
  const startedAt = new Date(world.now()).toISOString()
  return [
    { type: 'chat/pendingMessageRemoved', kind, id },
    { type: 'chat/turnStarted', turnId: world.id(), startedAt, message, queuedMessageId: id },
  ]
}
