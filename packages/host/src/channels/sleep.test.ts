import { expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import type { TestHost } from '../../test/test-host.ts'
import { chat, chatOf, session, oneClientSession, turn } from '../../test/one-client-session.ts'

async function minutes(all: TestHost, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    all.world.advance(60_000)
    await untilIdle()
  }
}

const awake = (all: TestHost) => [session, chat].filter((uri) => all.core().log.channel(uri))

test('[L9] a session that was woken for its chat sleeps after it', async () => {
  const { all } = await oneClientSession(readyAgent())
  await all.restart('close')
  const ben = await all.join('ben', { subscribe: [chat] })
  expect(awake(all)).toEqual([session, chat])
  ben.peer.notify('unsubscribe', { channel: chat })
  await untilIdle()
  await minutes(all, 3)
  expect(awake(all)).toEqual([])
})

test('[L9] a channel that was woken for one request sleeps again', async () => {
  const { all } = await oneClientSession(readyAgent())
  await all.restart('close')
  const ben = await all.join('ben')
  await ben.ask('fetchTurns', { channel: chat })
  await minutes(all, 3)
  expect(awake(all)).toEqual([])
})

test('[L9] [L9.10] a chat is never awake without its session', async () => {
  const { all } = await oneClientSession(readyAgent())
  await all.restart('close')
  const ben = await all.join('ben', { subscribe: [session] })
  ben.peer.notify('unsubscribe', { channel: session })
  await untilIdle()
  const { load } = all.store().log
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  all.store().log.load = async (uri, tail) => {
    if (uri === chat) await gate
    return load(uri, tail)
  }
  const subscribed = ben.ask('subscribe', { channel: chat })
  await untilIdle()
  await minutes(all, 2)
  go()
  await subscribed
  await turn(ben, 't')
  expect(chatOf(ben).turns).toMatchObject([{ state: 'complete' }])
})
