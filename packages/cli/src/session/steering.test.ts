import type { Outcome } from '@atrium/client/sync/pending-actions'
import type { Action } from '@atrium/protocol/channel'
import type { ChatState, TurnState } from '@atrium/protocol/chat/state'
import { reduceChat as reduce } from '@atrium/protocol/chat/reducer'
import { expect, test } from 'vitest'
import { messageOf, steer } from './steering.ts'

const running: ChatState = {
  resource: 'ahp-chat:/one',
  title: '',
  status: 8,
  modifiedAt: '2026-01-01T00:00:00Z',
  turns: [],
  activeTurn: {
    id: 't1',
    startedAt: '2026-01-01T00:00:00Z',
    message: messageOf('go'),
    responseParts: [],
  },
}

/** A chat whose turn ends in this way just before the host accepts the steering message. */
function endingAs(ended: TurnState | undefined) {
  const sent: string[] = []
  const chat = {
    state: running,
    confirmed: running,
    dispatch: async (action: Action): Promise<Outcome> => {
      sent.push(action.type)
      const { activeTurn, ...idle } = running
      if (ended && activeTurn) chat.confirmed = { ...idle, turns: [{ ...activeTurn, state: ended }] }
      chat.confirmed = reduce(chat.confirmed, action as never)
      return { outcome: 'accepted', serverSeq: 1 }
    },
  }
  return { chat, sent }
}

test.each([
  [undefined, ['chat/pendingMessageSet']],
  ['complete', ['chat/pendingMessageSet', 'chat/turnStarted']],
  ['cancelled', ['chat/pendingMessageSet']],
  ['error', ['chat/pendingMessageSet']],
] as const)('[Z8] a steering message whose turn ends as %s sends %j', async (ended, expected) => {
  const { chat, sent } = endingAs(ended)
  await steer(chat, 'say more')
  expect(sent).toEqual(expected)
})
