import type { Action } from '@atrium/protocol/channel'
import { strideOf } from '@atrium/protocol/kind'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { KindName } from '@atrium/protocol/reducers'
import type { ActionContext, Lens, Lowered } from '@atrium/protocol/versions/lens'
import type { ModelEntry } from './reference-model.ts'

export type LoweredActions = Lowered

/**
 * Returns the actions that a client of an older version is sent for an entry. The states come from the model, not
 * from the host.
 */
export function loweredActions(
  lens: Lens,
  kind: ChannelKind,
  { action, state }: ModelEntry,
  context: ActionContext,
): LoweredActions {
  // The cast is safe, because lenses translate every kind of channel that is in the log.
  const lowered = lens.actionDown(kind.name as KindName, action, context)
  // An action has only so many sequence numbers. If the older version needs more, the client gets a snapshot (V5).
  return lowered.length > strideOf(kind, state, action) ? 'rebuild' : lowered
}

/**
 * Returns the index of the action that carries the origin, among the actions that an older client is sent for an
 * entry. It is the first action that is named like the action of the entry, or else the first of all.
 */
export function mainAction(lowered: readonly Action[], { type }: Action): number {
  const name = type.slice(type.indexOf('/'))
  const at = lowered.findIndex((each) => each.type.endsWith(name))
  return Math.max(0, at)
}
