import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { asks, toolCallStarted, call, completed, running } from '../../test/tool-call-actions.ts'
import { session } from '../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../test/scripted-agent.ts'
import type { Run } from '../../test/scripted-agent.ts'
import { testHost } from '../../test/test-host.ts'
import type { Client } from '../../test/test-host.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  subscribeTo,
  says,
  twoClientSession,
  sessionOf,
  started,
  turn,
} from '../../test/two-client-session.ts'
import type { TwoClientSession } from '../../test/two-client-session.ts'
import type { AgentAction } from '../ports/agent.ts'

const hello = { text: 'hi', origin: { kind: 'user' } } as const
const task = { ...call, title: 'W', text: 'work' }

test('[H8] [H8.3] a worker has its own chat, whose origin is the tool call', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1', toolCallStarted(), running)
  const worker = run.chat.spawn(task)
  const working = await all.agent.given(1)
  expect(sessionOf(all).chats[1]).toMatchObject({
    resource: worker.chat,
    title: 'W',
    interactivity: 'read-only',
    origin: { kind: 'tool', chat, toolCallId: 'c1' },
  })
  expect(working.chat.state.activeTurn?.message).toEqual({ text: 'work', origin: { kind: 'agent' } })
  working.end()
  expect((await worker.done).turns).toMatchObject([{ state: 'complete' }])
})

test('[H8] [H8.4] a worker ends with the turn that started it, however deep', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1', toolCallStarted(), running)
  const { chat: child } = run.chat.spawn(task)
  const { chat: grandchild, done } = (await all.agent.given(1)).chat.spawn(task)
  await all.agent.given(2)
  const rejected = expect(done).rejects.toThrow('the turn is over')
  await accepted(all.ann, chat, cancelled('t1'))
  for (const uri of [child, grandchild])
    expect(chatOf(all, uri).turns).toMatchObject([{ state: 'cancelled' }])
  await rejected
})

test('[H8] I13: an agent that does not wait for its worker causes no error when both are cancelled', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1', toolCallStarted(), running)
  run.chat.spawn(task)
  void run.chat.when(() => false)
  await all.agent.given(1)
  // An unhandled rejection would fail this test run.
  await accepted(all.ann, chat, cancelled('t1'))
})

test('[H8] [H8.5] a worker whose chat is disposed of leaves no agent waiting', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1', toolCallStarted(), running)
  const worker = run.chat.spawn(task)
  const working = await all.agent.given(1)
  const rejected = expect(worker.done).rejects.toThrow('the chat of the worker was disposed of')
  await all.ann.ask('disposeChat', { channel: worker.chat })
  await rejected
  expect(working.signal.aborted).toBe(true)
  run.end()
  await until(() => chatOf(all).turns.length === 1)
})

test('[H8] disposing of a chat during its turn ends the turn; the last chat stays', async () => {
  const all = await twoClientSession()
  await all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/x', initialMessage: hello })
  const run = await all.agent.given(0)
  await all.ann.ask('disposeChat', { channel: 'ahp-chat:/x' })
  expect(run.signal.aborted).toBe(true)
  expect(sessionOf(all).chats.map(({ resource }) => resource)).toEqual([chat])
  await expect(all.ann.ask('disposeChat', { channel: chat })).rejects.toMatchObject({ code: -32011 })
  await all.restart('crash')
  expect(all.agent.runs).toHaveLength(1)
})

/** Leaves a turn with a worker that waits for a user, and restarts the host. Returns the chat of the worker. */
async function left(all: TwoClientSession, uri: string, ...said: readonly AgentAction[]): Promise<string> {
  await accepted(all.ann, uri, started('t1'))
  const run = await all.agent.given(0)
  await says(all, run, ...said)
  const { chat: worker } = run.chat.spawn(task)
  await says(all, await all.agent.given(1), asks)
  await all.restart('crash')
  return worker
}

test("[H8] [I17] a worker that waits for a user ends when the host was stopped during its parent's turn", async () => {
  const all = await twoClientSession()
  const worker = await left(all, chat, toolCallStarted(), running)
  expect(chatOf(all).turns).toMatchObject([{ state: 'error' }])
  expect(chatOf(all, worker).turns).toMatchObject([{ state: 'cancelled' }])
  expect(sessionOf(all).inputNeeded).toBeUndefined()
})

test('[H9] an active worker is interrupted by a restart, and its own workers with it', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1', toolCallStarted(), running)
  const { chat: child } = run.chat.spawn(task)
  const working = await all.agent.given(1)
  const { chat: grandchild } = working.chat.spawn(task)
  await says(all, await all.agent.given(2), asks)
  await all.restart('crash')
  const interrupted = { state: 'error', responseParts: [{ error: { errorType: 'interrupted' } }] }
  expect(chatOf(all, child).turns).toMatchObject([interrupted])
  expect(chatOf(all, grandchild).turns).toMatchObject([{ state: 'cancelled' }])
})

const other = 'ahp-chat:/x'
test.each<readonly [what: string, act: (all: TwoClientSession, ann: Client) => Promise<unknown>]>([
  ['is cancelled', (_, ann) => accepted(ann, other, cancelled('t1'))],
  ['is taken away', (_, ann) => accepted(ann, other, { type: 'chat/truncated' })],
  ['goes with its chat', (_, ann) => ann.ask('disposeChat', { channel: other })],
  [
    'goes on and is done',
    async (all, ann) => {
      await accepted(ann, other, completed('r1', { response: 'decline' }))
      ;(await all.agent.given(2)).end()
      await until(() => chatOf(all, other).turns.length === 1)
    },
  ],
])('[H8] [H8.4] I17: after a start, too, a worker ends with a turn that %s', async (_, act) => {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
  await all.ann.ask('createChat', { channel: session, chat: other })
  await subscribeTo(all.ann, [other])
  const worker = await left(all, other, asks)
  expect(chatOf(all, other).activeTurn).toBeDefined()
  expect(chatOf(all, worker).activeTurn).toBeDefined()
  const ann = await all.join('ann')
  await subscribeTo(ann, [session, other])
  await act(all, ann)
  expect(chatOf(all, worker)).not.toHaveProperty('activeTurn')
  expect(chatOf(all, worker).turns).toMatchObject([{ state: 'cancelled' }])
  expect(sessionOf(all).inputNeeded).toBeUndefined()
})

test('[H8] I17: the worker of a damaged chat is ended', async () => {
  const all = await twoClientSession()
  await all.ann.ask('createChat', { channel: session, chat: other })
  await subscribeTo(all.ann, [other])
  const worker = await left(all, other, asks)
  expect(chatOf(all, worker).activeTurn).toBeDefined()
  await all.host().close()
  const disk = all.store().reopen()
  const { load } = disk.log
  disk.log.load = async (uri, tail) => (uri === other ? { damaged: 'a wrong checksum' } : load(uri, tail))
  const again = await testHost({ disk, agents: [new ScriptedAgent()] })
  expect(chatOf(again, worker).turns).toMatchObject([{ state: 'cancelled' }])
})

test('[H9] a turn whose agent is not available any more ends with an error', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, { type: 'session/titleChanged', title: 'kept' })
  await all.restart('close', undefined, [])
  const ann = await all.join('ann')
  await ann.ask('subscribe', { channel: chat })
  await accepted(ann, chat, started('t1'))
  await until(() => chatOf(all).activeTurn === undefined)
  expect(chatOf(all).turns[0]?.responseParts).toMatchObject([{ error: { errorType: 'provider' } }])
})

/** Starts workers within workers, to this depth. Returns the turn of the last worker. */
async function dug(all: TwoClientSession, depth: number): Promise<Run> {
  let run = await turn(all, 't1')
  for (let level = 1; level <= depth; level++) {
    run.chat.spawn(task)
    run = await all.agent.given(level)
  }
  return run
}

test('[S-57 nesting] at 8 levels a worker runs', async () => {
  const all = await twoClientSession()
  const last = await dug(all, 8)
  expect(sessionOf(all).chats).toHaveLength(9)
  last.end()
  await until(() => chatOf(all, last.chat.uri).turns.length === 1)
})

test('[S-57 nesting] past 8 levels the agent is refused the worker', async () => {
  const all = await twoClientSession()
  const last = await dug(all, 8)
  expect(() => last.chat.spawn(task)).toThrow('at most 8 deep')
  expect(sessionOf(all).chats).toHaveLength(9)
})

async function filled(): Promise<TwoClientSession> {
  const all = await twoClientSession(new ScriptedAgent())
  for (let n = 1; n < limits.chats; n++)
    await all.ann.ask('createChat', { channel: session, chat: `ahp-chat:/${n}` })
  return all
}

test('[S-57 chats] at 512 chats a session works', async () => {
  const all = await filled()
  expect(sessionOf(all).chats).toHaveLength(512)
  ;(await turn(all, 't1')).end()
  await until(() => chatOf(all).turns.length === 1)
})

test('[S-57 chats] past 512 chats createChat is refused, and so is a worker', async () => {
  const all = await filled()
  const more = all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/more' })
  await expect(more).rejects.toMatchObject({ code: -32009, message: 'a session has at most 512 chats' })
  const run = await turn(all, 't1')
  expect(() => run.chat.spawn(task)).toThrow('at most 512 chats')
  await all.ann.ask('disposeChat', { channel: 'ahp-chat:/1' })
  await all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/more' })
})
