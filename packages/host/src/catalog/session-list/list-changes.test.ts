import { expect, test } from 'vitest'
import { heldHost, reconnectClient, session, untilIdle } from '../../../test/held-flushes.ts'
import { advance, testHost } from '../../../test/test-host.ts'
import type { Client, Machine, TestHost } from '../../../test/test-host.ts'

const root = 'ahp-root://'
const uri = (name: string) => `ahp-session:/${name}`
const title = (text: string) => ({ type: 'session/titleChanged', title: text })

/** Ben has made sessions with titles. Ann knows the list up to a number, and has left. */
async function listKnown(names: readonly string[], machine: Machine = {}) {
  const all = await testHost({ machine })
  const ben = await all.join('ben', { subscribe: [root] })
  for (const name of names) await listed(ben, name)
  const ann = await all.join('ann', { subscribe: [root] })
  await ann.ask('listSessions', {})
  ann.peer.close()
  return { all, ben, lastSeen: ann.lastSeen }
}

async function listed(client: Client, name: string): Promise<void> {
  await client.ask('createSession', { channel: uri(name) })
  await client.echo(client.dispatch(uri(name), title(name)))
}

/** Reconnects Ann. Returns the notifications about the session list that follow the answer. */
async function told(all: TestHost, lastSeenServerSeq: number, vsCode = false): Promise<readonly object[]> {
  const link = all.link()
  link.clientId = 'ann'
  await link.ask('reconnect', { clientId: 'ann', lastSeenServerSeq, subscriptions: vsCode ? [] : [root] })
  await link.ask('ping', {})
  return link.notes
    .filter(({ method }) => method.startsWith('root/session'))
    .map(({ method, params }) => {
      const { summary, session, changes } = params as Readonly<
        Record<string, Readonly<Record<string, unknown>>>
      >
      return [method, summary?.['resource'] ?? session, summary?.['title'] ?? changes?.['title']]
    })
}

for (const restarted of [false, true])
  test(`[H10.5] a client that comes back is told the changes of the list, and no others${restarted ? ', after a restart' : ''}`, async () => {
    const { all, ben, lastSeen } = await listKnown(['same', 'renamed', 'removed'])
    await ben.echo(ben.dispatch(uri('renamed'), title('new name')))
    await ben.ask('disposeSession', { channel: uri('removed') })
    await listed(ben, 'added')
    if (restarted) await all.restart('crash')
    expect(await told(all, lastSeen)).toEqual([
      ['root/sessionRemoved', uri('removed'), undefined],
      ['root/sessionAdded', uri('added'), 'added'],
      ['root/sessionSummaryChanged', uri('renamed'), 'new name'],
    ])
  })

test('[H10.5] the numbers that an earlier build has stored apart from the entries are still used', async () => {
  const { all, ben, lastSeen } = await listKnown(['same', 'renamed'])
  await ben.echo(ben.dispatch(uri('renamed'), title('new name')))
  const { records, log } = all.store()
  for (const [key, text] of await all.core().records.list('session/')) {
    const at = text.indexOf('{')
    records.put(key, text.slice(at))
    records.put(key.replace('session/', 'listed/'), text.slice(0, at))
  }
  await log.flush()
  await all.restart('close')
  const renamed = ['root/sessionSummaryChanged', uri('renamed'), 'new name']
  expect(await told(all, lastSeen)).toEqual([renamed])
  const eve = await all.join('eve')
  await eve.echo(eve.dispatch(uri('same'), title('other name')))
  expect(await told(all, lastSeen)).toEqual([
    renamed,
    ['root/sessionSummaryChanged', uri('same'), 'other name'],
  ])
  expect((await all.store().records.list('listed/')).map(([key]) => key)).toEqual([
    `listed/${uri('renamed')}`,
  ])
})

test('[H10.5] nothing is told where nothing has changed, or to a client that does not follow the root', async () => {
  const { all, ben, lastSeen } = await listKnown(['one'])
  expect(await told(all, lastSeen)).toEqual([])
  await ben.echo(ben.dispatch(uri('one'), title('new name')))
  expect(await told(all, lastSeen, true)).toEqual([])
})

test('[H10.5] a client without a valid number is told the whole list', async () => {
  const { all } = await listKnown(['one', 'two'])
  expect(await told(all, 7)).toEqual([
    ['root/sessionAdded', uri('one'), 'one'],
    ['root/sessionAdded', uri('two'), 'two'],
  ])
})

test('[H10.5] a session that was created in advance and never used is told to nobody, neither its creation nor its end', async () => {
  const { all, ben, lastSeen } = await listKnown([], advance)
  await ben.ask('createSession', { channel: uri('unused') })
  await ben.ask('createSession', { channel: uri('forgotten') })
  await ben.ask('disposeSession', { channel: uri('forgotten') })
  expect(await told(all, lastSeen)).toEqual([])
})

test('[H10.5] [I7] a client that comes back is told of a disposal only when it is durable, and then once', async () => {
  const { ann, ben, hold, release, ...all } = await heldHost()
  await ben.echo(ben.dispatch(session, title('listed')))
  hold()
  const disposed = ben.ask('disposeSession', { channel: session })
  await untilIdle()
  const { link } = await reconnectClient(all, ann, ann.lastSeen, [root])
  const removals = () => link.notes.filter(({ method }) => method === 'root/sessionRemoved').length
  await untilIdle()
  expect(removals()).toBe(0)
  release()
  await disposed
  await link.until(() => removals() > 0)
  await link.ask('ping', {})
  expect(removals()).toBe(1)
})

/** Disposes of that many sessions while Ann is away. Returns what she is told. */
async function disposals(count: number): Promise<readonly object[]> {
  const names = Array.from({ length: count }, (_, i) => `s${i}`)
  const { all, ben, lastSeen } = await listKnown(names)
  for (const name of names) await ben.ask('disposeSession', { channel: uri(name) })
  return told(all, lastSeen)
}

test('[S-57 removals] at 1,000: every disposal is told', async () => {
  const removed = await disposals(1000)
  expect([removed.length, removed[0]]).toEqual([1000, ['root/sessionRemoved', uri('s0'), undefined]])
})

test('[S-57 removals] past 1,000: the oldest one is not told', async () => {
  const removed = await disposals(1001)
  expect([removed.length, removed[0]]).toEqual([1000, ['root/sessionRemoved', uri('s1'), undefined]])
})
