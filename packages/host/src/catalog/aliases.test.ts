import { memoryStore } from '@atrium/adapters/store/memory'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { reconnectClient } from '../../test/held-flushes.ts'
import { fakeTerminals } from '../../test/fake-terminals.ts'
import { ScriptedAgent } from '../../test/scripted-agent.ts'
import { testHost } from '../../test/test-host.ts'
import type { Client, TestHost } from '../../test/test-host.ts'
import { started } from '../../test/two-client-session.ts'
import { mapUris } from './uris.ts'

const session = 'ahp-session:/one'
const chat = defaultChatUri(session)
const alias = 'mock:/one'
const aliasChat = defaultChatUri(alias)
const root = 'ahp-root://'
const titled = (title: string) => ({ type: 'session/titleChanged', title })

/** Connects a client that calls itself as VS Code does. */
async function vscode(
  all: TestHost,
  clientId = 'vs',
  subscribe: readonly string[] = [root],
): Promise<Client> {
  const client = all.link()
  client.clientId = clientId
  await client.ask('initialize', {
    protocolVersions: ['1.0.0'],
    clientId,
    clientInfo: { name: 'vscode-editor-window', version: '1.139.1' },
    initialSubscriptions: subscribe,
  })
  return client
}

/** A host with a session that Ann, a command line, has created and given a title. */
async function oneSession(options: Parameters<typeof testHost>[0] = {}) {
  const all = await testHost(options)
  const ann = await all.join('ann', { subscribe: [root] })
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  await ann.echo(ann.dispatch(session, titled('first')))
  return { all, ann }
}

const listed = async (client: Client) =>
  (await client.ask('listSessions', {})).items.map(({ resource }: SessionSummary) => resource)

test('[H16] [H16.1] VS Code finds a session of the command line under `<provider>:/<id>`, and both see one state', async () => {
  const { all, ann } = await oneSession()
  const vs = await vscode(all)
  expect(await listed(vs)).toEqual([alias])
  expect(await listed(ann)).toEqual([session])
  await vs.ask('subscribe', { channel: alias })
  await vs.ask('subscribe', { channel: aliasChat })
  expect(vs.state(alias)).toMatchObject({
    title: 'first',
    defaultChat: aliasChat,
    chats: [{ resource: aliasChat }],
  })
  expect(vs.state(aliasChat)).toMatchObject({ resource: aliasChat, turns: [] })
  await vs.echo(vs.dispatch(alias, titled('second')))
  await ann.until(() => ann.state(session)['title'] === 'second')
  await ann.echo(ann.dispatch(session, titled('third')))
  await vs.until(() => vs.state(alias)['title'] === 'third')
  expect(new Set(vs.envelopes.map(({ channel }) => channel))).toEqual(new Set([alias]))
  expect(ann.envelopes.every(({ channel }) => channel !== alias)).toBe(true)
})

test('[H16] the session list names a session to each client by the name of that client', async () => {
  const { all, ann } = await oneSession()
  const vs = await vscode(all)
  await ann.ask('createSession', { channel: 'ahp-session:/two' })
  await ann.echo(ann.dispatch('ahp-session:/two', titled('new')))
  const summary = { resource: 'mock:/two', defaultChat: defaultChatUri('mock:/two') }
  const isAdded = ({ method, params }: Client['notes'][number]) =>
    method === 'root/sessionAdded' && (params['summary'] as SessionSummary).resource === summary.resource
  await vs.until(() => vs.notes.some(isAdded))
  expect(vs.notes.find(isAdded)?.params).toMatchObject({ summary })
  await ann.echo(ann.dispatch('ahp-session:/two', titled('changed')))
  // Changes in quick succession are collected for a moment.
  all.world.advance(1000)
  await vs.until(() => vs.notes.some(({ method }) => method === 'root/sessionSummaryChanged'))
  expect(vs.notes.at(-1)?.params).toMatchObject({ session: 'mock:/two', changes: { title: 'changed' } })
  await ann.ask('disposeSession', { channel: 'ahp-session:/two' })
  all.world.advance(1000)
  await vs.until(() => vs.notes.at(-1)?.method === 'root/sessionRemoved')
  expect(vs.notes.at(-1)?.params).toMatchObject({ session: 'mock:/two' })
  await ann.until(() => ann.notes.at(-1)?.method === 'root/sessionRemoved')
  expect(ann.notes.at(-1)?.params).toMatchObject({ session: 'ahp-session:/two' })
})

test('[H16] a session that VS Code has created has one name', async () => {
  const { all, ann } = await oneSession()
  const vs = await vscode(all)
  await vs.ask('createSession', { channel: 'mock:/own' })
  await vs.echo(vs.dispatch('mock:/own', titled('own')))
  expect((await listed(ann)).toSorted()).toEqual([session, 'mock:/own'])
  await expect(ann.ask('subscribe', { channel: 'ahp-session:/own' })).rejects.toThrow('no session')
})

test('[H16] [H16.2] a client hears a session by the name that it used itself, also in VS Code and after a reconnect', async () => {
  const { all, ann } = await oneSession()
  const vs = await vscode(all)
  await vs.ask('subscribe', { channel: session })
  expect(await listed(vs)).toEqual([session])
  await ann.ask('subscribe', { channel: alias })
  expect(await listed(ann)).toEqual([alias])
  for (const [client, name] of [
    [vs, session],
    [ann, alias],
  ] as const) {
    client.peer.close()
    const again = all.link()
    again.clientId = client.clientId
    await again.ask('reconnect', {
      clientId: client.clientId,
      lastSeenServerSeq: client.lastSeen,
      subscriptions: [root],
    })
    expect(await listed(again)).toEqual([name])
  }
})

test.each(['crash', 'close'] as const)(
  '[H16] [H16.2] [H16.3] after a %s of the host a client is replayed under its names, and its resends are matched',
  async (how) => {
    const { all, ann } = await oneSession()
    const vs = await vscode(all)
    await vs.ask('subscribe', { channel: alias })
    const seq = vs.dispatch(alias, titled('second'))
    const { serverSeq } = await vs.echo(seq)
    await ann.echo(ann.dispatch(session, titled('third')))
    await all.restart(how)
    const again = all.link()
    again.clientId = 'vs'
    again.kinds.set(alias, 'session')
    again.states.set(alias, vs.state(alias))
    const result = await again.ask('reconnect', {
      clientId: 'vs',
      lastSeenServerSeq: serverSeq,
      subscriptions: [root, alias],
    })
    expect(result).toMatchObject({ type: 'replay', actions: [{ channel: alias }], missing: [] })
    expect(again.state(alias)).toMatchObject({ title: 'third' })
    expect(await again.echo(again.dispatch(alias, titled('second'), seq))).toMatchObject({
      channel: alias,
      rejectionReason: `already accepted as ${serverSeq}`,
    })
    expect(await listed(again)).toEqual([alias])
  },
)

test('[H16] a turn begins in VS Code and is seen by the command line: every URI in it has the name of the reader', async () => {
  const { all, ann } = await oneSession({ agents: [new ScriptedAgent({ provider: 'mock' })] })
  const vs = await vscode(all)
  for (const channel of [alias, aliasChat]) await vs.ask('subscribe', { channel })
  await ann.ask('subscribe', { channel: chat })
  await vs.echo(vs.dispatch(aliasChat, started('t1')))
  await ann.until(() => ann.state(chat)['activeTurn'] !== undefined)
  await vs.until(() => vs.envelopes.some(({ action }) => action.type === 'session/chatUpdated'))
  const names = (client: Client) => JSON.stringify([client.envelopes, [...client.states]])
  expect(names(vs)).not.toContain(session)
  expect(names(vs)).not.toContain(chat)
  expect(names(ann)).not.toContain(alias)
  expect(names(ann)).not.toContain(aliasChat)
})

test('[H16] [H16.4] an alias is a used URI, also after the session is disposed of', async () => {
  const { all, ann } = await oneSession({ machine: { terminals: fakeTerminals() } })
  const create = (channel: string) => ann.ask('createSession', { channel })
  await expect(create(alias)).rejects.toMatchObject({ code: -32003 })
  await expect(
    ann.ask('createTerminal', { channel: aliasChat, claim: { kind: 'client', clientId: 'ann' } }),
  ).rejects.toMatchObject({ code: -32010 })
  const vs = await vscode(all)
  await vs.ask('disposeSession', { channel: alias })
  for (const channel of [session, alias])
    await expect(create(channel)).rejects.toMatchObject({ code: -32003 })
  await all.restart()
  const ben = await all.join('ben')
  await expect(ben.ask('createSession', { channel: alias })).rejects.toMatchObject({ code: -32003 })
})

test('[H16.6] VS Code creates a session again that it has disposed of before anybody used it, and follows it to the end', async () => {
  const agent = new ScriptedAgent({ resumes: true })
  const all = await testHost({ agents: [agent] })
  const vs = await vscode(all)
  const ann = await all.join('ann')
  await vs.ask('createSession', { channel: alias })
  await vs.ask('subscribe', { channel: alias })
  await vs.ask('subscribe', { channel: aliasChat })
  await vs.ask('disposeSession', { channel: alias })
  await expect(vs.ask('subscribe', { channel: alias })).rejects.toMatchObject({ code: -32001 })
  await vs.ask('createSession', { channel: alias })
  const { snapshot } = await vs.ask('subscribe', { channel: alias })
  expect(snapshot).toMatchObject({ resource: alias, state: { defaultChat: aliasChat } })
  await vs.ask('subscribe', { channel: aliasChat })
  await expect(ann.ask('createSession', { channel: alias })).rejects.toMatchObject({ code: -32003 })
  vs.dispatch(aliasChat, started('t1'))
  const run = await agent.given()
  run.end()
  await vs.until(() => (vs.state(aliasChat)['turns'] as readonly unknown[]).length === 1)
  // Others see one session, under the URI that the log has for it.
  const [canonical = ''] = await listed(await all.join('ben'))
  expect(canonical).toMatch(/^ahp-session:\//)
  expect(await listed(vs)).toEqual([alias])
  await all.restart()
  const back = await vscode(all, 'vs2')
  expect(await listed(back)).toEqual([alias])
  await back.ask('subscribe', { channel: aliasChat })
  expect(back.state(aliasChat)).toMatchObject({ turns: [{ id: 't1' }] })
  // It was used, so its name is gone with it.
  await back.ask('disposeSession', { channel: alias })
  for (const channel of [alias, canonical])
    await expect(back.ask('createSession', { channel })).rejects.toMatchObject({ code: -32003 })
})

test('[H16.6] a client that comes back gets a snapshot of a session that was created again, and no replay onto the old one', async () => {
  const all = await testHost({ agents: [new ScriptedAgent({})] })
  const vs = await vscode(all)
  await vs.ask('createSession', { channel: alias })
  await vs.ask('subscribe', { channel: alias })
  await vs.echo(vs.dispatch(alias, { type: 'session/isReadChanged', isRead: true }))
  const ann = await all.join('ann')
  vs.peer.close()
  await ann.ask('disposeSession', { channel: alias })
  await ann.ask('createSession', { channel: alias })
  await ann.ask('subscribe', { channel: alias })
  await ann.echo(ann.dispatch(alias, titled('again')))
  const { result } = await reconnectClient(all, vs, vs.lastSeen, [alias])
  expect(result).toMatchObject({
    type: 'snapshot',
    snapshots: [{ resource: alias, state: { title: 'again' } }],
  })
})

test.each([['ahp-session:/one'], ['other:/one']])('[H16.6] %s is not created again', async (channel) => {
  const all = await testHost()
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel })
  await ann.ask('disposeSession', { channel })
  await expect(ann.ask('createSession', { channel })).rejects.toMatchObject({ code: -32003 })
})

test('[H16] [H16.5] where `<provider>:/<id>` is or was a session itself, the alias has another id, which stays', async () => {
  const all = await testHost()
  const vs = await vscode(all)
  const ann = await all.join('ann')
  for (const uri of ['mock:/one', 'mock:/two']) {
    await vs.ask('createSession', { channel: uri })
    await vs.echo(vs.dispatch(uri, titled(uri)))
  }
  await vs.ask('disposeSession', { channel: 'mock:/two' })
  for (const uri of [session, 'ahp-session:/two']) {
    await ann.ask('createSession', { channel: uri })
    await ann.echo(ann.dispatch(uri, titled(uri)))
  }
  const names = (await listed(vs)).toSorted()
  expect(names).toEqual([
    'mock:/one',
    expect.stringMatching(/^mock:\/one-./),
    expect.stringMatching(/^mock:\/two-./),
  ])
  await all.restart()
  const again = await vscode(all)
  expect((await listed(again)).toSorted()).toEqual(names)
  const other = names[1] ?? ''
  await again.ask('subscribe', { channel: other })
  expect(again.state(other)).toMatchObject({ title: session })
})

test('[H16] [H16.5] sessions of an earlier build get their aliases at the first start', async () => {
  const disk = memoryStore()
  const earlier = await testHost({ disk })
  const ann = await earlier.join('ann')
  for (const uri of ['mock:/one', session]) {
    await ann.ask('createSession', { channel: uri })
    await ann.echo(ann.dispatch(uri, titled(uri)))
  }
  // An earlier build had no record of aliases.
  const { records } = earlier.core()
  for (const [key] of await records.list('alias')) records.delete(key)
  await ann.echo(ann.dispatch(session, titled('last')))
  await earlier.restart()
  const vs = await vscode(earlier)
  expect((await listed(vs)).toSorted()).toEqual(['mock:/one', expect.stringMatching(/^mock:\/one-/)])
})

test('[H16] only members that name channels are replaced', () => {
  const other = (uri: string) => (uri === session ? alias : uri)
  const value = {
    session,
    title: session,
    deep: [{ chats: [session, { resource: session, text: session }] }],
  }
  expect(mapUris(value, other)).toEqual({
    session: alias,
    title: session,
    deep: [{ chats: [alias, { resource: alias, text: session }] }],
  })
  expect(mapUris(value, (uri) => uri)).toBe(value)
})
