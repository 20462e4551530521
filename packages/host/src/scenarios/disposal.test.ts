import { catalogOf } from '../catalog/catalog.ts'
import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { askingAgent, lateAgent, readyAgent } from '../../test/agents.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { until } from '../../test/scripted-agent.ts'
import { advance, testHost } from '../../test/test-host.ts'
import {
  chat,
  message,
  session,
  sessionOf,
  started,
  oneClientSession,
} from '../../test/one-client-session.ts'
import type { Agent } from '../ports/agent.ts'

const ready = readyAgent()
/** An agent that starts a worker whose turn never ends. */
const boss: Agent = {
  ...ready,
  info: { ...ready.info, capabilities: { multipleChats: {} } },
  async *run({ when, spawn, state }) {
    if (state.origin?.kind !== 'tool') spawn({ toolCallId: 'call', title: 'Work', text: 'work' })
    await when(() => false)
    yield* []
  },
}

test('[L8] a chat that is disposed of while its worker runs is gone', async () => {
  const { all, ann } = await oneClientSession(boss)
  await ann.ask('createChat', { channel: session, chat: 'c:/2' })
  ann.dispatch('c:/2', started('t'))
  await ann.until(() => sessionOf(ann).chats.length === 3)
  await ann.ask('disposeChat', { channel: 'c:/2' })
  await expect(ann.ask('subscribe', { channel: 'c:/2' })).rejects.toMatchObject({ code: -32008 })
  await ann.ask('disposeSession', { channel: session })
  await untilIdle()
  expect(
    ['c:/2', ...sessionOf(ann).chats.map(({ resource }) => resource)].map((uri) =>
      catalogOf(all.core()).sessionOf(uri),
    ),
  ).toEqual([undefined, undefined, undefined])
  expect(all.world.reports).toEqual([])
})

test('[W8] the pending approvals of a chat are removed when it is disposed of', async () => {
  const asking = askingAgent()
  const { ann } = await oneClientSession({ ...asking, info: boss.info })
  await ann.ask('createChat', { channel: session, chat: 'c:/2', initialMessage: message('go') })
  await ann.until(() => sessionOf(ann).inputNeeded !== undefined)
  await ann.ask('disposeChat', { channel: 'c:/2' })
  expect(sessionOf(ann).inputNeeded).toBeUndefined()
})

test('[W4] a session that is disposed of before it was announced is never mentioned', async () => {
  const { all, ann } = await oneClientSession(ready, { machine: advance })
  ann.dispatch(chat, started('t'))
  const gone = ann.ask('disposeSession', { channel: session })
  const { items } = await ann.ask('listSessions', {})
  await gone
  await untilIdle()
  all.world.advance(1000)
  expect([items, ann.notes]).toEqual([[], []])
})

test('[H2] the progress of a session that is disposed of during its creation ends', async () => {
  const all = await testHost({ agents: [lateAgent()] })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session, progressToken: 'p' })
  await untilIdle()
  await ann.ask('disposeSession', { channel: session })
  await untilIdle()
  expect(ann.notes).toMatchObject([{ method: 'root/progress', params: { progress: 1, total: 1 } }])
})

test('[L8] F-04: the URI of a damaged chat stays used when its session is disposed of', async () => {
  const { all, ann } = await oneClientSession({ ...ready, info: boss.info })
  await ann.ask('createChat', { channel: session, chat: 'c:/2' })
  await ann.ask('createSession', { channel: 'mock:/two' })
  await all.restart('close')
  const { load } = all.store().log
  all.store().log.load = async (uri, tail) =>
    uri === 'c:/2' ? { damaged: 'number 7 has a wrong checksum' } : load(uri, tail)
  const ben = await all.join('ben')
  await ben.ask('disposeSession', { channel: session })
  await expect(ben.ask('createChat', { channel: 'mock:/two', chat: 'c:/2' })).rejects.toMatchObject({
    code: -32010,
  })
  expect(all.world.reports.map(({ event }) => event)).toEqual(['damaged channel'])
})

test('[L9] a session of many sleeping chats is disposed of, however slow the disk is', async () => {
  const disk = memoryStore()
  let slow = () => {}
  let loads = 0
  const load: typeof disk.log.load = (...asked) => {
    if (++loads > 100) throw new Error('it does not come to an end')
    slow()
    return disk.log.load(...asked)
  }
  const { all, ann } = await oneClientSession(boss, { disk: { ...disk, log: { ...disk.log, load } } })
  for (const name of ['2', '3', '4']) await ann.ask('createChat', { channel: session, chat: `c:/${name}` })
  for (const channel of [session, chat]) ann.peer.notify('unsubscribe', { channel })
  const { log } = all.core()
  await until(() => {
    all.world.advance(61_000)
    return [session, chat, 'c:/2', 'c:/3', 'c:/4'].every((uri) => !log.channel(uri))
  })
  // Each read takes so long that chats woken first are due to sleep again before the last one is awake.
  slow = () => all.world.advance(40_000)
  await ann.ask('disposeSession', { channel: session })
})
