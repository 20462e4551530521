import { catalogOf } from './catalog/catalog.ts'
import { expect, test } from 'vitest'
import { title } from '../test/held-flushes.ts'
import { testHost } from '../test/test-host.ts'
import type { TestHost } from '../test/test-host.ts'
import { cpuMs } from '../test/load.ts'

const root = 'ahp-root://'
const session = 'ahp-session:/one'

test('[H1] [H1.4] initialize answers with the version, the number, who we are, and the snapshots asked for', async () => {
  const { link } = await testHost()
  const ann = link()
  const result = await ann.initialize('ann', [root, 'ahp-session:/nowhere'])
  expect(result).toMatchObject({
    protocolVersion: '1.0.0',
    serverInfo: { name: 'atrium' },
    _meta: { 'x-atrium': { resends: true } },
    snapshots: [
      {
        resource: root,
        state: { agents: [{ provider: 'mock' }], _meta: { hostBuild: 'test' } },
        fromSeq: result.serverSeq,
      },
    ],
  })
})

test('[H1] ping is answered before the handshake, everything else is refused, and a second handshake too', async () => {
  const { link } = await testHost()
  const ann = link()
  expect(await ann.ask('ping', {})).toBeNull()
  await expect(ann.ask('listSessions', {})).rejects.toMatchObject({ code: -32600 })
  await ann.initialize('ann')
  await expect(ann.initialize('ann')).rejects.toMatchObject({ code: -32600 })
  await expect(ann.peer.request('constructor', {})).rejects.toMatchObject({ code: -32601 })
})

test('[H2] [H2.2] a session is created, listed, announced to root subscribers alone, and disposed', async () => {
  const { join } = await testHost()
  const ann = await join('ann', { subscribe: [root] })
  const ben = await join('ben')
  expect(await ann.ask('createSession', { channel: session, provider: 'mock' })).toBeNull()
  await ann.echo(ann.dispatch(session, title('used')))
  await ann.until(() => ann.notes.length > 0)
  expect(ann.notes).toMatchObject([
    { method: 'root/sessionAdded', params: { summary: { resource: session } } },
  ])
  expect(await ben.ask('listSessions', {})).toMatchObject({
    items: [{ resource: session, provider: 'mock' }],
  })
  await ben.ask('subscribe', { channel: session })
  expect(ben.state(session)).toMatchObject({ lifecycle: 'ready' })
  await ben.ask('disposeSession', { channel: session })
  await ann.until(() => ann.notes.length > 1)
  expect(ann.notes[1]).toMatchObject({ method: 'root/sessionRemoved', params: { session } })
  expect(ben.notes).toEqual([])
  expect(ann.state(root)).toMatchObject({ activeSessions: 0 })
  await expect(ben.ask('createSession', { channel: session })).rejects.toMatchObject({ code: -32003 })
  await expect(ben.ask('createSession', { channel: 'x:/2', provider: 'no' })).rejects.toMatchObject({
    code: -32002,
  })
  await expect(ben.ask('disposeSession', { channel: session })).rejects.toMatchObject({ code: -32001 })
})

test('[L2] [L2.1] an action is echoed to its sender and told to everyone else, in one order', async () => {
  const { join } = await testHost()
  const ann = await join('ann')
  const ben = await join('ben')
  await ann.ask('createSession', { channel: session })
  await Promise.all([ann, ben].map((client) => client.ask('subscribe', { channel: session })))
  const seq = ann.dispatch(session, { type: 'session/titleChanged', title: 'Hello' })
  const echo = await ann.echo(seq)
  await ben.until(() => ben.state(session)['title'] === 'Hello')
  expect(ben.envelopes).toEqual([echo])
  expect(ann.state(session)).toEqual(ben.state(session))
})

test('[L4] [L4.5] F-08: a host that must not touch its disk shows everything, changes nothing, and says why', async () => {
  const all = await testHost()
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 'kept' }))
  await all.restart('close', 'the disk is read-only')
  const ben = await all.join('ben', { subscribe: [root, session] })
  expect(ben.state(session)).toMatchObject({ title: 'kept' })
  const echo = await ben.echo(ben.dispatch(session, { type: 'session/titleChanged', title: 'lost' }))
  expect(echo.rejectionReason).toBe('the disk is read-only')
  const create = ben.ask('createSession', { channel: 'ahp-session:/two' })
  await expect(create).rejects.toMatchObject({ code: -32009, message: 'the disk is read-only' })
  await all.restart('crash')
  const cem = await all.join('cem', { subscribe: [session] })
  expect(cem.state(session)).toMatchObject({ title: 'kept' })
})

test('[L8] [F-04] [I16] [L8.4] a channel whose history is damaged is set aside and said to be; the others go on', async () => {
  const all = await testHost()
  const ann = await all.join('ann')
  for (const uri of [session, 'ahp-session:/two']) await ann.ask('createSession', { channel: uri })
  await all.restart('close')
  const load = all.store().log.load
  all.store().log.load = async (uri) =>
    uri === session ? { damaged: 'number 7 has a wrong checksum' } : load(uri)
  const ben = await all.join('ben', { subscribe: [session, 'ahp-session:/two'] })
  expect([...ben.states.keys()]).toEqual(['ahp-session:/two'])
  await expect(ben.ask('subscribe', { channel: session })).rejects.toMatchObject({
    message: expect.stringMatching(/damaged: number 7 .* set aside, and nothing of it was deleted/),
  })
  await ben.echo(ben.dispatch('ahp-session:/two', { type: 'session/titleChanged', title: 'alive' }))
  expect(all.world.reports).toContainEqual(expect.objectContaining({ event: 'damaged channel' }))
})

test('[L8.4] [L13.10] F-04: a handshake says which of its channels are damaged, and how', async () => {
  const all = await testHost()
  const ann = await all.join('ann')
  const two = 'ahp-session:/two'
  for (const uri of [session, two]) await ann.ask('createSession', { channel: uri })
  for (const uri of [session, two]) await ann.ask('subscribe', { channel: uri })
  await all.restart('close')
  const load = all.store().log.load
  all.store().log.load = async (uri) =>
    uri === session ? { damaged: 'number 7 has a wrong checksum' } : load(uri)
  const damaged = { [session]: expect.stringMatching(/damaged: number 7 .* set aside/) as string }
  const reconnect = async (lastSeenServerSeq: number, subscriptions: readonly string[]) =>
    all.link().ask('reconnect', { clientId: 'ann', lastSeenServerSeq, subscriptions })
  expect(await reconnect(ann.lastSeen, [session, two, 'ahp-session:/never'])).toEqual({
    type: 'replay',
    actions: [],
    missing: [session, 'ahp-session:/never'],
    _meta: { 'x-atrium': { damaged } },
  })
  expect(await reconnect(0, [session, two])).toMatchObject({
    type: 'snapshot',
    snapshots: [{ resource: two }],
    _meta: { 'x-atrium': { damaged } },
  })
  expect(await reconnect(0, [two])).not.toHaveProperty('_meta')
  expect(await all.link().initialize('ben', [session])).toMatchObject({
    snapshots: [],
    _meta: { 'x-atrium': { damaged } },
  })
})

test('[L9] [L9.1] a channel that nobody looks at is put out of memory and comes back by itself', async () => {
  const all = await testHost()
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 'asleep' }))
  ann.peer.notify('unsubscribe', { channel: session })
  await ann.ask('listSessions', {})
  all.world.advance(60_000)
  // The disk is asked for it, so it was not in memory.
  let loads = 0
  const load = all.store().log.load
  all.store().log.load = (uri) => (loads++, load(uri))
  ann.dispatch(session, { type: 'session/isReadChanged', isRead: true })
  await ann.ask('subscribe', { channel: session })
  expect(ann.state(session)).toMatchObject({ title: 'asleep', status: 33 })
  expect(loads).toBe(1)
})

test('[L8] [L8.4] F-04: a session that is listed and cannot be found is damaged, not absent', async () => {
  const all = await testHost()
  await (await all.join('ann')).ask('createSession', { channel: session })
  await all.restart('close')
  const { log } = all.store()
  const load = log.load.bind(log)
  log.load = async (uri) => (uri === session ? undefined : load(uri))
  const ben = await all.join('ben')
  await expect(ben.ask('subscribe', { channel: session })).rejects.toMatchObject({
    message: expect.stringMatching(/is listed and not in the store; .* set aside/),
  })
  await expect(ben.ask('disposeSession', { channel: session })).rejects.toMatchObject({ code: -32603 })
  await expect(ben.ask('subscribe', { channel: 'ahp-session:/never' })).rejects.toMatchObject({
    code: -32001,
  })
})

test.each([
  [
    'lacks a session',
    (all: TestHost) => all.store().records.delete(`session/${session}`),
    /it has 0, and the log counts 1/,
  ],
  [
    'has one too many',
    (all: TestHost) => all.store().records.put(`quiet/${session}`, 'ann'),
    /it has 0, and the log counts 1/,
  ],
])(
  '[L8] [L8.5] F-04: a session list that %s is said to be damaged, and the log is left as it is',
  async (_, hurt, sentence) => {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: session })
    await ann.echo(ann.dispatch(session, title('listed')))
    hurt(all)
    await all.store().log.flush()
    await expect(all.restart('crash')).rejects.toThrow(sentence)
  },
)

test.each([
  ['lacks one that is not announced', 'quiet/ahp-session:/x', 'ann'],
  ['cannot be read', `session/${session}`, '{"res'],
  ['has another name', `session/${session}`, '{}'],
])('[L60] F-04: a session list that %s is made good, and the host says so', async (_, key, text) => {
  const all = await testHost()
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  await ann.echo(ann.dispatch(session, title('listed')))
  all.store().records.put(key, text)
  await all.store().log.flush()
  await all.restart('crash')
  expect(all.world.reports).toContainEqual({
    event: 'damaged record',
    detail: expect.stringContaining(JSON.stringify(key)) as string,
  })
  const { items } = await (await all.join('ben')).ask('listSessions', {})
  expect(items).toMatchObject([{ resource: session, title: 'listed' }])
})

test('[H2] [H2.3] a cursor leads on when the session it names has gone, and a list is put in order once', async () => {
  const { join, world, core } = await testHost()
  const ann = await join('ann')
  for (const name of ['a', 'b', 'c', 'd']) {
    await ann.ask('createSession', { channel: `ahp-session:/${name}` })
    await ann.echo(ann.dispatch(`ahp-session:/${name}`, title(name)))
    world.advance(1000)
  }
  const first = await ann.ask('listSessions', { limit: 2 })
  expect(first.items.map(({ resource }) => resource)).toEqual(['ahp-session:/d', 'ahp-session:/c'])
  await ann.ask('disposeSession', { channel: 'ahp-session:/c' })
  const rest = await ann.ask('listSessions', { cursor: first.nextCursor ?? '' })
  expect(rest.items.map(({ resource }) => resource)).toEqual(['ahp-session:/b', 'ahp-session:/a'])
  for (const cursor of ['', 'x', 'conformance x', '2026'])
    await expect(ann.ask('listSessions', { cursor })).rejects.toMatchObject({ code: -32602 })
  // Whoever asks for page after page of a long list must not hold up the others (I14).
  const catalog = catalogOf(core())
  const now = new Date(world.now()).toISOString()
  const state = { provider: 'mock', title: '', status: 1, lifecycle: 'ready', activeClients: [], chats: [] }
  for (let i = 0; i < 20_000; i++) {
    const uri = `ahp-session:/many-${i}`
    catalog.add(uri, now, state, 'ann')
    catalog.announce(uri)
    catalog.listCommitted(uri)
  }
  const cursor = catalog.page(20_000).nextCursor
  const begun = cpuMs()
  for (let i = 0; i < 200; i++) catalog.page(1, cursor)
  expect(cpuMs() - begun).toBeLessThan(1000)
})
