import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { session, title } from '../../test/held-flushes.ts'
import { testHost } from '../../test/test-host.ts'
import type { TestHost } from '../../test/test-host.ts'
import { numbersAhead } from '../kernel/log/group-commit.ts'
import { lostHistory } from '../kernel/log/epochs.ts'

const root = 'ahp-root://'

/** A host whose store has lost all numbers above `kept`, up to `lost`. Ann is subscribed to a session, and has left. */
async function lossyHost() {
  const disk = memoryStore()
  const before = await testHost({ disk })
  const ann = await before.join('ann', { subscribe: [root] })
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  await before.host().close()
  const store = disk.reopen()
  const kept = store.log.upTo - numbersAhead
  const lost = store.log.upTo + 50_000_000_000
  const all = await testHost({ disk: { ...store, log: { ...store.log, lost } } })
  const reconnect = (lastSeenServerSeq: number) => {
    const params = { clientId: 'ann', lastSeenServerSeq, subscriptions: [root, session] }
    return all.link().ask('reconnect', params)
  }
  return { all, ann, kept, lost, reconnect }
}

test('[L13.11] F-03: a client that has seen a lost number gets snapshots and the reason', async () => {
  const { kept, lost, reconnect } = await lossyHost()
  for (const seen of [kept + 1, lost])
    expect(await reconnect(seen)).toMatchObject({
      type: 'snapshot',
      snapshots: [{ resource: root }, { resource: session }],
      _meta: { 'x-atrium': { lost: lostHistory } },
    })
})

test('[L13.11] a client that has seen no lost number gets its replay, and no reason', async () => {
  const { kept, reconnect } = await lossyHost()
  const result = await reconnect(kept)
  expect(result.type).toBe('replay')
  expect(result).not.toHaveProperty('_meta')
})

test('[L13.11] the host that has found a loss says so in initialize and in its root state, and reports it', async () => {
  const { all } = await lossyHost()
  const ben = all.link()
  const note = { 'x-atrium': { lost: lostHistory } }
  expect(await ben.initialize('ben', [root])).toMatchObject({ _meta: note })
  expect(ben.state(root)).toMatchObject({ _meta: { ...note, hostBuild: 'test' } })
  expect(all.world.reports).toContainEqual(expect.objectContaining({ event: 'history lost' }))
})

test('[L5.1] [F-13] no lost number is assigned again, even if the clock was set back', async () => {
  const { all, lost } = await lossyHost()
  expect(all.world.now() * 1000).toBeLessThan(lost)
  expect(all.core().log.first).toBe(lost + 2)
})

test('[L13.11] the next host says it only to a client that has seen a lost number', async () => {
  const { all, kept } = await lossyHost()
  await all.restart('close')
  const ben = await all.join('ben', { subscribe: [root] })
  expect(ben.state(root)).not.toMatchObject({ _meta: { 'x-atrium': {} } })
  const late = all.link()
  const params = { clientId: 'ann', lastSeenServerSeq: kept + 1, subscriptions: [session] }
  expect(await late.ask('reconnect', params)).toMatchObject({ _meta: { 'x-atrium': { lost: lostHistory } } })
})

const hour = 60 * 60_000

/** A host with a session, which Ann has seen. Two such hosts have the same store: one is the copy of the other. */
async function copied(): Promise<TestHost> {
  const all = await testHost()
  const ann = await all.join('ann', { subscribe: [root] })
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  return all
}

const returns = (all: TestHost, lastSeenServerSeq: number) => {
  const ann = all.link()
  ann.clientId = 'ann'
  const params = { clientId: 'ann', lastSeenServerSeq, subscriptions: [root, session] }
  return ann.ask('reconnect', params).then((result) => ({ ann, result }))
}

/** Runs a host again, lets Ann change the title there, and returns the last number that she has seen. */
async function seenLater(all: TestHost): Promise<number> {
  await all.restart('close')
  const { ann } = await returns(all, 0)
  await ann.echo(ann.dispatch(session, title('lost')))
  return ann.lastSeen
}

const startsOver = {
  type: 'snapshot',
  snapshots: [{ resource: root }, { resource: session }],
  _meta: { 'x-atrium': { lost: lostHistory } },
}

test('[L13.15] [F-12] on an older copy with an older clock, a client that has seen more starts over, and is told why', async () => {
  const [later, all] = [await copied(), await copied()]
  later.world.advance(hour)
  const seen = await seenLater(later)
  await all.restart('close')
  expect(seen).toBeGreaterThan(all.core().log.last)
  for (const _ of ['once', 'again']) {
    const { ann, result } = await returns(all, seen)
    expect(result).toMatchObject(startsOver)
    expect(ann.state(session)['title']).not.toBe('lost')
  }
  expect(all.world.reports.filter(({ event }) => event === 'history lost')).toHaveLength(1)
})

test('[L13.15] [F-12] a number that another run has assigned, too, is no number that the client has seen', async () => {
  const [later, all] = [await copied(), await copied()]
  const seen = await seenLater(later)
  await all.restart('close')
  const ben = await all.join('ben', { subscribe: [session] })
  while (ben.lastSeen <= seen) await ben.echo(ben.dispatch(session, title(`kept ${ben.lastSeen}`)))
  const { ann, result } = await returns(all, seen)
  expect(result).toMatchObject(startsOver)
  expect(ann.state(session)).toEqual(ben.state(session))
})

test('[L13.15] the number is not taken as seen by the next run either', async () => {
  const [later, all] = [await copied(), await copied()]
  const seen = await seenLater(later)
  await all.restart('close')
  const ben = await all.join('ben', { subscribe: [session] })
  while (ben.lastSeen <= seen) await ben.echo(ben.dispatch(session, title(`kept ${ben.lastSeen}`)))
  await all.restart('close')
  expect((await returns(all, seen)).result).toMatchObject({ type: 'snapshot' })
})

test('[L13.15] a client that was here in the last run gets its replay', async () => {
  const all = await copied()
  const seen = await seenLater(all)
  await all.restart('close')
  const { result } = await returns(all, seen)
  expect(result.type).toBe('replay')
  expect(result).not.toHaveProperty('_meta')
})
