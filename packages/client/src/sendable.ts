import type { Action, Uri } from '@atrium/protocol/channel'
import { defaultLimits, hygiene } from '@atrium/protocol/rpc/hygiene'

/**
 * Why a host would not even look at a wish, or nothing. It ends the link over a frame that breaks its rules, and a wish that
 * has not ended is sent again over the next: one such wish would keep a client away for good.
 */
export function unsendable(channel: Uri, action: Action): string | undefined {
  if (typeof (action as Partial<Action> | null)?.type !== 'string') return 'an action without a type'
  const params = { clientSeq: Number.MAX_SAFE_INTEGER, channel, action }
  const frame = JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params })
  if (bytesOf(frame) > defaultLimits.size) return `the message is longer than ${defaultLimits.size} bytes`
  return hygiene(frame, defaultLimits)
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
