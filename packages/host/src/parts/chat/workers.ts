import type { Uri } from '@atrium/protocol/channel'
import type { ActiveTurn, ChatSummary } from '@atrium/protocol/chat/state'
import type { Channel } from '../../kernel/log/channel.ts'
import type { Core } from '../../kernel/core.ts'

/**
 * Cancels the turns of a chat's workers (agents that do tasks of its turn, in chats of their own), in the transaction
 * that ends the chat's turn or disposes of the chat. Workers are found by the origins of the session's chats, so
 * workers from an earlier run of the host are found, too.
 */
export function cancelWorkers(core: Core, session: Channel<'session'>, parent: Uri): void {
  for (const { resource, origin } of session.head.chats) {
    // A chat with an active turn is in memory.
    const worker = core.log.channel(resource, 'chat')
    if (worker && origin?.kind === 'tool' && origin.chat === parent) cancelTurn(core, worker)
  }
}

/** Cancels the active turn of a worker. */
export function cancelTurn(core: Core, worker: Channel<'chat'>): void {
  const { activeTurn } = worker.head
  if (!activeTurn) return
  const { id: turnId } = activeTurn
  core.log.append(worker, { type: 'chat/turnCancelled', turnId, duration: durationOf(core, activeTurn) })
}

/** Whether a chat belongs to a worker whose parent chat has no active turn or was disposed of. */
export function isOrphaned(core: Core, chat: Channel<'chat'>): boolean {
  const { origin } = chat.head
  if (origin?.kind !== 'tool') return false
  const parent = core.log.channel(origin.chat, 'chat')?.head
  return parent?.activeTurn === undefined
}

/** Number of parent chats above a worker's chat; 0 for other chats. */
export function workerDepth(chats: readonly ChatSummary[], uri: Uri): number {
  const origin = chats.find(({ resource }) => resource === uri)?.origin
  return origin?.kind === 'tool' ? 1 + workerDepth(chats, origin.chat) : 0
}

/** Milliseconds since a turn started; never negative, although the clock may have been set back. */
export function durationOf({ world }: Core, { startedAt }: ActiveTurn): number {
  return Math.max(0, world.now() - Date.parse(startedAt)) || 0
}
