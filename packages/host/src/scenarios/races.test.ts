import { expect, test } from 'vitest'
import {
  reconnectClient,
  heldHost,
  untilIdle,
  root,
  session,
  title,
  unsubscribe,
} from '../../test/held-flushes.ts'
import { testHost } from '../../test/test-host.ts'

// Interleavings that once went wrong.

test('[L9] a second sleep check does not remove a channel that was woken meanwhile', async () => {
  const all = await heldHost()
  const { ann, ben, world } = all
  await unsubscribe(ben)
  await unsubscribe(ann)
  world.advance(30_000)
  await ann.ask('subscribe', { channel: session })
  await unsubscribe(ann)
  world.advance(30_000)
  await ann.ask('subscribe', { channel: session })
  world.advance(30_000)
  expect(await ann.echo(ann.dispatch(session, title('heard')))).toMatchObject({ action: title('heard') })
})

test('[L8] a dispatch to a session that is being disposed of has no effect, and closes nothing', async () => {
  const { ann, ben, world, hold, release } = await heldHost()
  hold()
  ann.dispatch(root, { type: 'root/configChanged', config: { a: 1 } })
  await untilIdle()
  const gone = ann.ask('disposeSession', { channel: session })
  await untilIdle()
  ben.dispatch(session, title('late'))
  await untilIdle()
  release()
  await gone
  await untilIdle()
  expect(world.reports).toEqual([])
  await expect(ben.ask('subscribe', { channel: session })).rejects.toMatchObject({ code: -32001 })
})

test('[L2] I5: an action that was accepted before a session is disposed of is still delivered', async () => {
  const { ann, ben, hold, release } = await heldHost()
  hold()
  const seq = ann.dispatch(session, title('accepted'))
  await untilIdle()
  const gone = ben.ask('disposeSession', { channel: session })
  await untilIdle()
  release()
  await gone
  expect(await ann.echo(seq)).toMatchObject({ action: title('accepted') })
})

test('[L4] [I2] on a full disk sequence numbers still increase for every client, whatever is waiting', async () => {
  let full = false
  const all = await testHost({ full: () => full })
  const ann = await all.join('ann')
  const ben = await all.join('ben')
  await ann.ask('createSession', { channel: session })
  await ben.ask('subscribe', { channel: session })
  await ben.echo(ben.dispatch(session, title('seen')))
  full = true
  void ann.ask('createSession', { channel: 'ahp-session:/two' })
  while (!all.world.reports.some(({ event }) => event === 'disk full')) await ben.ask('ping', {})
  for (const text of ['1', '2']) await ben.echo(ben.dispatch(session, title(text)))
  const numbers = ben.envelopes.map(({ serverSeq }) => serverSeq)
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  expect(new Set(numbers).size).toBe(3)
})

test('[L13] [F-31] a client reconnects also while others write without pause', async () => {
  const all = await testHost({ soon: (task) => void setImmediate(task) })
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  const ben = await all.join('ben')
  for (const client of [ann, ben]) await client.ask('subscribe', { channel: session })
  let stop = false
  let count = 0
  const writing = (async () => {
    while (!stop) {
      ben.dispatch(session, title(`${count++}`))
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
  })()
  const { result } = await reconnectClient(all, ann, ann.lastSeen)
  stop = true
  await writing
  expect(result.type).toBe('replay')
})

test('[L13] [L13.6] where the log cannot be read, reconnect is answered with snapshots, and the link goes on', async () => {
  const all = await heldHost({ limits: { recentLength: 0 } })
  const { ann, ben } = all
  const { read } = all.store().log
  all.store().log.read = () => Promise.reject(new Error('number 7 has a wrong checksum'))
  const { lastSeen } = ann
  await ben.echo(ben.dispatch(session, title('missed')))
  const { link, result } = await reconnectClient(all, ann, lastSeen)
  all.store().log.read = read
  expect(result.type).toBe('snapshot')
  await ben.echo(ben.dispatch(session, title('x')))
  await link.until(() => link.envelopes.length === 1)
})

test('[L13] [F-23] of two links that one client opens at once, one is left', async () => {
  const { link } = await heldHost()
  const links = [link(), link()]
  await Promise.allSettled(links.map((one) => one.initialize('cem', [session])))
  await untilIdle()
  expect(links.filter((one) => !one.peer.closed.aborted)).toHaveLength(1)
})

test('[L13] F-23: requests of a link that was replaced have no effect', async () => {
  const all = await heldHost()
  const { ann, ben, world } = all
  await unsubscribe(ben)
  await unsubscribe(ann)
  world.advance(60_000)
  const { load } = all.store().log
  let go = () => {}
  const gate = new Promise<void>((resolve) => (go = resolve))
  all.store().log.load = (uri) => gate.then(() => load(uri))
  ann.dispatch(session, title('from the grave'))
  await untilIdle()
  const { link } = await reconnectClient(all, ann, ann.lastSeen, [])
  go()
  await untilIdle()
  await link.ask('subscribe', { channel: session })
  expect(link.state(session)).toMatchObject({ title: '' })
})

test('[H1] [S-14] a second handshake is refused also when both were sent at once', async () => {
  const { link } = await testHost()
  const ann = link()
  const results = await Promise.allSettled([ann.initialize('x'), ann.initialize('y')])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
})

test('[H3] an action dispatched right after the handshake is not lost', async () => {
  const { link, join } = await testHost()
  await (await join('ann')).ask('createSession', { channel: session })
  const ben = link()
  const opened = ben.initialize('ben', [session])
  const seq = ben.dispatch(session, title('at once'))
  await opened
  expect(await ben.echo(seq)).toMatchObject({ action: title('at once') })
})

test('[L13] a channel that was unsubscribed and is named again in reconnect gets a new snapshot', async () => {
  const all = await heldHost()
  const { ann, ben } = all
  await ann.ask('subscribe', { channel: root })
  await unsubscribe(ann)
  await ben.echo(ben.dispatch(session, title('not seen by Ann')))
  ben.dispatch(root, { type: 'root/configChanged', config: { x: 1 } })
  await ann.until(() => ann.envelopes.length > 0)
  const { result } = await reconnectClient(all, ann, ann.lastSeen, [root, session])
  expect(result.type).toBe('snapshot')
})

test('[L6] [L6.1] three hundred unseen actions that are resent are applied once', async () => {
  const all = await heldHost()
  const { ann, ben } = all
  const seen = ann.lastSeen
  for (let i = 1; i <= 300; i++) ann.dispatch(session, title(`${i}`))
  await ben.until(() => ben.envelopes.length === 300)
  const { link } = await reconnectClient(all, ann, seen)
  for (let i = 1; i <= 300; i++) link.dispatch(session, title(`${i}`), i)
  await link.echo(link.dispatch(session, title('new'), 301))
  await ben.until(() => ben.envelopes.length > 300)
  expect(ben.envelopes).toHaveLength(301)
})

test('[L6] an action is recognized also if a null stands for an absent key, and before it is durable', async () => {
  const all = await heldHost()
  const { ann, ben, hold, release } = all
  const set = {
    type: 'session/activeClientSet',
    activeClient: { clientId: 'ann', displayName: null, tools: [] },
  }
  hold()
  ann.dispatch(session, set, 1)
  await untilIdle()
  const coming = reconnectClient(all, ann, ann.lastSeen)
  await untilIdle()
  release()
  const { link } = await coming
  link.dispatch(session, set, 1)
  await link.echo(link.dispatch(session, title('new'), 2))
  expect(ben.envelopes.map(({ action }) => action.type)).toEqual([
    'session/activeClientSet',
    'session/titleChanged',
  ])
})

test('[L9] a reconnecting client is subscribed to its channels, whatever falls asleep or wakes meanwhile', async () => {
  const all = await heldHost()
  const { ann, ben, world } = all
  await unsubscribe(ben)
  ann.peer.close()
  await untilIdle()
  world.advance(55_000)
  const { dispatchedBy } = all.store().log
  // The minute after which an idle session falls asleep ends while the disk is read.
  all.store().log.dispatchedBy = (...args) => (world.advance(5_000), dispatchedBy(...args))
  const { link } = await reconnectClient(all, ann, ann.lastSeen)
  expect(await link.echo(link.dispatch(session, title('heard'), 1))).toMatchObject({ action: title('heard') })
})
