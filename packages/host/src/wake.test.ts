import { memoryStore } from '@atrium/adapters/store-memory'
import type { MemoryStore } from '@atrium/adapters/store-memory'
import type { SessionState } from '@atrium/protocol/session/state'
import { Activity } from '@atrium/protocol/status'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { quiet, session, title } from '../test/held.ts'
import { mute, room } from '../test/room.ts'

const chat = defaultChatUri(session)

test('[L9] a chat wakes with its session, also where that falls asleep meanwhile', async () => {
  const disk = gated(memoryStore())
  const busy = {
    ...mute,
    run: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }),
  }
  const all = await room({ agents: [busy], disk: disk.store })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.echo(ann.dispatch(session, title('one')))
  for (let i = 0; i < 4; i++) {
    all.world.advance(60_000)
    await quiet()
  }
  const { log } = all.core()
  expect([log.channel(session), log.channel(chat)]).toEqual([undefined, undefined])
  await ann.echo(ann.dispatch(session, title('two')))
  all.world.advance(59_000)
  disk.hold()
  const message = { text: 'go', origin: { kind: 'user' } }
  const startedAt = '2026-01-01T00:00:00Z'
  ann.dispatch(chat, { type: 'chat/turnStarted', turnId: 't1', startedAt, message })
  await quiet()
  all.world.advance(2000)
  await quiet()
  disk.release()
  await quiet()
  await ann.echo(ann.clientSeq)
  const state = log.channel(session)?.told as SessionState | undefined
  expect(state?.chats).toMatchObject([{ resource: chat, status: Activity.InProgress }])
})

test('[L9] a session that woke for its chat falls asleep after it', async () => {
  const all = await room()
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  const nights = async () => {
    for (let i = 0; i < 4; i++) {
      all.world.advance(60_000)
      await quiet()
    }
    const { log } = all.core()
    return [log.channel(session), log.channel(chat)]
  }
  expect(await nights()).toEqual([undefined, undefined])
  const draft = { text: 'to be', origin: { kind: 'user' } }
  await ann.echo(ann.dispatch(chat, { type: 'chat/draftChanged', draft }))
  expect(await nights()).toEqual([undefined, undefined])
})

/** A disk that finds no channel while it is held. */
function gated(disk: MemoryStore) {
  let held: Promise<void> = Promise.resolve()
  let release = () => {}
  const load: MemoryStore['log']['load'] = async (...asked) => {
    await held
    return disk.log.load(...asked)
  }
  return {
    store: { ...disk, log: { ...disk.log, load } },
    hold: () => void (held = new Promise((resolve) => (release = resolve))),
    release: () => release(),
  }
}
