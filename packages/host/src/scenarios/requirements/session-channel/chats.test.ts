import { expect, test } from 'vitest'
import { part, says } from '../../../../test/two-client-session.ts'
import {
  begins,
  caughtUp,
  does,
  ends,
  envelopesOf,
  isRefused,
  olderSession,
} from '../../../../test/versions/older-session.ts'
import type { OlderSession } from '../../../../test/versions/older-session.ts'
import type { OlderClient, Value } from '../../../../test/versions/older-client.ts'

const version = '0.4.0'
const other = 'ahp-chat:/two'
const chatsOf = (client: OlderClient, session: string) => client.state(session)['chats'] as readonly Value[]
const urisOf = (client: OlderClient, session: string) =>
  chatsOf(client, session).map(({ resource }) => resource)

async function twoChats(): Promise<OlderSession> {
  const all = await olderSession(version)
  const { ann, ben, session } = all
  await ann.ask('createChat', { chat: other }, session)
  for (const client of [ann, ben]) await client.subscribe(other)
  return all
}

/** A snapshot of the session that was made now. */
async function fresh({ ben, session }: OlderSession): Promise<Value> {
  const { snapshot } = (await ben.subscribe(session)) as { readonly snapshot: { readonly state: Value } }
  return snapshot.state
}

test('[R003-20 R003-21] a client creates chats in a session that is ready; each has its own URI and subscription', async () => {
  const all = await olderSession(version)
  const { ann, ben, session, turns } = all
  expect(await ann.ask('createChat', { chat: other }, session)).toBeNull()
  const { snapshot } = (await ann.subscribe(other)) as { readonly snapshot: Value }
  expect(snapshot).toMatchObject({ resource: other, state: { resource: other, turns: [] } })
  await does(ann, other, begins(ann, 't1'))
  await caughtUp(ben)
  const chatActions = ({ envelopes }: OlderClient) =>
    envelopes.flatMap(({ channel, action }) => (action.type.startsWith('chat/') ? [channel] : []))
  expect(new Set(chatActions(ann))).toEqual(new Set([other]))
  expect(chatActions(ben)).toEqual([])
  expect(ann.state(turns)['activeTurn']).toBeUndefined()
})

test('[R003-26] `session/chatAdded` appends the chat, and an added chat is in the list once', async () => {
  const all = await twoChats()
  const { ann, ben, session, turns } = all
  await ben.until(() => urisOf(ben, session).length === 2)
  const [added, ...more] = envelopesOf(ben, 'session/chatAdded')
  expect(more).toEqual([])
  expect(added).toMatchObject({ channel: session, action: { summary: { resource: other, status: 1 } } })
  expect(urisOf(ben, session)).toEqual([turns, other])
  expect((await fresh(all))['chats']).toEqual(chatsOf(ann, session))
  await expect(ann.ask('createChat', { chat: other }, session)).rejects.toMatchObject({ code: -32010 })
})

test('[R003-27 R003-28] `session/chatRemoved` removes the entry; without its default chat the session has none', async () => {
  const all = await twoChats()
  const { ann, ben, session, turns } = all
  await ann.ask('disposeChat', {}, turns)
  await ben.until(() => urisOf(ben, session).length === 1)
  expect(envelopesOf(ben, 'session/chatRemoved')).toMatchObject([
    { channel: session, action: { chat: turns } },
  ])
  expect(urisOf(ben, session)).toEqual([other])
  expect(ben.state(session)).not.toHaveProperty('defaultChat')
  const { chats, defaultChat } = await fresh(all)
  expect([chats, defaultChat]).toEqual([chatsOf(ann, session), undefined])
  await expect(ann.ask('disposeChat', {}, turns)).rejects.toMatchObject({ code: expect.any(Number) })
  expect(envelopesOf(ben, 'session/chatRemoved')).toHaveLength(1)
})

test('[R003-29 R003-30 R003-31] what changes a chat also sends `session/chatUpdated` with the given members, and never with the URI', async () => {
  const all = await twoChats()
  const { ann, ben, session, turns } = all
  await does(ann, other, begins(ann, 't1', 'Fix the door'))
  const run = await all.agent.given(0)
  await says(all, run, part('p'))
  await ends({ ...all, turns: other }, run)
  await caughtUp(ben)
  const updates = envelopesOf(ben, 'session/chatUpdated')
  expect(updates.length).toBeGreaterThan(1)
  for (const { channel, action } of updates) {
    expect([channel, action['chat']]).toEqual([session, other])
    expect(action['changes']).not.toHaveProperty('resource')
  }
  expect(updates.map(({ action }) => (action['changes'] as Value)['status'])).toContain(8)
  const [first, second] = chatsOf(ben, session)
  expect(first).toMatchObject({ resource: turns, title: '', status: 1 })
  expect(second).toMatchObject({ resource: other, title: 'Fix the door', status: 1 })
  expect((await fresh(all))['chats']).toEqual([first, second])
  const chatState = (await ben.subscribe(other)) as { readonly snapshot: { readonly state: Value } }
  expect(chatState.snapshot.state['title']).toBe('Fix the door')
})

test('[R003-49 R003-57] a client chooses the default chat; a chat that is not in the list is refused', async () => {
  const all = await twoChats()
  const { ann, ben, session, turns } = all
  const choose = (defaultChat: string) => ({ type: 'session/defaultChatChanged', defaultChat })
  expect(await isRefused(ann, session, choose('ahp-chat:/none'))).toBe('this session has no such chat')
  expect(ann.state(session)['defaultChat']).toBe(turns)
  const echo = await does(ann, session, choose(other))
  expect(echo).toMatchObject({ channel: session, action: choose(other), origin: { clientId: 'ann' } })
  await ben.until(() => ben.state(session)['defaultChat'] === other)
  expect((await fresh(all))['defaultChat']).toBe(other)
})
