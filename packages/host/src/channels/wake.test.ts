import { changesOf } from '../catalog/change-tracking.ts'
import { MemoryCaptures } from '@atrium/adapters/captures/memory'
import { memoryStore } from '@atrium/adapters/store/memory'
import type { MemoryStore } from '@atrium/adapters/store/memory'
import type { Action } from '@atrium/protocol/channel'
import type { SessionState } from '@atrium/protocol/session/state'
import { Activity } from '@atrium/protocol/status'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { untilIdle, session, title } from '../../test/held-flushes.ts'
import { silentAgent, testHost } from '../../test/test-host.ts'

const chat = defaultChatUri(session)

const busy = {
  ...silentAgent,
  run: () => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) }),
}
const started = {
  type: 'chat/turnStarted',
  turnId: 't1',
  startedAt: '2026-01-01T00:00:00Z',
  message: { text: 'go', origin: { kind: 'user' } },
}

/** Begins to wake a sleeping chat. The session of the chat would be due to fall asleep by now. */
async function waking(disk: ReturnType<typeof gated>, action: Action & Record<string, unknown>) {
  const all = await testHost({ agents: [busy], disk: disk.store })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.echo(ann.dispatch(session, title('one')))
  for (let i = 0; i < 4; i++) {
    all.world.advance(60_000)
    await untilIdle()
  }
  const { log } = all.core()
  expect([log.channel(session), log.channel(chat)]).toEqual([undefined, undefined])
  await ann.echo(ann.dispatch(session, title('two')))
  all.world.advance(59_000)
  disk.hold()
  const clientSeq = ann.dispatch(chat, action)
  await untilIdle()
  all.world.advance(2000)
  await untilIdle()
  const shown = () => (log.channel(session)?.committed as SessionState | undefined)?.chats
  return { all, ann, clientSeq, shown }
}

test('[L9] [L9.10] a chat wakes with its session, also if the session would fall asleep meanwhile', async () => {
  const disk = gated(memoryStore())
  const { ann, clientSeq, shown } = await waking(disk, started)
  disk.release()
  await ann.echo(clientSeq)
  expect(shown()).toMatchObject([{ resource: chat, status: Activity.InProgress }])
})

test("[L9] [I18] another client's action in a chat that is being woken reaches the session too", async () => {
  const disk = gated(memoryStore())
  const { all, ann, clientSeq, shown } = await waking(disk, { type: 'chat/isReadChanged', isRead: false })
  const ben = await all.join('ben')
  // The reads that have begun complete; later reads wait.
  disk.release()
  disk.hold()
  await untilIdle()
  const said = ben.dispatch(chat, started)
  await untilIdle()
  disk.release()
  await ben.echo(said)
  await ann.echo(clientSeq)
  expect(shown()).toMatchObject([{ resource: chat, status: Activity.InProgress }])
})

test('[L9] a session that woke for its chat falls asleep after it', async () => {
  const all = await testHost()
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  const nights = async () => {
    for (let i = 0; i < 4; i++) {
      all.world.advance(60_000)
      await untilIdle()
    }
    const { log } = all.core()
    return [log.channel(session), log.channel(chat)]
  }
  expect(await nights()).toEqual([undefined, undefined])
  const draft = { text: 'to be', origin: { kind: 'user' } }
  await ann.echo(ann.dispatch(chat, { type: 'chat/draftChanged', draft }))
  expect(await nights()).toEqual([undefined, undefined])
})

test('[L8] a session that is created while another client asks for it is not taken for a damaged one', async () => {
  const all = await testHost({ machine: { captures: new MemoryCaptures() } })
  const [ann, ben] = [await all.join('ann'), await all.join('ben')]
  const changes = changesOf(all.core())
  if (!changes) throw new Error('the host has no captures')
  const create = changes.create.bind(changes)
  changes.create = async (uri) => {
    changes.create = create
    await ann.ask('createSession', { channel: session })
    return create(uri)
  }
  const { snapshot } = await ben.ask('subscribe', { channel: session })
  expect(snapshot?.resource).toBe(session)
})

/** A store whose reads of channels wait between `hold` and `release`. */
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
