import { defaultChatUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { untilIdle } from '../../../host/test/held-flushes.ts'
import { uri, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import { TestClient, ScriptedHost } from '../../test/host-and-clients.ts'
import { hostAndClients } from '../../test/host-and-clients.ts'
import { trusting } from '../shared/check.ts'

test('[U2] a request is sent before an action that is dispatched after it', async () => {
  const { host, client } = await subscribedClient()
  void client.ask('createSession', { channel: 'ahp-session:/new' }).catch(() => {})
  void client.dispatch('ahp-session:/new', { type: 'session/titleChanged', title: 'x' } as never)
  await untilIdle()
  expect(host.received.slice(-2).map(({ method }) => method)).toEqual(['createSession', 'dispatchAction'])
})

describe('[U1] [U1.4] an action that no host accepts is refused before it is sent, and not kept as pending', () => {
  const config = (value: unknown) => ({ type: 'root/configChanged', config: value })
  const deep = (levels: number): object => (levels === 0 ? {} : { value: deep(levels - 1) })
  test.each([
    ['a key that no frame may have', config(JSON.parse('{"__proto__":1}')), /__proto__/],
    ['too deep', config(deep(64)), /deeper/],
    ['too many keys', config(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [n, n]))), /keys/],
    ['too long', config({ text: 'x'.repeat(4_194_304) }), /longer/],
    ['too long in bytes', config({ text: '€'.repeat(1_400_000) }), /longer/],
    ['no type', { config: {} }, /type/],
    ['nothing', null, /type/],
  ])('%s', async (_, action, reason) => {
    const { host, client } = await subscribedClient()
    const before = host.received.length
    const outcome = await client.dispatch('ahp-root://', action as never)
    expect(outcome).toEqual({ outcome: 'refused', reason: expect.stringMatching(reason) })
    expect(client.pending).toEqual([])
    await untilIdle()
    expect(host.received).toHaveLength(before)
  })

  test('a wrong shape, also without a subscription to the channel', async () => {
    const { client } = await subscribedClient()
    const outcome = await client.dispatch('ahp-chat:/two', { type: 'chat/draftChanged', draft: 5 } as never)
    expect(outcome).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(/draft/) })
  })

  test('without checks, an action that cannot be reduced is sent and not shown', async () => {
    const host = new ScriptedHost()
    const client = new TestClient(host.open, { check: trusting })
    client.connect()
    await host.respond('initialize', { protocolVersion: '1.0.0', serverSeq: 10, snapshots: [] })
    const chat = client.subscribe('chat', uri)
    await host.respond('subscribe', { snapshot: snapshot(10, { activeTurn: { id: 't1' } }) })
    await chat.ready()
    void chat.dispatch({ type: 'chat/delta', turnId: 't1', partId: 'p', content: 'x' } as never)
    void chat.dispatch(draft('behind it') as never)
    await host.request('dispatchAction', 1)
    expect(chat.state?.draft?.text).toBe('behind it')
    expect(chat.pending).toHaveLength(2)
  })

  test('an action just within the limits is sent', async () => {
    const { host, client } = await subscribedClient()
    void client.dispatch('ahp-root://', config({ ...deep(50), text: 'x'.repeat(3_000_000) }) as never)
    await host.request('dispatchAction')
  })
})

test('[U1.5] while the disk of the host is full, the client says so, and its actions stay pending', async () => {
  const { host, client, chat } = await subscribedClient()
  const problems: unknown[] = []
  let changes = 0
  client.onProblem((problem) => problems.push(problem))
  chat.onChange(() => changes++)
  const dispatched = chat.dispatch(draft('waits') as never)
  const before = changes
  const message = 'The disk is full.'
  host.send({ method: 'x-atrium/diskFull', params: { channel: uri, full: true, message } })
  await untilIdle()
  expect(client.diskFull).toBe(message)
  expect(problems).toEqual([{ kind: 'full', detail: message }])
  expect([chat.pending.length, changes]).toEqual([1, before + 1])
  host.send({ method: 'x-atrium/diskFull', params: { channel: uri, full: false, message: 'Space again.' } })
  host.sendAction(uri, 20, draft('waits'), { origin: { clientId: 'client', clientSeq: 1 } })
  expect(await dispatched).toEqual({ outcome: 'accepted', serverSeq: 20 })
  expect(client.diskFull).toBeUndefined()
  // A new link knows nothing of the disk until the host tells it again.
  host.send({ method: 'x-atrium/diskFull', params: { full: true, message: 7 } })
  await untilIdle()
  expect(client.diskFull).toBe('The disk of the host is full.')
  host.cut()
  await untilIdle()
  expect(client.diskFull).toBeUndefined()
})

test('[U1] a rejection ends its pending action, whatever the shape of the action', async () => {
  const { host, client } = await subscribedClient()
  const two = 'ahp-chat:/two'
  const dispatched = client.dispatch(two, draft('five') as never)
  const chat = client.subscribe('chat', two)
  await host.respond('subscribe', { snapshot: { ...snapshot(10), resource: two } }, 1)
  const origin = { clientId: 'client', clientSeq: 1 }
  host.sendAction(two, 11, { type: 'chat/draftChanged', draft: 5 }, { origin, rejectionReason: 'no' })
  expect(await dispatched).toEqual({ outcome: 'refused', reason: 'no' })
  expect(client.problems).toEqual([])
  expect(chat.status).toBe('open')
})

test('[U1] [U1.1] an action that the host applies to another channel is pending in its own one no more', async () => {
  const { host, client, chat } = await subscribedClient()
  const renames = { type: 'session/titleChanged', title: 'new' }
  const dispatched = client.dispatch(uri, renames as never)
  expect(chat.pending).toHaveLength(1)
  let changes = 0
  chat.onChange(() => changes++)
  host.sendAction('ahp-session:/one', 20, renames, { origin: { clientId: 'client', clientSeq: 1 } })
  expect(await dispatched).toEqual({ outcome: 'accepted', serverSeq: 20 })
  expect([client.pending, chat.pending, changes]).toEqual([[], [], 1])
})

describe('[U1] [U1.3] an action on a channel that does not exist', () => {
  test('is lost when the channel is found missing, subscribed or not', async () => {
    const all = await hostAndClients()
    const ann = all.client('ann')
    const session = 'ahp-session:/one'
    await ann.ask('createSession', { channel: session, provider: 'mock' })
    const handle = ann.subscribe('session', session)
    await handle.ready()
    await ann.ask('disposeSession', { channel: session })
    const title = { type: 'session/titleChanged', title: 'x' } as const
    const dispatched = [handle.dispatch(title), ann.dispatch('ahp-session:/never', title)]
    await untilIdle()
    expect(ann.pending).toHaveLength(2)
    // The first timer queries the first channel, and the second timer the second channel.
    ann.clock.advance(15_000)
    expect(await Promise.all(dispatched)).toMatchObject([{ outcome: 'lost' }, { outcome: 'lost' }])
    expect([handle.status, ann.pending]).toEqual(['gone', []])
  })

  test('is lost also where the channel is a chat', async () => {
    const all = await hostAndClients()
    const ann = all.client('ann')
    const session = 'ahp-session:/one'
    await ann.ask('createSession', { channel: session, provider: 'mock' })
    const handle = ann.subscribe('chat', defaultChatUri(session), { view: { turns: 1 } })
    await handle.ready()
    await ann.ask('disposeSession', { channel: session })
    const dispatched = handle.dispatch(draft('late') as never)
    await untilIdle()
    ann.clock.advance(5_000)
    expect(await dispatched).toMatchObject({ outcome: 'lost' })
    expect(handle.status).toBe('gone')
  })

  test('a late outcome is queried at growing intervals, and stays pending', async () => {
    const { host, client, chat } = await subscribedClient()
    const dispatched = chat.dispatch(draft('slow') as never)
    for (const [nth, ms] of [5_000, 10_000, 20_000].entries()) {
      client.clock.advance(ms - 1)
      host.sendAction('ahp-chat:/other', 11 + nth, draft('activity'))
      await untilIdle()
      expect(host.received.filter(({ method }) => method === 'fetchTurns')).toHaveLength(nth)
      client.clock.advance(1)
      const { id } = await host.request('fetchTurns', nth)
      host.send({ id, error: { code: -32602, message: 'an unknown cursor' } })
    }
    // No second subscribe: it would change the host's record of the turns that the client has.
    expect(host.received.filter(({ method }) => method === 'subscribe')).toHaveLength(1)
    host.sendAction(uri, 20, draft('slow'), { origin: { clientId: 'client', clientSeq: 1 } })
    expect(await dispatched).toEqual({ outcome: 'accepted', serverSeq: 20 })
  })
})
