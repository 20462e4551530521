import type { MemoryStore } from '@atrium/adapters/store-memory'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { quiet } from '../test/held.ts'
import { mute, room } from '../test/room.ts'
import type { Chat } from './ports/agent.ts'

/** Its name comes before those of chats: the order must not matter. */
const session = 'a-session:/one'
const chat = defaultChatUri(session)

test('[W5] a turn that waited for its session when the host died runs, however soon the session is ready then', async () => {
  let making: Promise<void> = new Promise(() => {})
  const ran: string[] = []
  const agent = {
    ...mute,
    create: () => making,
    run(chat: Chat, signal: AbortSignal) {
      ran.push(chat.turnId)
      return mute.run(chat, signal)
    },
  }
  const all = await room({ agents: [agent] })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  const message = { text: 'go', origin: { kind: 'user' } }
  const startedAt = '2026-01-01T00:00:00Z'
  await ann.echo(ann.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', startedAt, message }))
  making = Promise.resolve()
  const next = await room({ agents: [agent], disk: slow(all.store().reopen()) })
  await quiet()
  const ben = await next.join('ben', { subscribe: [chat] })
  expect(ran).toEqual(['t1'])
  expect(ben.state(chat)).toMatchObject({ turns: [{ id: 't1', state: 'complete' }] })
})

/** A disk that takes its time to find a channel. */
function slow(disk: MemoryStore): MemoryStore {
  const load: MemoryStore['log']['load'] = async (...asked) => {
    await quiet()
    return disk.log.load(...asked)
  }
  return { ...disk, log: { ...disk.log, load } }
}
