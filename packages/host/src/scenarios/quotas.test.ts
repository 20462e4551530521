import { memoryStore } from '@atrium/adapters/store/memory'
import { describe, expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'
import type { Client, TestHost } from '../../test/test-host.ts'
import { ConnectionCount } from '../connection/connection-count.ts'

const root = 'ahp-root://'
const session = 'ahp-session:/one'
const title = (text: string) => ({ type: 'session/titleChanged', title: text })
const uris = (count: number) => Array.from({ length: count }, (_, i) => `ahp-session:/${i}`)
const code = (asked: Promise<unknown>) =>
  asked.then(
    () => 0,
    (error: { code: number }) => error.code,
  )

/** Creates a host with this number of sessions. */
async function withSessions(count: number): Promise<TestHost & { ann: Client }> {
  const all = await testHost()
  const ann = await all.join('ann')
  for (const channel of uris(count)) await ann.ask('createSession', { channel })
  return { ...all, ann }
}

describe('[H5] [H5.2] S-23: subscriptions of one link', () => {
  test('[S-57 subscriptions] at 512: by subscribe, by initialize and by reconnect', async () => {
    const { ann, join, link } = await withSessions(512)
    for (const channel of uris(512)) await ann.ask('subscribe', { channel })
    // A second subscription to the same channel does not count.
    await ann.ask('subscribe', { channel: 'ahp-session:/0' })
    const ben = await join('ben', { subscribe: [...uris(512), 'ahp-session:/0'] })
    expect(ben.states.size).toBe(512)
    ben.peer.close()
    const back = await link().ask('reconnect', {
      clientId: 'ben',
      lastSeenServerSeq: ben.lastSeen,
      subscriptions: uris(512),
    })
    expect(back).toMatchObject({ type: 'replay', missing: [] })
  })

  test('a channel that is gone does not count, unsubscribed or not', async () => {
    const { join, core } = await testHost({ limits: { subscriptions: 3 } })
    const ann = await join('ann')
    for (const channel of uris(8)) {
      await ann.ask('createSession', { channel })
      await ann.ask('subscribe', { channel })
      await ann.ask('disposeSession', { channel })
      if (channel.endsWith('7')) ann.peer.notify('unsubscribe', { channel })
    }
    await ann.ask('subscribe', { channel: root })
    const { handed } = JSON.parse((await core().records.get('client/ann')) ?? '') as { handed: unknown[] }
    expect(handed).toMatchObject([[root, {}]])
  })

  test('[S-57 subscriptions] past 512: refused, until one is unsubscribed; the others go on', async () => {
    const { ann, join, link, core } = await withSessions(513)
    for (const channel of uris(512)) await ann.ask('subscribe', { channel })
    const [last = ''] = uris(513).slice(-1)
    await expect(ann.ask('subscribe', { channel: last })).rejects.toMatchObject({
      code: -32009,
      message: 'a connection follows at most 512 channels: name fewer, or unsubscribe from one first',
    })
    expect(await code(join('ben', { subscribe: uris(513) }))).toBe(-32009)
    const back = { clientId: 'ann', lastSeenServerSeq: ann.lastSeen, subscriptions: uris(513) }
    expect(await code(link().ask('reconnect', back))).toBe(-32009)
    // The link that failed to reconnect has not closed Ann's earlier link.
    ann.peer.notify('unsubscribe', { channel: 'ahp-session:/0' })
    expect(await code(ann.ask('subscribe', { channel: last }))).toBe(0)
    await ann.echo(ann.dispatch(last, title('heard')))
    ann.peer.close()
    await ann.until(() => ann.peer.closed.aborted)
    expect(uris(513).filter((uri) => core().log.channel(uri)?.listeners.size !== 0)).toEqual([])
  })
})

describe('[H5] [H5.2] S-23: concurrent requests of one link', () => {
  const asked = async (count: number) => {
    const tasks: (() => void)[] = []
    let holding = false
    const all = await testHost({ soon: (task) => (holding ? void tasks.push(task) : queueMicrotask(task)) })
    const ann = await all.join('ann')
    holding = true
    const codes = uris(count).map((channel) => code(ann.ask('createSession', { channel })))
    // The requests take several turns. A ping would pass them.
    for (let n = 0; n < 20; n++) await new Promise((resolve) => setImmediate(resolve))
    holding = false
    for (const task of tasks.splice(0)) task()
    const first = await Promise.all(codes)
    // Requests that were answered do not count.
    const again = uris(count).map((uri) => code(ann.ask('createSession', { channel: `${uri}-again` })))
    return { first, again: await Promise.all(again) }
  }
  test('[S-57 requests] at 128: all are answered', async () =>
    expect((await asked(128)).first.filter((found) => found !== 0)).toEqual([]))
  test('[S-57 requests] past 128: one is refused; when the others are answered, more are accepted', async () => {
    const { first, again } = await asked(129)
    expect(first.map((found, i) => [i, found]).filter(([, found]) => found !== 0)).toEqual([[128, -32009]])
    expect(again.slice(0, 128).filter((found) => found !== 0)).toEqual([])
  })
})

describe('[H5] [H5.3] S-23: waiting messages of one link', () => {
  /** Sends messages behind a request whose read the disk never answers, so that they wait. */
  const waiting = async (length: number) => {
    const all = await testHost()
    const ann = await all.join('ann')
    const ben = await all.join('ben')
    all.store().log.load = () => new Promise(() => {})
    const first = code(ann.ask('subscribe', { channel: session }))
    await ann.ask('ping', {})
    const note = (text: string) => ann.peer.notify('unsubscribe', { channel: session, _meta: { text } })
    const frame = '{"jsonrpc":"2.0","method":"unsubscribe","params":{"channel":"","_meta":{"text":""}}}'
    const bare = frame.length + session.length + 512
    for (let i = 0; i < 8; i++) note('x'.repeat(4_000_000 - bare))
    note('x'.repeat(length - 8 * 4_000_000 - bare))
    if (length <= 33_554_432) expect(await ann.ask('ping', {})).toBeNull()
    else expect(await first).toBeUndefined()
    expect(await ben.ask('listSessions', {})).toMatchObject({ items: [] })
    return ann.peer.closed.aborted
  }
  test('[S-57 lineLength] at 33,554,432: the link stays open', async () =>
    expect(await waiting(33_554_432)).toBe(false))
  test('[S-57 lineLength] past 33,554,432: it is closed, and others are not', async () =>
    expect(await waiting(33_554_433)).toBe(true))
})

describe('[H5] S-23: links of one principal', () => {
  const crowded = (count: number) => {
    const connectionCount = new ConnectionCount(20_000)
    const links = Array.from({ length: count }, () => new AbortController())
    const entered = links.map(({ signal }) => connectionCount.enter('owner', signal))
    return { connectionCount, links, entered }
  }
  test('[S-57 links] at 20,000: all are accepted, and none is counted when they have ended', () => {
    const { connectionCount, links, entered } = crowded(20_000)
    expect(entered.includes(false)).toBe(false)
    expect(connectionCount.of('owner')).toBe(20_000)
    for (const link of links) link.abort()
    expect([connectionCount.of('owner'), connectionCount.size]).toEqual([0, 0])
  })
  test('[S-57 links] past 20,000: one more is refused, and other principals are not', () => {
    const { connectionCount, links, entered } = crowded(20_001)
    expect(entered.indexOf(false)).toBe(20_000)
    expect(connectionCount.enter('guest', new AbortController().signal)).toBe(true)
    links[20_000]?.abort()
    expect(connectionCount.of('owner')).toBe(20_000)
    links[0]?.abort()
    expect(connectionCount.enter('owner', new AbortController().signal)).toBe(true)
  })

  test('[H5.1] one link too many is closed with a reason; when others end, a new one is accepted', async () => {
    const all = await testHost({ limits: { links: 3 } })
    for (let round = 0; round < 5; round++) {
      const clients = await Promise.all(['a', 'b', 'c'].map((id) => all.join(id, { subscribe: [root] })))
      const [near, far] = all.wire()
      far.receive(() => {})
      const guest = await all.join(`guest ${round}`, { principal: 'guest' })
      expect(near.closed.reason).toMatchObject({ message: expect.stringContaining('too many links') })
      for (const client of [...clients, guest]) client.peer.close()
      for (const client of [...clients, guest]) await client.until(() => client.peer.closed.aborted)
    }
    expect(all.core().clients.links.size).toBe(0)
    expect(all.core().log.channel(root)?.listeners.size).toBe(0)
  })
})

describe('[H5] [H5.2] S-23: sessions', () => {
  const existing = async (count: number) => {
    const disk = memoryStore()
    for (const resource of uris(count)) {
      const times = { createdAt: '2026-01-01T00:00:00Z', modifiedAt: '2026-01-01T00:00:00Z' }
      disk.records.put(`session/${resource}`, JSON.stringify({ resource, title: '', status: 1, ...times }))
    }
    const state = {
      agents: [],
      activeSessions: count,
      config: { schema: { type: 'object', properties: {} }, values: {} },
    }
    const created = [{ seq: 1, channel: root, kind: 'root', state: JSON.stringify(state) }]
    disk.log.append({ created, envelopes: [], rows: [], heads: [], dropped: [], upTo: 2 })
    await disk.log.flush()
    const ann = await (await testHost({ disk })).join('ann', { subscribe: [root] })
    return { ann, create: () => code(ann.ask('createSession', { channel: session })) }
  }
  test('[S-57 sessions] at 20,000: the last is created', async () =>
    expect(await (await existing(19_999)).create()).toBe(0))
  test('[S-57 sessions] past 20,000: one more is refused, and nothing is left of it', async () => {
    const { ann, create } = await existing(20_000)
    expect(await create()).toBe(-32009)
    expect(await code(ann.ask('subscribe', { channel: session }))).toBe(-32001)
    expect(ann.state(root)).toMatchObject({ activeSessions: 20_000 })
  })
})

describe('[H2] S-23: a page of the list', () => {
  const titled = async (lengths: readonly number[]) => {
    const { ann } = await withSessions(lengths.length)
    for (const [at, length] of lengths.entries())
      await ann.echo(ann.dispatch(`ahp-session:/${at}`, title('x'.repeat(length))))
    return ann.ask('listSessions', {})
  }
  test('[S-57 pageLength] at 1,048,576: all are on one page', async () => {
    const { items, nextCursor } = await titled([524_288, 524_287, 1])
    expect([items.length, nextCursor]).toEqual([3, undefined])
  })
  test('[S-57 pageLength] past 1,048,576: the rest comes with the cursor', async () => {
    const { ann } = await withSessions(3)
    for (const at of [0, 1, 2])
      await ann.echo(ann.dispatch(`ahp-session:/${at}`, title(`${at}`.repeat(600_000))))
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await ann.ask('listSessions', cursor === undefined ? {} : { cursor })
      expect(page.items).toHaveLength(1)
      seen.push(...page.items.map(({ resource }) => resource))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(seen.toSorted()).toEqual(uris(3))
  })
})
