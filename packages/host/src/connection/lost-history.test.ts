import { memoryStore } from '@atrium/adapters/store/memory'
import { expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'
import { numbersAhead } from '../log/group-commit.ts'
import { lostHistory } from '../log/epochs.ts'

const root = 'ahp-root://'
const session = 'ahp-session:/one'

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

test('[L5.1] F-13: no lost number is assigned again, even if the clock was set back', async () => {
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
