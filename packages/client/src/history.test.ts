import type { Envelope } from '@atrium/protocol/channel'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { untilIdle } from '../../host/test/held-flushes.ts'
import { hostAndClients } from '../test/host-and-clients.ts'
import { withTurns } from './history.ts'

const session = 'ahp-session:/one'
const chat = defaultChatUri(session)

/** Creates a chat with this number of turns. */
async function chatWithTurns(turns: number) {
  const all = await hostAndClients({ limits: { turnsPageLength: 300 } })
  const ann = all.client('ann')
  await ann.ask('createSession', { channel: session, provider: 'mock' })
  const handle = ann.subscribe('chat', chat)
  for (let at = 1; at <= turns; at++) {
    const message = { text: `message ${at}`, origin: { kind: 'user' } } as const
    const startedAt = '2026-01-01T00:00:00Z'
    await handle.dispatch({ type: 'chat/turnStarted', turnId: `t${at}`, startedAt, message })
    await handle.until(({ activeTurn }) => !activeTurn)
  }
  return { all, ann }
}

test('[U10] older turns are fetched page by page, all of them or as many as are wanted', async () => {
  const { all } = await chatWithTurns(9)
  const ben = all.client('ben')
  const part = ben.subscribe('chat', chat, { view: { turns: 1 } })
  expect((await part.ready()).turns.map(({ id }) => id)).toEqual(['t9'])
  const some = await withTurns(ben, part, 4)
  expect(some.turns.length).toBeGreaterThanOrEqual(4)
  expect(some.turnsNextCursor).toBeDefined()
  const whole = await withTurns(ben, part)
  expect(whole.turns.map(({ id }) => id)).toEqual(Array.from({ length: 9 }, (_, at) => `t${at + 1}`))
  expect(whole.turnsNextCursor).toBeUndefined()
  expect(ben.problems).toEqual([])
})

test('[U10] onAction reports every action in order, including those missed while the link was lost, until it is ended', async () => {
  const { all, ann } = await chatWithTurns(1)
  const ben = all.client('ben')
  await ben.subscribe('session', session).ready()
  const received: Envelope[] = []
  const end = ben.onAction((envelope) => void received.push(envelope))
  const rename = (title: string) => ann.dispatch(session, { type: 'session/titleChanged', title } as never)
  await rename('one')
  await untilIdle()
  ben.cut()
  await rename('two')
  ben.clock.advance(1_000)
  await untilIdle()
  end()
  await rename('three')
  await untilIdle()
  const titles = received.flatMap(({ action }) =>
    action.type === 'session/titleChanged' ? [(action as never as { title: string }).title] : [],
  )
  expect(titles).toEqual(['one', 'two'])
  expect(received.map(({ origin }) => origin?.clientId)).toContain('ann')
})
