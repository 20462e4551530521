import { expect, test } from 'vitest'
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

test('[L4.6] a client that connects while the disk is full is told after the answer to its handshake', async () => {
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
