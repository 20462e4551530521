import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { untilIdle } from '../../host/test/held-flushes.ts'
import { hostAndClients } from '../test/host-and-clients.ts'

const session = 'ahp-session:/one'

async function twoClients() {
  const all = await hostAndClients()
  const ann = all.client('ann')
  const ben = all.client('ben')
  await ann.ask('createSession', { channel: session, provider: 'mock' })
  const a = ann.subscribe('session', session)
  const b = ben.subscribe('session', session)
  await Promise.all([a.until(({ lifecycle }) => lifecycle === 'ready'), b.ready()])
  return { all, ann, ben, a, b }
}

test('[U1] a dispatched action is shown at once, and reaches all clients when the host accepts it', async () => {
  const { a, b } = await twoClients()
  const dispatched = a.dispatch({ type: 'session/titleChanged', title: 'mine' })
  expect(a.state?.title).toBe('mine')
  expect(a.confirmed?.title).not.toBe('mine')
  expect(a.pending).toHaveLength(1)
  expect(await dispatched).toEqual({ outcome: 'accepted', serverSeq: expect.any(Number) })
  expect(a.pending).toEqual([])
  expect((await b.until(({ title }) => title === 'mine')).title).toBe('mine')
})

test('[U1] [U1.1] a refused action is withdrawn, and the outcome has the reason', async () => {
  const { ann, a } = await twoClients()
  const root = ann.subscribe('root', rootUri)
  await root.ready()
  const outcome = await root.dispatch({ type: 'root/configChanged', config: {}, replace: true })
  expect(outcome).toEqual({ outcome: 'refused', reason: expect.stringMatching(/replace/) })
  expect(root.pending).toEqual([])
  expect(root.state).toEqual(root.confirmed)
  expect(await a.dispatch({ type: 'session/titleChanged', title: 5 } as never)).toMatchObject({
    outcome: 'refused',
  })
  expect(a.pending).toEqual([])
})

test('[U4] a cut link is opened again, and both sides get what they missed', async () => {
  const { ann, ben, a, b } = await twoClients()
  ann.cut()
  await untilIdle()
  expect(ann.link.state).toBe('stale')
  const dispatched = a.dispatch({ type: 'session/titleChanged', title: 'offline' })
  await b.dispatch({ type: 'session/isArchivedChanged', isArchived: true })
  expect(a.state?.title).toBe('offline')
  ann.clock.advance(1_000)
  expect(await dispatched).toMatchObject({ outcome: 'accepted' })
  await b.until(({ title }) => title === 'offline')
  await a.until(({ status }) => (status & 64) !== 0)
  expect(a.confirmed).toEqual(b.confirmed)
  expect(ann.links).toBe(2)
  expect([ann, ben].flatMap(({ problems }) => problems.filter(({ kind }) => kind !== 'link'))).toEqual([])
})

test('[U4] the client reconnects to a host that was killed, and an action that was under way arrives', async () => {
  const { all, ann, ben, a, b } = await twoClients()
  const dispatched = a.dispatch({ type: 'session/titleChanged', title: 'before the fall' })
  await all.restart()
  for (const client of [ann, ben]) {
    client.cut()
    await untilIdle()
    client.clock.advance(1_000)
  }
  expect(await dispatched).toMatchObject({ outcome: 'accepted' })
  await b.until(({ title }) => title === 'before the fall')
  expect(b.confirmed).toEqual(a.confirmed)
})
