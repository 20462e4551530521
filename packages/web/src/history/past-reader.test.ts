import type { Client } from '@atrium/client/client'
import type { EnvelopesParams } from '@atrium/protocol/root/past'
import { expect, test } from 'vitest'
import { PastReader } from './past-reader.ts'

const channel = 'ahp-chat:/c'

/** A client of a host with a chat of `total` actions, one more after the first answer, as in a chat that goes on. */
function growing(total: number): Client {
  let now = total
  const envelope = (position: number) => ({
    channel,
    serverSeq: position,
    action: { type: 'chat/activityChanged', activity: `action ${position}` },
  })
  const request = (method: string, params: EnvelopesParams) => {
    const range = { channel, begins: 0, ends: now, total: now }
    if (method === 'x-atrium/stateAt')
      return { ...range, snapshot: { channel, state: { turns: [] }, fromSeq: now } }
    const { position = 1, limit = 0 } = params
    const length = Math.max(0, Math.min(limit, now - position + 1))
    const envelopes = Array.from({ length }, (_, i) => envelope(position + i))
    if (now === total) now++
    return { ...range, position, envelopes, gaps: [] }
  }
  const ask = (method: string, params: EnvelopesParams) => Promise.resolve(request(method, params))
  // The cast is safe: the reader only asks.
  return { ask } as unknown as Client
}

test('[U27.3] the newest moment is the last action, also if it arrives while the past is read', async () => {
  const moment = await new PastReader(growing(3), channel, () => {}).newest()
  expect([moment.position, moment.range.total]).toEqual([4, 4])
  expect(moment.state.activity).toBe('action 4')
})

test('[U27] a chosen position stays, also if actions arrive while the past is read', async () => {
  const moment = await new PastReader(growing(3), channel, () => {}).moment(2)
  expect([moment.position, moment.range.total]).toEqual([2, 4])
})
