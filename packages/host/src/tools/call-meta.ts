import type { Action } from '@atrium/protocol/channel'
import { callIn } from '@atrium/protocol/chat/calls'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { Channel } from '../log/channel.ts'

type Meta = { readonly [key: string]: unknown }
type Saying = Action & { readonly toolCallId?: unknown; readonly _meta?: Meta }

/**
 * What a client says beside a tool call takes the place of what stood there. By some of that the host knows what people saw, and an agent
 * which question was answered: that stays.
 */
export function withCallMeta({ kind, head }: Channel, action: Action): Action {
  const { toolCallId, _meta } = action as Saying
  if (kind.name !== 'chat' || !_meta || typeof toolCallId !== 'string') return action
  const { _meta: before = {} } = callIn(head as ChatState, toolCallId) ?? {}
  return { ...action, _meta: { ...othersIn(_meta), ...marksIn(before) } } as Action
}

/** An action without what only the host and its agents say beside it. */
export function withoutCallMeta(action: Action): Action {
  const { _meta } = action as Saying
  return _meta ? ({ ...action, _meta: othersIn(_meta) } as Action) : action
}

function marksIn(meta: Meta): Meta {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => isMark(key)))
}

function othersIn(meta: Meta): Meta {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => !isMark(key)))
}

function isMark(key: string): boolean {
  return key.startsWith('x-atrium')
}
