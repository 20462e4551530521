import { sessionResourcesOf } from '../../catalog/session-resources.ts'
import type { SessionState } from '@atrium/protocol/session/state'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { readyAgent } from '../../../test/agents.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import type { Client } from '../../../test/test-host.ts'
import { fork, severalChats, turnsIn } from '../../../test/several-chats.ts'
import { fakeTerminals } from '../../../test/fake-terminals.ts'
import { chatOf, session, started, oneClientSession } from '../../../test/one-client-session.ts'
import type { Agent } from '../../ports/agent.ts'

const two = 'mock:/two'
const three = 'mock:/three'
const b = 'ahp-chat:/b'
const runs = 'ahp-terminal:/runs'
const done = 'ahp-terminal:/done'

/** An agent that reads a long file in every turn. */
const reader: Agent = {
  ...readyAgent(),
  async *run({ turnId }) {
    const toolCallId = `${turnId}#call`
    yield { type: 'chat/toolCallStart', toolCallId, toolName: 'read', displayName: 'Read' }
    yield { type: 'chat/toolCallReady', toolCallId, invocationMessage: 'Reading', confirmed: 'not-needed' }
    const content = [{ type: 'text' as const, text: 'long '.repeat(20_000) }]
    yield {
      type: 'chat/toolCallComplete',
      toolCallId,
      result: { success: true, pastTenseMessage: 'Read', content },
    }
  },
}

async function several(agent: Agent = severalChats()) {
  const terminals = fakeTerminals()
  const found = await oneClientSession(agent, {
    machine: { terminals, defaultDirectory: 'file:///home/dev' },
  })
  const { ann } = found
  await ann.ask('createChat', { channel: session, chat: b })
  for (const uri of [two, three]) await ann.ask('createSession', { channel: uri })
  await ann.ask('subscribe', { channel: b })
  await untilIdle()
  return { ...found, terminals }
}

const move = (client: Client, channel: string, to: string) =>
  client.ask('moveChat', { channel, destination: { kind: 'session', session: to } })

test('[H12] [Y7] [H12.4] the terminals of a chat move with it, running and exited ones', async () => {
  const { all, ann, terminals } = await several()
  const claim = { kind: 'session', session, chat: b } as const
  for (const channel of [runs, done]) {
    await ann.ask('createTerminal', { channel, claim })
    await ann.ask('subscribe', { channel })
  }
  terminals.shells[1]?.exit(0)
  await ann.until(() => (ann.state(done) as unknown as TerminalState).lifecycle.status === 'exited')
  await move(ann, b, two)
  expect(ann.state(runs)).toMatchObject({ claim: { ...claim, session: two } })
  await all.restart()
  const ben = await all.join('ben')
  await ben.ask('disposeSession', { channel: session })
  for (const channel of [runs, done]) await ben.ask('subscribe', { channel })
  // Renaming an exited terminal does not assign it to its old session again.
  await ben.echo(ben.dispatch(done, { type: 'terminal/titleChanged', title: 'Old' }))
  await ben.ask('disposeSession', { channel: two })
  for (const channel of [runs, done])
    await expect(ben.ask('subscribe', { channel })).rejects.toMatchObject({ code: -32008 })
})

test('[H12] [Y7] the terminals of other chats stay', async () => {
  const { all, ann } = await several()
  const claim = { kind: 'session', session, chat: defaultChatUri(session) } as const
  await ann.ask('createTerminal', { channel: runs, claim })
  await move(ann, b, two)
  expect(sessionResourcesOf(all.core()).of(session)).toEqual([runs])
})

test('[H12] [Q7] [H12.4] stored content can be read while a session exists that its chat was moved to', async () => {
  const { all, ann } = await several(severalChats(reader))
  ann.dispatch(b, started('b1'))
  await ann.until(() => chatOf(ann, b).turns.length === 1)
  const text = JSON.stringify(chatOf(ann, b))
  const uri = /ahp-content:[^"]*/.exec(text)?.[0] ?? ''
  const size = async (client: Client) => (await client.ask('resourceRead', { uri })).data?.length
  await move(ann, b, two)
  await ann.ask('disposeSession', { channel: session })
  expect(await size(ann)).toBe(100_000)
  await ann.ask('createChat', {
    channel: two,
    chat: 'ahp-chat:/c',
    source: { kind: 'fork', chat: b, turnId: 'b1' },
  })
  await move(ann, 'ahp-chat:/c', three)
  await all.restart()
  const ben = await all.join('ben')
  await ben.ask('disposeSession', { channel: two })
  expect(await size(ben)).toBe(100_000)
  await ben.ask('disposeSession', { channel: three })
  await untilIdle()
  await expect(size(ben)).rejects.toMatchObject({ code: -32008 })
  const [, hash = ''] = /:\/([0-9a-f]{64})/.exec(uri) ?? []
  expect(await all.store().blobs.get(session, hash)).toBeUndefined()
})

test('[H12] [V6] at 0.9 a move is the removal and the addition of a chat, and nothing else', async () => {
  const { all, ann } = await several()
  const old = all.link()
  old.clientId = 'old'
  await old.ask('initialize', {
    protocolVersions: ['0.9.0'],
    clientId: 'old',
    initialSubscriptions: [session, two, b],
  })
  const { length } = old.envelopes
  await turnsIn(ann, b, ['b1'])
  await move(ann, b, two)
  const chats = (uri: string) => (old.state(uri) as unknown as SessionState).chats
  await until(() => chats(two).length === 2)
  await untilIdle()
  expect(chats(session).map(({ resource }) => resource)).toEqual([defaultChatUri(session)])
  expect(
    chats(two)
      .map(({ resource }) => resource)
      .toSorted(),
  ).toEqual([b, defaultChatUri(two)].toSorted())
  expect([old.state(session)['defaultChat'], old.state(two)['defaultChat']]).toEqual([
    defaultChatUri(session),
    defaultChatUri(two),
  ])
  const delivered = JSON.stringify(old.envelopes.slice(length))
  expect(delivered).not.toMatch(/movable|chatsReordered/)
  const asked = old.ask('moveChat', { channel: b, destination: { kind: 'newSession' } })
  await expect(asked).rejects.toMatchObject({ code: -32601 })
})

test('[H11] [V6] a client can fork the default chat by its derived name', async () => {
  const { ann } = await several()
  await turnsIn(ann, defaultChatUri(session), ['t1'])
  await fork(ann, 'ahp-chat:/copy', 't1', `${session}/chat`)
  await ann.ask('subscribe', { channel: 'ahp-chat:/copy' })
  expect(chatOf(ann, 'ahp-chat:/copy')).toMatchObject({
    turns: [{ id: 't1' }],
    origin: { chat: defaultChatUri(session) },
  })
})
