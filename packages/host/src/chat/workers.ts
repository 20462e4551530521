import type { Uri } from '@atrium/protocol/channel'
import type { ActiveTurn, ChatSummary } from '@atrium/protocol/chat/state'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'

/**
 * Part of a step that ends a turn of a chat, or takes the chat away: whoever works for it stops. Who that is can be read
 * off the session, so it does not matter which life let them begin.
 */
export function disposeWorkers(core: Core, session: Channel<'session'>, employer: Uri): void {
  for (const { resource, origin } of session.head.chats) {
    // A chat with a turn that is not over is awake.
    const worker = core.log.channel(resource, 'chat')
    if (worker && origin?.kind === 'tool' && origin.chat === employer) cancel(core, worker)
  }
}

/** Ends a worker's turn. */
export function cancel(core: Core, worker: Channel<'chat'>): void {
  const { activeTurn } = worker.head
  if (!activeTurn) return
  const { id: turnId } = activeTurn
  core.log.append(worker, { type: 'chat/turnCancelled', turnId, duration: lasted(core, activeTurn) })
}

/** Whether it is a worker whose employer has no turn, or is gone. */
export function isDisposable(core: Core, chat: Channel<'chat'>): boolean {
  const { origin } = chat.head
  if (origin?.kind !== 'tool') return false
  const employer = core.log.channel(origin.chat, 'chat')?.head
  return employer?.activeTurn === undefined
}

/** How many employers a chat has above it: nobody's worker has none. */
export function depth(chats: readonly ChatSummary[], uri: Uri): number {
  const origin = chats.find(({ resource }) => resource === uri)?.origin
  return origin?.kind === 'tool' ? 1 + depth(chats, origin.chat) : 0
}

/** How long ago a turn began, in milliseconds: clocks may have jumped since. */
export function lasted({ world }: Core, { startedAt }: ActiveTurn): number {
  return Math.max(0, world.now() - Date.parse(startedAt)) || 0
}
