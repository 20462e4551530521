import type { Action } from '@atrium/protocol/channel'
import { callIn } from '@atrium/protocol/chat/calls'
import { without } from '@atrium/protocol/update'
import { withDecision } from '../access/decision.ts'
import type { ClientDecision, Decided } from '../access/decision.ts'
import type { Channel } from '../../kernel/log/channel.ts'

type Meta = { readonly [key: string]: unknown }
type WithMeta = Action & { readonly _meta: Meta }
type OnCall = Action & { readonly toolCallId: string; readonly approved?: unknown }

/** A client that dispatches an action: its id, its principal, what it calls itself, and the time. */
export type Deciding = Omit<ClientDecision, 'approved'>

/**
 * Adds the host's keys to the `_meta` of a client's action on a tool call, because this `_meta` replaces that of the
 * call. Under these keys the host stores what a preview showed and who decided about the call. An agent stores there
 * to which of its questions the call belongs. If the action is a decision, `by` is recorded.
 */
export function withCallMeta(channel: Channel, action: Action, by: Deciding): Action {
  if (!channel.is('chat') || !isOnCall(action)) return action
  const decided = decisions.get(action.type)
  if (!decided && !hasMeta(action)) return action
  const { _meta: before = {} } = callIn(channel.head, action.toolCallId) ?? {}
  const meta = hasMeta(action)
    ? { ...filtered(action._meta, (key) => !isHostKey(key)), ...filtered(before, isHostKey) }
    : before
  const decision = { approved: action.approved === true, ...by }
  return withMeta(action, decided ? withDecision(meta, decided, decision) : meta)
}

/** The actions by which a client decides, and the member under which the host records the client. */
const decisions: ReadonlyMap<string, Decided> = new Map([
  ['chat/toolCallConfirmed', 'decidedBy'],
  ['chat/toolCallResultConfirmed', 'resultDecidedBy'],
])

/** Removes the keys that only the host and its agents write from the `_meta` of an action. */
export function withoutCallMeta(action: Action): Action {
  if (!hasMeta(action)) return action
  const meta = filtered(action._meta, (key) => !isHostKey(key))
  // The host adds `_meta` to an action that has none. So an action whose `_meta` is empty equals one without `_meta`.
  return Object.keys(meta).length === 0 ? withoutMeta(action) : withMeta(action, meta)
}

function withMeta(action: Action, _meta: Meta): WithMeta {
  return { ...action, _meta }
}

function withoutMeta(action: Action & { readonly _meta?: Meta }): Action {
  return without(action, '_meta')
}

function isOnCall(action: Action): action is OnCall {
  return 'toolCallId' in action && typeof action.toolCallId === 'string'
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
