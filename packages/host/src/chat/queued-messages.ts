import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import type { PendingMessage } from '@atrium/protocol/chat/message'
import type { World } from '../ports/world.ts'

type Kind = 'steering' | 'queued'

/**
 * Returns the actions that, after an action, start the next turn of an idle chat with one of its pending messages. When a
 * turn has completed or was cancelled, the steering message that its agent has not read starts first, and then the queue.
 * After an error both wait for a user. A steering message that is set while the chat is idle waits for the next turn.
 */
export function nextTurn(state: ChatState, action: ChatAction, world: World): readonly ChatAction[] {
  if (state.activeTurn || !startsNext.has(action.type)) return []
  const steering = ends.has(action.type) ? state.steeringMessage : undefined
  return steering ? start('steering', steering, world) : startQueued(state, world)
}

const ends = new Set(['chat/turnComplete', 'chat/turnCancelled'])
const startsNext = new Set([...ends, 'chat/pendingMessageSet', 'chat/truncated'])

/** Returns the actions that start a turn with the next queued message of an idle chat, after a restart of the host. */
export function nextAfterRestart(state: ChatState, world: World): readonly ChatAction[] {
  const last: Turn | undefined = state.turns.at(-1)
  return state.activeTurn || last?.state === 'error' ? [] : startQueued(state, world)
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
