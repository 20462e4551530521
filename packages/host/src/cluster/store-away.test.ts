import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { readyAgent } from '../../test/agents.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import { indexed, search, searchedHost } from '../../test/search/searching.ts'
import { turn } from '../../test/one-client-session.ts'
import { Client, testHost } from '../../test/test-host.ts'
import { StoreAway } from '../ports/lease.ts'

const session = 'ahp-session:/one'
const sentence = 'This node cannot reach its database'

/** A host with a session that is not in memory. `away.now`: the store cannot be read. */
async function hostWithoutDatabase() {
  const disk = memoryStore()
  const before = await testHost({ disk, agents: [readyAgent()] })
  await (await before.join('ann')).ask('createSession', { channel: session })
  await before.host().close()
  const store = disk.reopen()
  const away = { now: false }
  const load: typeof store.log.load = async (...given) => {
    if (away.now) throw new StoreAway('PostgreSQL cannot be reached; gave up after 30 seconds')
    return store.log.load(...given)
  }
  const all = await testHost({ disk: { ...store, log: { ...store.log, load } }, agents: [readyAgent()] })
  const [, far] = all.wire()
  const ben = new Client(far)
  await ben.initialize('ben')
  away.now = true
  return { all, ben, away, closed: far.closed }
}

test('[L55.2] a subscription to a session that is not in memory is refused with a sentence about the database', async () => {
  const { all, ben, away } = await hostWithoutDatabase()
  await expect(ben.ask('subscribe', { channel: session })).rejects.toThrow(sentence)
  expect(all.world.reports).toContainEqual(expect.objectContaining({ event: 'database away' }))
  away.now = false
  await ben.ask('subscribe', { channel: session })
  expect(ben.state(session)).toBeDefined()
})

test('[L55.2] a client that comes back, and needs a session that is not in memory, is refused with the sentence', async () => {
  const { all, away } = await hostWithoutDatabase()
  const back = () =>
    all.link().ask('reconnect', { clientId: 'ann', lastSeenServerSeq: 1, subscriptions: [session] })
  await expect(back()).rejects.toThrow(sentence)
  away.now = false
  expect(await back()).toMatchObject({ snapshots: [{ resource: session }] })
})

test('[L55.2] a link with an action for a session that is not in memory is closed with a sentence; sent again, it is accepted', async () => {
  const { all, ben, away, closed } = await hostWithoutDatabase()
  const action = { type: 'session/titleChanged', title: 'new' }
  ben.dispatch(session, action)
  await untilIdle()
  expect(String(closed.reason)).toContain('this node cannot reach its database; connect again')
  expect(ben.envelopes).toEqual([])
  away.now = false
  const again = await all.join('ben', { subscribe: [session] })
  const echo = await again.echo(again.dispatch(session, action, 1))
  expect(echo.rejectionReason).toBeUndefined()
})

test('[L55.2] a search is refused with a sentence about the database', async () => {
  const { all, ann, index } = await searchedHost()
  await turn(ann, 't1', 'word')
  await indexed(all)
  index.fault = async () => {
    throw new StoreAway('PostgreSQL cannot be reached; gave up after 30 seconds')
  }
  await expect(search(ann, 'word')).rejects.toThrow(sentence)
  index.fault = () => {}
  expect((await search(ann, 'word')).items.length).toBeGreaterThan(0)
})
