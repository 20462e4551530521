import type { Turn } from '@atrium/protocol/chat/state'
import { expect, test } from 'vitest'
import { untilIdle } from '../../test/held-flushes.ts'
import { chat, chatOf, oneClientSession, session, started } from '../../test/one-client-session.ts'
import { ScriptedAgent } from '../../test/scripted-agent.ts'
import { testHost } from '../../test/test-host.ts'
import type { Client } from '../../test/test-host.ts'
import { TurnFailed } from '../ports/agent.ts'
import type { AgentAction } from '../ports/agent.ts'

// An earlier build had no limit for the length of a turn. Large limits make a store as that build made it.
const unlimited = { turnLength: 1e9, stateLength: 1e9, inlineLength: 1e9 }
const limits = { turnLength: 20_000, stateLength: 40_000, turnsLength: 50_000, turnsPageLength: 20_000 }

const text = 'long text '.repeat(20_000)
const output = 'output '.repeat(20_000)
const said: readonly AgentAction[] = [
  { type: 'chat/responsePart', part: { kind: 'markdown', id: 'p', content: text } },
  { type: 'chat/toolCallStart', toolCallId: 'c', toolName: 'read', displayName: 'Read' },
  {
    type: 'chat/toolCallReady',
    toolCallId: 'c',
    invocationMessage: 'Reads',
    confirmed: 'not-needed',
    toolInput: output,
  },
  {
    type: 'chat/toolCallComplete',
    toolCallId: 'c',
    result: { success: true, pastTenseMessage: 'Read', content: [{ type: 'text', text: output }] },
  },
]

/** A host with small limits, on the store of a host without limits. `after`: what happened after the large output. */
async function earlierChat(after: 'ended' | 'failed' | 'active', turns = 1) {
  const agent = new ScriptedAgent({ resumes: true })
  const { all, ann } = await oneClientSession(agent, { limits: unlimited })
  for (let n = 0; n < turns; n++) {
    ann.dispatch(chat, started(`t${n}`))
    const run = await agent.given(n)
    run.say(...said)
    if (after === 'active')
      run.say({
        type: 'chat/inputRequested',
        request: { id: 'q', questions: [{ id: 'a', kind: 'text', message: '?' }] },
      })
    else if (after === 'failed') run.fail(new TurnFailed('busy', 'The model is busy.', true))
    else run.end()
    await untilIdle()
  }
  await all.host().close()
  return testHost({ agents: [agent], limits, disk: all.store().reopen() })
}

async function read(client: Client, uri: string): Promise<string> {
  return (await client.ask('resourceRead', { uri })).data
}

/** Expects the large turn with references, and reads what they refer to. */
async function expectReferences(client: Client, turn: Turn | undefined): Promise<void> {
  expect(JSON.stringify(turn).length).toBeLessThan(limits.stateLength)
  const [note, first, second] = turn?.responseParts ?? []
  expect(note).toEqual({
    kind: 'systemNotification',
    content: 'This turn is too large for one message. Its long texts are shown as references.',
  })
  if (first?.kind !== 'contentRef') throw new Error('no reference in place of the text')
  expect(await read(client, first.uri)).toBe(text)
  if (second?.kind !== 'toolCall' || second.toolCall.status !== 'completed') throw new Error('no call')
  const { toolInput, content = [] } = second.toolCall
  if (typeof toolInput !== 'object' || content[0]?.type !== 'resource') throw new Error('no references')
  expect(await read(client, toolInput.uri)).toBe(output)
  expect(await read(client, content[0].uri)).toBe(output)
}

test('[Q11] [Q11.1] [L7.2] a chat with a turn that is too large is opened: the turn has references in place of its texts', async () => {
  const all = await earlierChat('ended')
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat })
  await expectReferences(ben, chatOf(ben).turns[0])
  const cleo = await all.join('cleo')
  await cleo.ask('subscribe', { channel: chat, view: { turns: 1 } })
  await expectReferences(cleo, chatOf(cleo).turns[0])
  const dan = await all.join('dan', { subscribe: [session, chat] })
  await expectReferences(dan, chatOf(dan).turns[0])
})

test('[Q11] such turns can be paged', async () => {
  const all = await earlierChat('ended', 3)
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat, view: { turns: 0 } })
  expect(chatOf(ben).turns).toEqual([])
  for (let known = 0; known < 3; known = chatOf(ben).turns.length)
    await ben.ask('fetchTurns', { channel: chat, cursor: chatOf(ben).turnsNextCursor ?? '' })
  for (const turn of chatOf(ben).turns) await expectReferences(ben, turn)
})

test('[Q11] [Q11.2] an active turn that is too large is ended before the chat is opened', async () => {
  const all = await earlierChat('active')
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat })
  expect(chatOf(ben).activeTurn).toBeUndefined()
  expect(chatOf(ben).turns).toMatchObject([{ id: 't0', state: 'error' }])
  expect(chatOf(ben).turns[0]?.responseParts.at(-1)).toMatchObject({ error: { errorType: 'full' } })
  await expectReferences(ben, chatOf(ben).turns[0])
})

test('[Q11.3] a turn that is too large cannot be resumed', async () => {
  const all = await earlierChat('failed')
  const ben = await all.join('ben', { subscribe: [session, chat] })
  const { rejectionReason } = await ben.echo(ben.dispatch(chat, { type: 'chat/turnResume', turnId: 't0' }))
  expect(rejectionReason).toBe('this turn is too large to be resumed: start a new one')
})

test('[Q11] [Q11.1] the stored turn stays as it is, and the log names the chat', async () => {
  const all = await earlierChat('ended')
  await (await all.join('ben')).ask('subscribe', { channel: chat })
  expect(JSON.stringify(all.core().log.channel(chat, 'chat')?.head.turns)).toContain(text)
  expect(JSON.stringify(all.world.reports)).toContain(`${chat} has a turn of`)
})

test('[Q11] texts that could not be stored on a read-only host can be read when it may write again', async () => {
  const all = await earlierChat('ended')
  const core = all.core()
  const { readOnlyReason } = core
  Object.assign(core, { readOnlyReason: () => 'the disk is full' })
  const ben = await all.join('ben')
  await ben.ask('subscribe', { channel: chat })
  expect(JSON.stringify(chatOf(ben).turns[0])).toContain('unavailable')
  Object.assign(core, { readOnlyReason })
  const cleo = await all.join('cleo')
  await cleo.ask('subscribe', { channel: chat })
  await expectReferences(cleo, chatOf(cleo).turns[0])
})

test('[Q11] [Q11.2] an active turn that is too large is shown with references by a host that cannot end it', async () => {
  const all = await earlierChat('active')
  await all.restart('close', 'the disk cannot be written')
  const expectShort = (client: Client) => {
    const { activeTurn } = chatOf(client)
    expect(JSON.stringify(activeTurn).length).toBeLessThan(limits.stateLength)
    expect(activeTurn).toMatchObject({
      id: 't0',
      responseParts: [{ kind: 'systemNotification' }, { kind: 'contentRef' }, { kind: 'toolCall' }, {}],
    })
  }
  const ben = await all.join('ben', { subscribe: [session, chat] })
  expectShort(ben)
  for (const view of [{}, { turns: 1 }]) {
    const cleo = await all.join('cleo')
    await cleo.ask('subscribe', { channel: chat, view })
    expectShort(cleo)
  }
  const again = all.link()
  const given = { clientId: 'ben', lastSeenServerSeq: 1, subscriptions: [chat] }
  expect(await again.ask('reconnect', given)).toMatchObject({ type: 'snapshot' })
  expectShort(again)
  // A host that can write again ends the turn.
  await all.restart('close')
  const dan = await all.join('dan', { subscribe: [chat] })
  expect(chatOf(dan).activeTurn).toBeUndefined()
  await expectReferences(dan, chatOf(dan).turns[0])
})

test('[Q11] [Q10.5] a handshake with many large chats: the later ones come without turns, and can be paged', async () => {
  const agent = new ScriptedAgent()
  const { all, ann } = await oneClientSession(agent, { limits: { turnsLength: 30_000 } })
  const chats = [chat, 'ahp-chat:/2', 'ahp-chat:/3']
  for (const [n, uri] of chats.entries()) {
    if (n > 0) await ann.ask('createChat', { channel: session, chat: uri })
    ann.dispatch(uri, started('t'))
    const run = await agent.given(n)
    run.say({ type: 'chat/responsePart', part: { kind: 'markdown', id: 'p', content: 'x'.repeat(20_000) } })
    run.end()
    await untilIdle()
  }
  const ben = await all.join('ben', { subscribe: chats })
  expect(chats.map((uri) => chatOf(ben, uri).turns.length)).toEqual([1, 1, 0])
  await ben.ask('fetchTurns', {
    channel: chats[2] ?? '',
    cursor: chatOf(ben, chats[2]).turnsNextCursor ?? '',
  })
  expect(chatOf(ben, chats[2]).turns).toHaveLength(1)
})
