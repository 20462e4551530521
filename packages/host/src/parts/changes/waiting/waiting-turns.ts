import type { Action, Uri } from '@atrium/protocol/channel'
import type { Core } from '../../../kernel/core.ts'
import { sessionOf } from '../../../catalog/lookup.ts'
import { openRequests } from './open-requests.ts'
import type { RunningTurns } from '../running/running-turns.ts'

/**
 * Tells the running turns, after an action in a chat, whether the turn of this chat only waits for a person. The chats that
 * have given it a task may now do so, too, or no longer.
 */
export function updateWaiting(core: Core, running: RunningTurns, chat: Uri, action: Action): void {
  if (!requestsChange.has(action.type)) return
  const beside = sessionOf(core, chat)?.head.chats.map(({ resource }) => resource) ?? []
  for (const each of new Set([chat, ...beside]))
    if (running.has(each)) running.setWaiting(each, waitsForPerson(core, each))
}

/** Whether the turn of a chat has open requests, and all of them wait for a person, or for workers that do. */
function waitsForPerson(core: Core, chat: Uri, depth = 0): boolean {
  const open = openRequests(core.log.channel(chat, 'chat')?.head.activeTurn?.responseParts)
  if (open.length === 0 || depth > mostDepth) return false
  return open.every(
    ({ waitsFor, workers }) =>
      waitsFor === 'person' ||
      (workers.length > 0 && workers.every((worker) => waitsForPerson(core, worker, depth + 1))),
  )
}

/** The depth to which the workers of workers are looked at. */
const mostDepth = 8

const requestsChange = new Set([
  'chat/turnStarted',
  'chat/turnComplete',
  'chat/turnCancelled',
  'chat/error',
  'chat/truncated',
  'chat/toolCallStart',
  'chat/toolCallReady',
  'chat/toolCallConfirmed',
  'chat/toolCallContentChanged',
  'chat/toolCallComplete',
  'chat/toolCallResultConfirmed',
  'chat/toolCallAuthRequired',
  'chat/toolCallAuthResolved',
  'chat/inputRequested',
  'chat/inputCompleted',
])
