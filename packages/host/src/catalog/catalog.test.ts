import { expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { chat, chatOf, message, session, oneClientSession } from '../../test/one-client-session.ts'
import { defaultChatUri } from '@atrium/protocol/uri'

test('[H2] [H2.3] sessions with turns of any time and length are all in the list, in pages', async () => {
  const { ann } = await oneClientSession({
    ...readyAgent(),
    run: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }),
  })
  await ann.ask('createSession', { channel: 'mock:/two' })
  await untilIdle()
  const begins = (startedAt: string) => ({
    type: 'chat/turnStarted',
    turnId: 't',
    startedAt,
    message: message('go'),
  })
  await ann.echo(ann.dispatch(chat, begins('9999-12-31T23:59:59Z')))
  await ann.echo(ann.dispatch(chat, { type: 'chat/turnCancelled', turnId: 't', duration: 1e12 }))
  await ann.echo(ann.dispatch(defaultChatUri('mock:/two'), begins('2026-01-01T00:00:00Z')))
  await untilIdle()
  expect(chatOf(ann).turns).toHaveLength(1)
  const first = await ann.ask('listSessions', { limit: 1 })
  const second = await ann.ask('listSessions', { limit: 1, cursor: first.nextCursor ?? '' })
  expect([...first.items, ...second.items].map(({ resource }) => resource)).toEqual([session, 'mock:/two'])
})
