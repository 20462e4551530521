import { expect, test } from 'vitest'
import { untilIdle } from '../../test/held-flushes.ts'
import { testHost } from '../../test/test-host.ts'
import type { Client } from '../../test/test-host.ts'
import { session, title, twoClients } from '../../test/two-clients.ts'

const root = 'ahp-root://'

/** What a client was told about the disk. */
const told = ({ notes }: Client) =>
  notes.flatMap(({ method, params }) => (method === 'x-atrium/diskFull' ? [params] : []))

/** Ann and Ben are subscribed to a session; Cem follows the root, too. */
async function onSmallDisk() {
  const disk = { full: false }
  const all = await twoClients(await testHost({ full: () => disk.full }))
  const cem = await all.join('cem', { subscribe: [root, session] })
  return { ...all, cem, disk }
}

test('[L4.6] F-07: a client whose action waits for space is told so at once, and when there is space again', async () => {
  const { ann, ben, cem, disk, world } = await onSmallDisk()
  disk.full = true
  const first = ann.dispatch(session, title('kept'))
  await ann.until(() => told(ann).length === 1)
  await cem.until(() => told(cem).length === 1)
  const waits = { full: true, message: expect.stringContaining('waits for space') as string }
  expect(told(ann)).toMatchObject([{ channel: session, ...waits }])
  expect(told(cem)).toMatchObject([{ channel: root, ...waits }])
  // The disk is tried again every second, and nobody is told the same again.
  world.advance(1000)
  await ben.ask('listSessions', {})
  disk.full = false
  world.advance(1000)
  expect(await ann.echo(first)).toMatchObject({ action: title('kept') })
  for (const [client, channel] of [
    [ann, session],
    [cem, root],
  ] as const) {
    await client.until(() => told(client).length === 2)
    expect(told(client).at(-1)).toMatchObject({ channel, full: false })
  }
  // Ben neither has an action that waits nor follows the root.
  expect(told(ben)).toEqual([])
})

test('[L4.9] F-07: what a client sends while its action waits for space waits, too, and is accepted in its order', async () => {
  const { ann, ben, disk, world } = await onSmallDisk()
  disk.full = true
  const sent = [ann.dispatch(session, title('0'))]
  await ann.until(() => told(ann).length === 1)
  for (let n = 1; n < 60; n++) sent.push(ann.dispatch(session, title(String(n))))
  const refused = await ben.echo(ben.dispatch(session, title('of Ben')))
  expect(refused.rejectionReason).toContain('the disk of the host is full')
  disk.full = false
  world.advance(1000)
  await ann.echo(sent.at(-1) ?? 0)
  const own = ann.envelopes.filter(({ origin }) => origin?.clientId === 'ann')
  expect(own.map(({ origin }) => origin?.clientSeq)).toEqual(sent)
  expect(own.filter(({ rejectionReason }) => rejectionReason !== undefined)).toEqual([])
  expect(ann.state(session)).toMatchObject({ title: '59' })
})

test('[L4.9] F-07: more than 2 MiB do not wait for space: the rest is refused, in its order', async () => {
  const { ann, disk, world } = await onSmallDisk()
  disk.full = true
  const long = 'x'.repeat(256 * 1024)
  const sent = [ann.dispatch(session, title('0'))]
  await ann.until(() => told(ann).length === 1)
  for (let n = 1; n < 12; n++) sent.push(ann.dispatch(session, title(`${n}${long}`)))
  await ann.ask('listSessions', {})
  disk.full = false
  world.advance(1000)
  await ann.echo(sent.at(-1) ?? 0)
  const own = ann.envelopes.filter(({ origin }) => origin?.clientId === 'ann')
  expect(own.map(({ origin }) => origin?.clientSeq)).toEqual(sent)
  const refused = own.flatMap(({ rejectionReason, origin }) => (rejectionReason ? [origin?.clientSeq] : []))
  expect(refused).toEqual(sent.slice(9))
})

test('[L4.6] [L13.8] a client that connects while the disk is full is told after the answer to its handshake', async () => {
  const all = await onSmallDisk()
  const { ann, disk, world } = all
  disk.full = true
  const first = ann.dispatch(session, title('kept'))
  await ann.until(() => told(ann).length === 1)
  const dan = await all.join('dan', { subscribe: [root] })
  await dan.until(() => told(dan).length === 1)
  const eve = await all.join('eve')
  expect(told(eve)).toEqual([])
  for (const channel of [root, session]) await eve.ask('subscribe', { channel })
  await eve.until(() => told(eve).length === 1)
  const again = all.link()
  again.clientId = 'ann'
  const params = { clientId: 'ann', lastSeenServerSeq: ann.lastSeen, subscriptions: [session] }
  await again.ask('reconnect', params)
  await again.until(() => told(again).length === 1)
  disk.full = false
  world.advance(1000)
  expect(await again.echo(first)).toMatchObject({ action: title('kept') })
  for (const client of [again, dan, eve]) {
    await client.until(() => told(client).length === 2)
    expect(told(client)).toMatchObject([{ full: true }, { full: false }])
  }
})

test('[L4.6] [V6] a client of AHP 0.9 is told, too', async () => {
  const { link, ann, disk } = await onSmallDisk()
  const old = link()
  await old.ask('initialize', { protocolVersions: ['0.9.0'], clientId: 'old', initialSubscriptions: [root] })
  disk.full = true
  ann.dispatch(session, title('kept'))
  await old.until(() => told(old).length === 1)
  expect(told(old)).toMatchObject([{ channel: root, full: true }])
})

/** Returns an object that is empty until a promise is settled. Then it has the result, or the error as text. */
function followed(promise: Promise<unknown>) {
  const outcome: { now?: unknown } = {}
  promise.then(
    (result) => (outcome.now = result),
    (error: unknown) => (outcome.now = String(error)),
  )
  return outcome
}

test('[L4.8] nobody is told that a session is missing before its removal is durable', async () => {
  const all = await onSmallDisk()
  const { ann, ben, cem, disk, world } = all
  const dan = await all.join('dan')
  disk.full = true
  const disposed = ann.ask('disposeSession', { channel: session })
  await cem.until(() => told(cem).length === 1)
  const again = all.link()
  again.clientId = 'ben'
  const back = { clientId: 'ben', lastSeenServerSeq: ben.lastSeen, subscriptions: [session] }
  const outcomes = [
    again.ask('reconnect', back),
    cem.ask('subscribe', { channel: session }),
    dan.peer.request('x-atrium/envelopes', { channel: session, position: 1, limit: 1 }),
  ].map(followed)
  await untilIdle()
  expect(outcomes).toEqual([{}, {}, {}])
  disk.full = false
  world.advance(1000)
  await disposed
  await untilIdle()
  expect(outcomes).toEqual([
    { now: expect.objectContaining({ type: 'replay', missing: [session] }) as unknown },
    { now: `AhpError: no session "${session}"` },
    { now: `AhpError: x-atrium/envelopes: "${session}" was disposed of, and its history with it` },
  ])
})

test.each(['reconnect', 'initialize'] as const)(
  '[L4.8] a session that is disposed of during %s is left out when its removal is durable',
  async (method) => {
    const all = await onSmallDisk()
    const { ann, ben, cem, disk, world } = all
    const { log } = all.core()
    const wake = log.wake.bind(log)
    // The host has found the session, and looks for the next channel of the handshake.
    log.wake = async (uri) => {
      if (uri === 'ahp-session:/none' && !disk.full) {
        disk.full = true
        void ann.ask('disposeSession', { channel: session })
        await cem.until(() => told(cem).length === 1)
      }
      return wake(uri)
    }
    const again = all.link()
    const channels = [root, session, 'ahp-session:/none']
    const outcome = followed(
      method === 'reconnect'
        ? again.ask(method, { clientId: 'ben', lastSeenServerSeq: ben.lastSeen, subscriptions: channels })
        : again.ask(method, { clientId: 'ben', protocolVersions: ['1.0.0'], initialSubscriptions: channels }),
    )
    await cem.until(() => told(cem).length === 1)
    await untilIdle()
    expect(outcome).toEqual({})
    disk.full = false
    world.advance(1000)
    await untilIdle()
    expect(outcome).toMatchObject({ now: { snapshots: [{ resource: root }] } })
  },
)

test('[L4.8] a name is called taken when the channel that has it is durable', async () => {
  const { ann, ben, cem, disk, world } = await onSmallDisk()
  disk.full = true
  const params = { channel: 'ahp-session:/new' }
  const outcomes = [ann.ask('createSession', params), ben.ask('createSession', params)].map(followed)
  await cem.until(() => told(cem).length === 1)
  await untilIdle()
  expect(outcomes).toEqual([{}, {}])
  disk.full = false
  world.advance(1000)
  await untilIdle()
  expect(outcomes).toEqual([
    { now: null },
    { now: 'AhpError: the session "ahp-session:/new" already exists' },
  ])
})

test('[L4.8] of two clients that dispose of a session, the later is told that it is missing when it durably is', async () => {
  const { ann, ben, cem, disk, world } = await onSmallDisk()
  disk.full = true
  const outcomes = [ann, ben].map((each) => followed(each.ask('disposeSession', { channel: session })))
  await cem.until(() => told(cem).length === 1)
  await untilIdle()
  expect(outcomes).toEqual([{}, {}])
  disk.full = false
  world.advance(1000)
  await untilIdle()
  expect(outcomes).toEqual([{ now: null }, { now: `AhpError: no session "${session}"` }])
})

test('[L4.8] a change that a full disk refuses is refused at once, also if it names a channel that is not durable', async () => {
  const { ann, ben, cem, disk } = await onSmallDisk()
  disk.full = true
  const params = { channel: 'ahp-session:/new' }
  const first = followed(ann.ask('createSession', params))
  await cem.until(() => told(cem).length === 1)
  await expect(ben.ask('createSession', params)).rejects.toThrow('the disk of the host is full')
  expect(first).toEqual({})
})
