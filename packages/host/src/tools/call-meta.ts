import type { Action } from '@atrium/protocol/channel'
import { callIn } from '@atrium/protocol/chat/calls'
import type { Channel } from '../log/channel.ts'

type Meta = { readonly [key: string]: unknown }
type WithMeta = Action & { readonly toolCallId?: unknown; readonly _meta: Meta }

/**
 * Returns a client's action with the host's keys in its `_meta`: the client's `_meta` replaces that of the tool call, and the
 * host's keys must stay. Under these keys the host stores what a preview showed, and an agent stores to which of its
 * questions the call belongs.
 */
export function withCallMeta(channel: Channel, action: Action): Action {
  if (!channel.is('chat') || !hasMeta(action) || typeof action.toolCallId !== 'string') return action
  const { _meta: before = {} } = callIn(channel.head, action.toolCallId) ?? {}
  const meta = { ...filtered(action._meta, (key) => !isHostKey(key)), ...filtered(before, isHostKey) }
  return withMeta(action, meta)
}

/** An action without the keys that only the host and its agents write into `_meta`. */
export function withoutCallMeta(action: Action): Action {
  if (!hasMeta(action)) return action
  return withMeta(
    action,
    filtered(action._meta, (key) => !isHostKey(key)),
  )
}

function withMeta(action: WithMeta, _meta: Meta): WithMeta {
  return { ...action, _meta }
}

function hasMeta(action: Action): action is WithMeta {
  return '_meta' in action && typeof action._meta === 'object' && action._meta !== null
}

function filtered(meta: Meta, wanted: (key: string) => boolean): Meta {
  return Object.fromEntries(Object.entries(meta).filter(([key]) => wanted(key)))
}

function isHostKey(key: string): boolean {
  return key.startsWith('x-atrium')
}
