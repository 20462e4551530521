import type { ChatState } from '@atrium/protocol/chat/state'
import { reduceChat } from '@atrium/protocol/chat/reducer'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { hostAndClients } from '../test/host-and-clients.ts'
import { pastEnvelopes, stateAt } from './past.ts'

const session = 'ahp-session:/one'
const chat = defaultChatUri(session)

/** Creates a chat with this number of turns. */
async function chatWithTurns(turns: number, limits: object = {}) {
  const all = await hostAndClients({ limits })
  const ann = all.client('ann')
  await ann.ask('createSession', { channel: session, provider: 'mock' })
  const handle = ann.subscribe('chat', chat)
  for (let at = 1; at <= turns; at++) {
    const message = { text: `message ${at}`, origin: { kind: 'user' } } as const
    const startedAt = '2026-01-01T00:00:00Z'
    await handle.dispatch({ type: 'chat/turnStarted', turnId: `t${at}`, startedAt, message })
    await handle.until(({ activeTurn }) => !activeTurn)
  }
  return { all, ann, handle }
}

test('[U26] the past is read by typed calls, and folding its envelopes gives its states', async () => {
  const { ann, handle } = await chatWithTurns(3)
  const page = await pastEnvelopes(ann, { channel: chat })
  const first = await stateAt<ChatState>(ann, { channel: chat, seq: page.begins })
  let state = first.snapshot?.state as ChatState
  expect(state.turns).toEqual([])
  // The envelopes are those of a chat.
  for (const { action } of page.envelopes) state = reduceChat(state, action as never)
  const last = await stateAt<ChatState>(ann, { channel: chat, seq: page.ends })
  expect(last.snapshot?.state).toEqual(state)
  expect(last.position).toBe(page.total)
  expect(state.turns).toEqual(handle.state?.turns)
})

test('[U26] a call that the host does not finish at once is repeated, with its progress', async () => {
  const { ann } = await chatWithTurns(3, { historyWork: 300 })
  const reached: number[] = []
  const page = await pastEnvelopes(ann, { channel: chat }, (at, upTo) => {
    expect(at).toBeLessThanOrEqual(upTo)
    reached.push(at)
  })
  expect(page.total).toBe(page.envelopes.length)
  expect(reached).toEqual(reached.toSorted((a, b) => a - b))
})

test('[U26] the refusal of a host is the error of the call', async () => {
  const { ann } = await chatWithTurns(1)
  await expect(stateAt(ann, { channel: chat, seq: 1 })).rejects.toThrow('before the creation')
  await expect(pastEnvelopes(ann, { channel: 'ahp-session:/none' })).rejects.toMatchObject({ code: -32008 })
})
