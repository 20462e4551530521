import type { Action } from '@atrium/protocol/channel'
import { callsChanged, hasRoom, stateLength } from '../channels/state-length.ts'
import type { Core } from '../kernel/core.ts'
import type { Channel } from '../kernel/log/channel.ts'
import type { Dispatcher } from '../kernel/log/options.ts'

/** The reason to refuse an action that matches its schema; undefined if the action is accepted. */
export function refusal(core: Core, channel: Channel, action: Action, by: Dispatcher): string | undefined {
  const { kind } = channel
  if (!kind.actions.has(action.type))
    return `unknown action ${JSON.stringify(action.type.slice(0, 100))} on a ${kind.name} channel`
  if (!kind.dispatchable.has(action.type)) return `${action.type} is dispatched by the host only`
  return (
    core.readOnlyReason(by.clientId) ??
    core.parts.refusal(channel, action, by) ??
    roomProblem(core, channel, action)
  )
}

/**
 * Returns the reason to refuse a long action for which the state has no room. Short actions are never refused for
 * this reason, so that a full chat can be stopped, answered and truncated.
 */
function roomProblem(core: Core, channel: Channel, action: Action): string | undefined {
  // An action of a client is much shorter than half of the limit. So an action that changes one call fits as long as
  // the state is shorter than half of the limit, and is not measured.
  const isSingle = callsChanged(channel, action) === 1
  if (isSingle && stateLength(core, channel) <= core.limits.stateLength / 2) return undefined
  if (hasRoom(core, channel, action) || JSON.stringify(action).length <= shortAction) return undefined
  return `this ${channel.kindName} is full: its state may have at most ${core.limits.stateLength} characters`
}

/** The length up to which an action counts as short, in characters. */
const shortAction = 4096
