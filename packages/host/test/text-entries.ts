import type { Action } from '@atrium/protocol/channel'
import { Entry } from '../src/kernel/log/entry.ts'

export const channels = ['a', 'b']
let last = 0

/** The number of the newest entry. */
export const lastSeq = () => last

/** An entry of a chat with the next sequence number. */
export function entry(channel = '', action: Action & Record<string, unknown>): Entry {
  const seq = ++last
  const parts = { origin: undefined, reason: undefined, only: undefined, sent: undefined, states: undefined }
  return new Entry({
    seq,
    last: seq,
    channel,
    kind: 'chat',
    label: JSON.stringify(channel),
    action,
    text: JSON.stringify(action),
    ...parts,
  })
}

export const delta = (channel: number, content: string, partId = 'p') =>
  entry(channels[channel], { type: 'chat/delta', turnId: 't', partId, content })
