import type { Action } from '@atrium/protocol/channel'
import { callsOf } from '@atrium/protocol/chat/calls'
import type { Channel } from '../kernel/log/channel.ts'
import type { Core } from '../kernel/core.ts'

/**
 * Returns the length of a channel's newest state, committed or not, in characters of JSON and without the finished
 * turns of a chat. To measure a state is expensive. So the state is measured after it may have grown by a quarter,
 * and when a turn begins, ends or is resumed. In between, the lengths of the appended actions are added. The result
 * may be too high, but hardly too low.
 */
export function stateLength({ limits }: Core, channel: Channel): number {
  const { appended } = channel.writes
  const last = measured.get(channel)
  if (!last || last.turn !== turnOf(channel)) return measure(channel)
  const grown = appended - last.appended
  return grown <= Math.max(limits.turnLength / 16, last.length / 4) ? last.length + grown : measure(channel)
}

/**
 * Whether an action may be appended to a channel. The state must stay small enough that a snapshot of the channel fits into one
 * message. If the result is true, the caller must append the action.
 */
export function hasRoom(core: Core, channel: Channel, action: Action): boolean {
  const max = core.limits.stateLength
  const { length } = JSON.stringify(action)
  const copies = callsChanged(channel, action)
  const whole = length * copies
  if (stateLength(core, channel) + whole > max && measure(channel) + whole > max) return false
  const last = measured.get(channel)
  // The length of the action itself is added when it is appended.
  if (last && copies > 1) measured.set(channel, { ...last, length: last.length + whole - length })
  return true
}

/**
 * The number of tool calls that an action changes, at least 1. An agent may use the id of a call again in the same turn, and an
 * action then changes all calls with this id.
 */
export function callsChanged(channel: Channel, action: Action): number {
  const changes = 'toolCallId' in action && action.type !== 'chat/toolCallStart'
  if (!changes || !channel.is('chat')) return 1
  const calls = callsOf(channel.head.activeTurn?.responseParts)
  return Math.max(1, calls.filter(({ toolCallId }) => toolCallId === action.toolCallId).length)
}

/** Measures the state of a channel. Returns its exact length, and keeps it for `stateLength`. */
export function measure(channel: Channel): number {
  const { rows } = channel.kind
  const { length } = JSON.stringify(rows === undefined ? channel.head : { ...channel.head, [rows]: [] })
  measured.set(channel, { length, appended: channel.writes.appended, turn: turnOf(channel) })
  return length
}

/**
 * Returns a text that changes with the active turn and with the number of finished turns. When it changes, the state
 * of a chat may have grown or shrunk by much.
 */
function turnOf(channel: Channel): string {
  return channel.is('chat') ? `${channel.rowIds.length} ${channel.head.activeTurn?.id ?? ''}` : ''
}

interface Measured {
  readonly length: number
  /** The length of the actions that were appended before the measurement. */
  readonly appended: number
  readonly turn: string
}

const measured = new WeakMap<Channel, Measured>()
