import type { ChatState } from '@atrium/protocol/chat/state'
import type { SessionState } from '@atrium/protocol/session/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { guide } from '@atrium/adapters/guide'
import { testHost } from '../../../test/test-host.ts'
import type { Client } from '../../../test/test-host.ts'
import { OlderClient } from '../../../test/versions/older-client.ts'
import type { AnyAction } from '../../../test/two-client-session.ts'

const session = 'ahp-session:/one'
const first = defaultChatUri(session)
const second = 'ahp-chat:/second'
const foreign = 'ahp-session:/two'
const changed = (defaultChat?: string): AnyAction => ({
  type: 'session/defaultChatChanged',
  ...(defaultChat !== undefined && { defaultChat }),
})
const later = (_: number, task: () => void) => {
  const immediate = setImmediate(task)
  return () => clearImmediate(immediate)
}
const refusalOf = async (client: Client, action: AnyAction, channel = session) =>
  (await client.echo(client.dispatch(channel, action))).rejectionReason

/** Ann has a session with two chats, and has said something in each. */
async function twoChats() {
  const all = await testHost({ agents: [guide(later)] })
  const ann = await all.join('ann', { subscribe: ['ahp-root://'] })
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  await ann.ask('createChat', { channel: session, chat: second })
  for (const [chat, text] of [
    [first, 'say one'],
    [second, 'say two'],
  ] as const) {
    await ann.ask('subscribe', { channel: chat })
    await say(ann, chat, text)
  }
  return { all, ann }
}

async function say(client: Client, chat: string, text: string): Promise<void> {
  const message = { text, origin: { kind: 'user' } }
  const started = { type: 'chat/turnStarted', turnId: text, startedAt: '2026-01-01T00:00:00Z', message }
  expect(await refusalOf(client, started, chat)).toBeUndefined()
  await client.until(() => turnsOf(client.state(chat)).includes(text))
}

const turnsOf = (state: object): readonly string[] =>
  ('turns' in state ? (state as ChatState).turns : []).map(({ id }) => id)
const sessionOf = (client: Client) => client.state(session) as unknown as SessionState
const movable = (client: Client) => [first, second].map((chat) => client.state(chat)['movable'] ?? false)
const listed = async (client: Client) =>
  (await client.ask('listSessions', {})).items.map(({ defaultChat }) => defaultChat)

test('[H12.7] session channel, Methods: a client chooses the default chat, and what can be moved changes in the same step', async () => {
  const { ann } = await twoChats()
  expect(movable(ann)).toEqual([false, true])
  const before = ann.envelopes.length
  expect(await refusalOf(ann, changed(second))).toBeUndefined()
  await ann.ask('ping', {})
  expect(sessionOf(ann).defaultChat).toBe(second)
  expect(movable(ann)).toEqual([true, false])
  expect(sessionOf(ann).chats.map((each) => each.movable)).toEqual([true, false])
  const seqs = ann.envelopes.slice(before).map(({ serverSeq }) => serverSeq)
  expect(seqs).toEqual(seqs.map((_, i) => (seqs[0] ?? 0) + i))
  expect(await listed(ann)).toEqual([second])
  await ann.ask('disposeChat', { channel: first })
  await expect(ann.ask('disposeChat', { channel: second })).rejects.toMatchObject({
    code: -32011,
    message: expect.stringContaining('dispose of its session'),
  })
})

test('[H12.9] session channel, Chat catalog mutations: the disposal of the default chat leaves the session without one, at 0.4 and at 1.0', async () => {
  const { all, ann } = await twoChats()
  const older = new OlderClient(all, '0.4.0')
  await older.open([session])
  await ann.ask('disposeChat', { channel: first })
  await older.until(() => !('defaultChat' in older.state(session)))
  expect((older.state(session)['chats'] as readonly unknown[]).length).toBe(1)
  expect(older.envelopes.map(({ action }) => action.type)).toEqual(['session/chatRemoved'])
  expect(sessionOf(ann)).not.toHaveProperty('defaultChat')
  expect(await listed(ann)).toEqual([undefined])
  await all.restart('crash')
  const ben = await all.join('ben', { subscribe: [session, second] })
  expect(sessionOf(ben).chats.map(({ resource }) => resource)).toEqual([second])
  expect(await refusalOf(ben, changed(second))).toBeUndefined()
})

test('[H12.9] a client without chats sees the first of the other chats when the default chat is disposed of', async () => {
  const { all, ann } = await twoChats()
  const older = new OlderClient(all, '0.3.0')
  await older.open([session])
  expect(turnsOf(older.state(session))).toEqual(['say one'])
  await ann.ask('disposeChat', { channel: first })
  await older.until(() => older.closed.aborted)
  await older.reconnect()
  expect(turnsOf(older.state(session))).toEqual(['say two'])
})

test('[H12.7] a session can be without a default chat', async () => {
  const { ann } = await twoChats()
  expect(await refusalOf(ann, changed())).toBeUndefined()
  await ann.ask('ping', {})
  expect(sessionOf(ann)).not.toHaveProperty('defaultChat')
  expect(movable(ann)).toEqual([true, true])
  expect(await listed(ann)).toEqual([undefined])
  expect(await refusalOf(ann, changed(first))).toBeUndefined()
})

test('[H12.7] a chat that the session does not list is refused, and nothing changes', async () => {
  const { ann } = await twoChats()
  await ann.ask('createSession', { channel: foreign })
  const before = sessionOf(ann)
  for (const uri of ['ahp-chat:/none', defaultChatUri(foreign), session, foreign, ''])
    expect(await refusalOf(ann, changed(uri))).toBe('this session has no such chat')
  expect(await refusalOf(ann, { ...changed(), defaultChat: 7 } as AnyAction)).toMatch(/defaultChat/)
  expect(sessionOf(ann)).toEqual(before)
})

test('[H12.7] chats that are asleep are woken for the change', async () => {
  const { all } = await twoChats()
  await all.core().log.settled()
  await all.restart('close')
  const ben = await all.join('ben', { subscribe: [session] })
  expect([first, second].map((uri) => all.core().log.channel(uri))).toEqual([undefined, undefined])
  expect(await refusalOf(ben, changed(second))).toBeUndefined()
  for (const channel of [first, second]) await ben.ask('subscribe', { channel })
  expect(movable(ben)).toEqual([true, false])
  expect(sessionOf(ben).chats.map((each) => each.movable)).toEqual([true, false])
})

test('[H12.7] [H12.8] names that a client computes from the session go on with the same chat', async () => {
  const { all, ann } = await twoChats()
  expect(await refusalOf(ann, changed(second))).toBeUndefined()
  for (const name of [`${session}/chat`, defaultChatUri('guide:/one'), 'guide:/one/chat']) {
    const ben = await all.join(`ben ${name}`, { subscribe: [name] })
    expect(turnsOf(ben.state(name)), name).toEqual(['say one'])
    ben.peer.close()
  }
  await ann.ask('disposeChat', { channel: first })
  const eve = await all.join('eve', { subscribe: [`${session}/chat`] })
  expect(turnsOf(eve.state(`${session}/chat`))).toEqual(['say two'])
})

test.each(['0.1.0', '0.2.0', '0.3.0'] as const)(
  '[V5.5] [V18.3] [H12.7] [V18.1] a client of %s, in which a session is one chat, gets a snapshot with the turns of the new default chat',
  async (version) => {
    const { all, ann } = await twoChats()
    const uri = version === '0.1.0' ? 'guide:/one' : session
    const [old, away] = ['old', 'away'].map((id) => new OlderClient(all, version, id)) as [
      OlderClient,
      OlderClient,
    ]
    for (const client of [old, away]) {
      await client.open()
      await client.subscribe(uri)
      expect(turnsOf(client.state(uri))).toEqual(['say one'])
    }
    away.unplug()
    expect(await refusalOf(ann, changed(second))).toBeUndefined()
    await old.until(() => old.closed.aborted)
    expect(String(old.closed.reason)).toContain('has no action for the last change')
    await say(ann, second, 'say three')
    for (const client of [old, away]) {
      await client.reconnect([uri])
      await client.until(() => turnsOf(client.state(uri)).includes('say three'))
      expect(turnsOf(client.state(uri))).toEqual(['say two', 'say three'])
    }
    await say(ann, second, 'say four')
    await old.until(() => turnsOf(old.state(uri)).includes('say four'))
  },
)

test.each(['0.2.0', '0.3.0'] as const)(
  '[H12.7] a client of %s that follows the second chat as a session of its own goes on with it',
  async (version) => {
    const { all, ann } = await twoChats()
    const name = `${session}/chat/${encodeURIComponent(second)}`
    const old = new OlderClient(all, version, 'old')
    await old.open()
    await old.subscribe(name)
    expect(turnsOf(old.state(name))).toEqual(['say two'])
    expect(await refusalOf(ann, changed(second))).toBeUndefined()
    await say(ann, second, 'say three')
    if (old.closed.aborted) await old.reconnect([name])
    await old.until(() => turnsOf(old.state(name)).includes('say three'))
  },
)
