import type { Action, Uri } from '@atrium/protocol/channel'
import { reducers } from '@atrium/protocol/reducers'
import type { KindName } from '@atrium/protocol/reducers'
import { defaultLimits, frameProblem } from '@atrium/protocol/rpc/frame-check'
import type { Check } from '../shared/check.ts'

/**
 * An action as it is shown and sent: without `undefined`, and nobody's to change any more. Throws with a sentence where it
 * has not its shape, whether or not somebody follows the channel, or where no host would look at it.
 */
export function sendable(check: Check, channel: Uri, given: Action, followed: KindName | undefined): Action {
  const action = JSON.parse(JSON.stringify(given)) as Action
  const problem = unsendable(channel, action)
  if (problem !== undefined) throw new Error(problem)
  const kind = followed ?? kindOf(action)
  if (kind !== undefined) check.action(kind, action)
  return action
}

/**
 * A host ends the link over a frame that breaks its rules, and a wish that has not ended is sent again over the next: one
 * such wish would keep a client away for good.
 */
function unsendable(channel: Uri, action: Action): string | undefined {
  if (typeof (action as Partial<Action> | null)?.type !== 'string') return 'an action without a type'
  const params = { clientSeq: Number.MAX_SAFE_INTEGER, channel, action }
  const frame = JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
  if (bytesOf(frame) > defaultLimits.size) return `the message is longer than ${defaultLimits.size} bytes`
  return frameProblem(frame, defaultLimits)
}

/** Which channels an action is for. */
function kindOf({ type }: Action): KindName | undefined {
  const [name = ''] = type.split('/')
  return Object.hasOwn(reducers, name) ? (name as KindName) : undefined
}

/** As UTF-8. Counted only where it could matter. */
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
