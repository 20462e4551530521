import type { Action } from '@atrium/protocol/channel'
import type { Channel } from '../log/channel.ts'
import type { Core } from '../core/core.ts'

/**
 * Returns an upper bound of the length of a channel's head as JSON, without its rows. An action adds at most its own length
 * to the state. So the state is measured only after it may have grown by a quarter, and the measuring costs little per action.
 */
export function stateLength({ limits }: Core, channel: Channel): number {
  const { appended } = channel.writes
  const last = measured.get(channel)
  const grown = last ? appended - last.appended : Infinity
  if (last && grown <= Math.max(limits.turnLength / 16, last.length / 4)) return last.length + grown
  const length = measure(channel)
  measured.set(channel, { length, appended })
  return length
}

/** Whether the state of a channel has room for an action. A snapshot of the channel must fit into one message. */
export function hasRoom(core: Core, channel: Channel, action: Action): boolean {
  return stateLength(core, channel) + JSON.stringify(action).length <= core.limits.stateLength
}

/** Returns the exact length of a channel's head as JSON, without its rows. */
export function measure(channel: Channel): number {
  const { rows } = channel.kind
  return JSON.stringify(rows === undefined ? channel.head : { ...channel.head, [rows]: [] }).length
}

const measured = new WeakMap<Channel, { readonly length: number; readonly appended: number }>()
