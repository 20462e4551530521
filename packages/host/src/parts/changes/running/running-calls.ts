import { callsOf } from '@atrium/protocol/chat/calls'
import type { Channel } from '../../../kernel/log/channel.ts'
import { labelOf } from '../attribution.ts'
import type { RunningCall } from '../captured-turn.ts'

/** The calls of the active turn of a chat that run now: what changes in the meantime may be theirs. */
export function runningCalls({ head }: Channel<'chat'>): readonly RunningCall[] {
  return callsOf(head.activeTurn?.responseParts).flatMap((call) =>
    call.status === 'running' ? [{ id: call.toolCallId, label: labelOf(call) }] : [],
  )
}

/** The actions by which a call begins or ceases to run. */
export const callsChange: ReadonlySet<string> = new Set([
  'chat/toolCallReady',
  'chat/toolCallConfirmed',
  'chat/toolCallComplete',
  'chat/toolCallResultConfirmed',
  'chat/toolCallAuthRequired',
  'chat/toolCallAuthResolved',
])
