import type { Envelope } from '@atrium/protocol/channel'
import { expect, test } from 'vitest'
import { reconnectClient, untilIdle } from '../../../test/held-flushes.ts'
import { ScriptedAgent } from '../../../test/scripted-agent.ts'
import type { Client, TestHostOptions } from '../../../test/test-host.ts'
import {
  chat,
  chatOf,
  message,
  session,
  started,
  oneClientSession,
} from '../../../test/one-client-session.ts'
import { isResendOf } from './pin.ts'

const other = 'ahp-chat:/other'
const attached = (attachments: readonly object[], text = 'go') => ({ ...message(text), attachments })
const asks = (turnId: string, attachments: readonly object[]) => ({
  ...started(turnId),
  message: attached(attachments),
})
const ref = (more: object = {}) => ({ type: 'chat', resource: other, label: 'Other', ...more })
const queued = (id: string, attachments: readonly object[]) => ({
  type: 'chat/pendingMessageSet',
  kind: 'queued',
  id,
  message: attached(attachments),
})
const attachmentsOf = ({ action }: Envelope) =>
  (action as unknown as { message: { attachments: readonly object[] } }).message.attachments

/** Sets up another chat with two completed turns. */
async function two(options: TestHostOptions = {}) {
  const agent = new ScriptedAgent()
  const { all, ann } = await oneClientSession(agent, options)
  const ben = await all.join('ben', { subscribe: [chat] })
  await ann.ask('createChat', { channel: session, chat: other })
  await ann.ask('subscribe', { channel: other })
  for (const turnId of ['o1', 'o2']) await done(ann, agent, turnId)
  return { all, ann, ben, agent }
}

async function done(ann: Client, agent: ScriptedAgent, turnId: string): Promise<void> {
  const nth = agent.runs.length
  ann.dispatch(other, started(turnId))
  ;(await agent.given(nth)).end()
  await ann.until(() => chatOf(ann, other).turns.some(({ id }) => id === turnId))
}

test('[J6.2] [J6] an attached chat is pinned when its message is accepted, the same for all clients', async () => {
  const { ann, ben, agent } = await two()
  const meta = { 'x-client': { deep: [1, null, { a: 'b' }] } }
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 2 } }
  const given = [ref({ _meta: meta, range, 'x-own': 1 }), { type: 'simple', label: 's', _meta: meta }]
  const echo = await ann.echo(ann.dispatch(chat, asks('t1', given)))
  const expected = [{ ...given[0], endTurn: 'o2' }, given[1]]
  expect(attachmentsOf(echo)).toEqual(expected)
  await ben.until(() => ben.envelopes.some(({ serverSeq }) => serverSeq === echo.serverSeq))
  const delivered = ben.envelopes.find(({ serverSeq }) => serverSeq === echo.serverSeq) as Envelope
  expect(delivered).toEqual(echo)
  // Later turns of the chat do not change the pin.
  await agent.given(2)
  await done(ann, agent, 'o3')
  expect(chatOf(ann).activeTurn?.message.attachments).toEqual(expected)
  expect(agent.runs[2]?.chat.state.activeTurn?.message.attachments).toEqual(expected)
})

test('[J6.1] [J6] an explicit `endTurn` is kept, and a draft is not pinned', async () => {
  const { ann } = await two()
  const own = [ref({ endTurn: 'o1' }), ref({ endTurn: 'no such turn' })]
  expect(attachmentsOf(await ann.echo(ann.dispatch(chat, asks('t1', own))))).toEqual(own)
  const draft = { type: 'chat/draftChanged', draft: attached([ref()]) }
  expect((await ann.echo(ann.dispatch(chat, draft))).action).toEqual(draft)
})

test('[J6.1] [J6] a pending message is pinned when it is set', async () => {
  const { ann, agent } = await two()
  ann.dispatch(chat, started('t1'))
  const run = await agent.given(2)
  const echo = await ann.echo(ann.dispatch(chat, queued('q1', [ref()])))
  expect(attachmentsOf(echo)).toMatchObject([{ endTurn: 'o2' }])
  await done(ann, agent, 'o3')
  run.end()
  const { chat: next } = await agent.given(4)
  expect(next.state.activeTurn?.message.attachments).toEqual([ref({ endTurn: 'o2' })])
})

test('[J6.1] [J6.2] [J6] the first message of a chat and the user suggestion of a denied call are pinned, too', async () => {
  const { ann, agent } = await two()
  await ann.ask('createChat', {
    channel: session,
    chat: 'ahp-chat:/x',
    initialMessage: attached([ref()]) as never,
  })
  const { chat: given } = await agent.given(2)
  expect(given.state.activeTurn?.message.attachments).toEqual([ref({ endTurn: 'o2' })])
  const denied = {
    type: 'chat/toolCallConfirmed',
    turnId: 't',
    toolCallId: 'c',
    approved: false,
    reason: 'denied',
    userSuggestion: attached([ref({ endTurn: 'o2' })]),
  }
  expect(isResendOf(denied, { ...denied, userSuggestion: attached([ref()]) } as never)).toBe(true)
})

test('[J6] null is no `endTurn`; a chat without turns, a default chat by its other name, a URI that is no chat', async () => {
  const { ann } = await two()
  const given = [
    ref({ endTurn: null }),
    ref({ resource: `${session}/chat` }),
    ref({ resource: 'ahp-chat:/none' }),
    ref({ resource: session }),
    ref({ resource: 'ahp-root://' }),
  ]
  const echo = await ann.echo(ann.dispatch(chat, asks('t1', given)))
  expect(attachmentsOf(echo)).toEqual([{ ...given[0], endTurn: 'o2' }, ...given.slice(1)])
})

test('[J6] a sleeping chat is woken first, and earlier dispatches keep their order', async () => {
  const { all, ann } = await two()
  await all.restart()
  const cem = await all.join('cem', { subscribe: [chat] })
  expect(all.core().log.channel(other)).toBeUndefined()
  const seqs = [
    cem.dispatch(chat, asks('t1', [ref()])),
    cem.dispatch(chat, { type: 'chat/isReadChanged', isRead: true }),
  ]
  const echoes = await Promise.all(seqs.map((seq) => cem.echo(seq)))
  expect(attachmentsOf(echoes[0] as Envelope)).toMatchObject([{ endTurn: 'o2' }])
  expect((echoes[0]?.serverSeq ?? 0) < (echoes[1]?.serverSeq ?? 0)).toBe(true)
  ann.peer.close()
})

test('[J6] a sleeping chat that the first message of a chat attaches is woken, too', async () => {
  const { all, agent } = await two()
  await all.restart()
  const cem = await all.join('cem')
  const initialMessage = attached([ref()]) as never
  await cem.ask('createChat', { channel: session, chat: 'ahp-chat:/x', initialMessage })
  const { chat: given } = await agent.given(2)
  expect(given.state.activeTurn?.message.attachments).toEqual([ref({ endTurn: 'o2' })])
})

test('[L6] a message that was pinned is recognized when it is sent again without the pin', async () => {
  const { all, ann, agent } = await two()
  ann.dispatch(chat, started('t1'))
  await agent.given(2)
  const action = queued('q1', [ref(), ref({ endTurn: null }), ref({ endTurn: 'o1' })])
  const clientSeq = ann.dispatch(chat, action)
  await ann.echo(clientSeq)
  await done(ann, agent, 'o3')
  const { link } = await reconnectClient(all, ann, ann.lastSeen, [session, chat])
  link.dispatch(chat, action, clientSeq)
  expect((await link.echo(clientSeq)).rejectionReason).toMatch(/^already accepted as \d+$/)
  // A message with another `endTurn` is another action, and is accepted.
  link.dispatch(chat, queued('q1', [ref(), ref(), ref({ endTurn: 'o2' })]), clientSeq + 1)
  expect((await link.echo(clientSeq + 1)).rejectionReason).toBeUndefined()
})

test.each([
  ['a number in place of the list', 7],
  ['null in the list', [null]],
  ['a chat without a name', [{ type: 'chat', label: 'x' }]],
  ['a chat whose name is a number', [{ type: 'chat', label: 'x', resource: 7 }]],
  ['no label', [{ type: 'chat', resource: other }]],
  ['a turn that is a number', [ref({ endTurn: 7 })]],
])('[J6] attachments with %s are refused, and the connection stays open', async (_, attachments) => {
  const { all, ann } = await two()
  const { rejectionReason } = await ann.echo(ann.dispatch(chat, asks('t1', attachments as never)))
  expect(rejectionReason).toBeDefined()
  for (const action of [
    { ...started('t1'), message: 7 },
    { ...started('t1'), message: null },
  ])
    expect((await ann.echo(ann.dispatch(chat, action))).rejectionReason).toBeDefined()
  await untilIdle()
  expect(all.world.reports).toEqual([])
})

const many = (count: number) => Array.from({ length: count }, () => ref())

test('[S-57 chatAttachments] at 64: all are pinned', async () => {
  const { ann } = await two()
  const echo = await ann.echo(ann.dispatch(chat, asks('t1', many(64))))
  expect(attachmentsOf(echo)).toEqual(many(64).map((each) => ({ ...each, endTurn: 'o2' })))
})

test('[S-57 chatAttachments] past 64: the message is refused, in every action that has one', async () => {
  const { ann } = await two()
  const reason = 'a message has at most 64 attached chats'
  for (const action of [asks('t1', many(65)), queued('q', many(65))])
    expect((await ann.echo(ann.dispatch(chat, action))).rejectionReason).toBe(reason)
  await expect(
    ann.ask('createChat', {
      channel: session,
      chat: 'ahp-chat:/x',
      initialMessage: attached(many(65)) as never,
    }),
  ).rejects.toMatchObject({ code: -32602, message: `createChat: ${reason}` })
})

test('[J6] no chat is woken for a message that is refused', async () => {
  const { all, ann } = await two()
  const uris = Array.from({ length: 65 }, (_, n) => `ahp-chat:/n${n}`)
  for (const uri of uris) await ann.ask('createChat', { channel: session, chat: uri })
  await all.restart()
  const cem = await all.join('cem', { subscribe: [chat] })
  const refs = uris.map((resource) => ref({ resource }))
  expect((await cem.echo(cem.dispatch(chat, asks('t1', refs)))).rejectionReason).toBeDefined()
  expect(uris.filter((uri) => all.core().log.channel(uri))).toEqual([])
})
