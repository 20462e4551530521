import { expect, test } from 'vitest'
import { session, title } from '../../test/held-flushes.ts'
import { testHost } from '../../test/test-host.ts'
import type { TestHost } from '../../test/test-host.ts'
import { lostHistory } from '../log/epochs.ts'

const root = 'ahp-root://'
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

test('[L13.16] F-12: on an older copy with an older clock, a client that has seen more starts over, and is told why', async () => {
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

test('[L13.16] F-12: a number that another run has assigned, too, is no number that the client has seen', async () => {
  const [later, all] = [await copied(), await copied()]
  const seen = await seenLater(later)
  await all.restart('close')
  const ben = await all.join('ben', { subscribe: [session] })
  while (ben.lastSeen <= seen) await ben.echo(ben.dispatch(session, title(`kept ${ben.lastSeen}`)))
  const { ann, result } = await returns(all, seen)
  expect(result).toMatchObject(startsOver)
  expect(ann.state(session)).toEqual(ben.state(session))
})

test('[L13.16] the number is not taken as seen by the next run either', async () => {
  const [later, all] = [await copied(), await copied()]
  const seen = await seenLater(later)
  await all.restart('close')
  const ben = await all.join('ben', { subscribe: [session] })
  while (ben.lastSeen <= seen) await ben.echo(ben.dispatch(session, title(`kept ${ben.lastSeen}`)))
  await all.restart('close')
  expect((await returns(all, seen)).result).toMatchObject({ type: 'snapshot' })
})

test('[L13.16] a client that was here in the last run gets its replay', async () => {
  const all = await copied()
  const seen = await seenLater(all)
  await all.restart('close')
  const { result } = await returns(all, seen)
  expect(result.type).toBe('replay')
  expect(result).not.toHaveProperty('_meta')
})
