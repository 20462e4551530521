import type { Action, Uri } from '@atrium/protocol/channel'
import { reducers } from '@atrium/protocol/reducers'
import type { KindName } from '@atrium/protocol/reducers'
import { defaultLimits, frameProblem } from '@atrium/protocol/rpc/frame-check'
import type { Check } from '../shared/check.ts'

/**
 * Returns the copy of an action that is shown and sent, without keys whose value is `undefined`. Throws if the action has
 * the wrong shape, even if the channel is not subscribed. Also throws if a host would refuse the frame of the action.
 */
export function sendable(
  check: Check,
  channel: Uri,
  given: Action,
  subscribed: KindName | undefined,
): Action {
  const action: Action = JSON.parse(JSON.stringify(given))
  const problem = unsendable(channel, action)
  if (problem !== undefined) throw new Error(problem)
  const kind = subscribed ?? kindOf(action)
  if (kind !== undefined) check.action(kind, action)
  return action
}

/**
 * Returns why an action cannot be sent, or undefined if it can. A host closes the link over a frame that breaks its
 * limits. The action would stay pending, be sent again over every new link, and so lock the client out for good.
 */
function unsendable(channel: Uri, action: Partial<Action> | null): string | undefined {
  if (typeof action?.type !== 'string') return 'the action has no type'
  const params = { clientSeq: Number.MAX_SAFE_INTEGER, channel, action }
  const frame = JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
  if (bytesOf(frame) > defaultLimits.size) return `the message is longer than ${defaultLimits.size} bytes`
  return frameProblem(frame, defaultLimits)
}

/** Returns the kind of channel that an action is for, by the prefix of its type. */
function kindOf({ type }: Action): KindName | undefined {
  const [name = ''] = type.split('/')
  // The keys of `reducers` are the names of the kinds.
  return Object.hasOwn(reducers, name) ? (name as KindName) : undefined
}

/**
 * Returns the number of bytes of a text in UTF-8. For a text that is short enough in any case it returns the number
 * of characters, which may be lower.
 */
function bytesOf(text: string): number {
  if (text.length * 3 <= defaultLimits.size) return text.length
  let bytes = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const half = code >= 0xd800 && code < 0xe000
    bytes += code < 0x80 ? 1 : code < 0x800 || half ? 2 : 3
  }
  return bytes
}
