import type { ChatAction } from '@atrium/protocol/chat/actions'
import type { ChatState, Turn } from '@atrium/protocol/chat/state'
import type { PendingMessage } from '@atrium/protocol/chat/message'
import type { World } from '../ports/world.ts'

type Kind = 'steering' | 'queued'

/**
 * The turn that a chat at rest begins with what waits there, if anything does and this action lets it. What was meant for
 * a turn that was ended well, and was not taken up, comes first, then the queue. After an error both wait for a person;
 * what is said to steer a chat at rest waits for its next turn.
 */
export function nextTurn(state: ChatState, action: ChatAction, world: World): readonly ChatAction[] {
  if (state.activeTurn || !wakes.has(action.type)) return []
  const late = ends.has(action.type) ? state.steeringMessage : undefined
  return late ? begin('steering', late, world) : queued(state, world)
}

const ends = new Set(['chat/turnComplete', 'chat/turnCancelled'])
const wakes = new Set([...ends, 'chat/pendingMessageSet', 'chat/truncated'])

/** The same at a start, for a queue that waits on a chat at rest. */
export function nextAtStart(state: ChatState, world: World): readonly ChatAction[] {
  const last: Turn | undefined = state.turns.at(-1)
  return state.activeTurn || last?.state === 'error' ? [] : queued(state, world)
}

function queued({ queuedMessages }: ChatState, world: World): readonly ChatAction[] {
  const first = queuedMessages?.[0]
  return first ? begin('queued', first, world) : []
}

function begin(kind: Kind, { id, message }: PendingMessage, world: World): readonly ChatAction[] {
  const startedAt = new Date(world.now()).toISOString()
  return [
    { type: 'chat/pendingMessageRemoved', kind, id },
    { type: 'chat/turnStarted', turnId: world.id(), startedAt, message, queuedMessageId: id },
  ]
}
