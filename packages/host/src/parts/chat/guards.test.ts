import { describe, expect, test } from 'vitest'
import {
  answer,
  toolCallStarted,
  call,
  complete,
  completed,
  confirmed,
  content,
  resultConfirmed,
  running,
  text,
} from '../../../test/tool-call-actions.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  subscribeTo,
  message,
  refused,
  resume,
  twoClientSession,
  sessionOf,
  started,
  truncated,
  turn,
} from '../../../test/two-client-session.ts'
import type { AnyAction, TwoClientSession } from '../../../test/two-client-session.ts'
import { TurnFailed } from '../../ports/agent.ts'

const pending = (kind: string, id: string, by = 'user'): AnyAction => ({
  type: 'chat/pendingMessageSet',
  kind,
  id,
  message: message('later', by),
})
const withdrawn = (kind: string, id: string): AnyAction => ({ type: 'chat/pendingMessageRemoved', kind, id })
const draft = (by = 'user'): AnyAction => ({ type: 'chat/draftChanged', draft: message('x', by) })
const directory = (type: string, at: string): AnyAction => ({
  type: `chat/workingDirectory${type}`,
  directory: at,
})
const ordered = (...order: string[]): AnyAction => ({ type: 'chat/queuedMessagesReordered', order })

const noTurn = 'no such turn is in progress'
const inProgress = 'a turn is in progress: cancel it, or queue the message'
const foreign = 'a client can only send messages of its user'
const noQuestion = 'no such input request is open'
const noPending = 'this chat has no such pending message'
const notLast = 'only the last turn can be resumed, and only after an error'
const used = 'this chat had a turn with that id already'

type Row = readonly [what: string, action: AnyAction, reason: string]

const atRest: readonly Row[] = [
  [
    'a turn for a message that does not wait',
    started('t1', 'x', { queuedMessageId: 'q' }),
    'this chat has no pending message with that id',
  ],
  ['a turn of an agent', started('t1', 'x', { message: message('x', 'agent') }), foreign],
  ['a turn of a tool', started('t1', 'x', { message: message('x', 'tool') }), foreign],
  ['a cancellation without a turn', cancelled('t1'), noTurn],
  ['a resume without a turn', resume('t1'), notLast],
  ['a truncation at a missing turn', truncated('t1'), 'this chat has no such turn'],
  ['a tool call confirmed', confirmed, noTurn],
  ['a result confirmed', resultConfirmed, noTurn],
  ['a tool call completed', complete, noTurn],
  ['content of a tool call', content, noTurn],
  ['an answer', answer('r1', 'name', text), noQuestion],
  ['all answers', completed('r1'), noQuestion],
  ['a queued message of an agent', pending('queued', 'q', 'agent'), foreign],
  ['a steering message of the system', pending('steering', 'q', 'systemNotification'), foreign],
  ['the removal of a steering message', withdrawn('steering', 'q'), noPending],
  ['the removal of a queued message', withdrawn('queued', 'q'), noPending],
  ['an order without queued messages', ordered('q'), 'this chat has no queued messages'],
  ['a draft of an agent', draft('agent'), foreign],
  [
    'a directory that its session has not',
    directory('Set', 'file:///b'),
    'this is not a working directory of the session',
  ],
  [
    'the removal of a directory',
    directory('Removed', 'file:///a'),
    'this is not a working directory of the chat',
  ],
]
test.each(atRest)('[H8] [H8.1] [H8.2] in a chat at rest %s is refused', async (_, action, reason) => {
  expect(await refused(await twoClientSession(), chat, action)).toBe(reason)
})

const inTurn: readonly Row[] = [
  ['another turn', started('t2'), inProgress],
  ['the same turn again', started('t1'), inProgress],
  ['a cancellation of another turn', cancelled('t2'), noTurn],
  ['a duration beyond the range of dates', cancelled('t1', 8.7e15), 'the duration is invalid'],
  ['a cancelling after 1e300 ms', cancelled('t1', 1e300), 'the duration is invalid'],
  ['its resumption', resume('t1'), 'a turn is in progress: wait for its end, or cancel it'],
  ['a truncation at it', truncated('t1'), 'this chat has no such turn'],
  ['the removal of a message of the other kind', withdrawn('steering', 'waiting'), noPending],
]
test.each(inTurn)('[H9] while a turn is in progress %s is refused', async (_, action, reason) => {
  const all = await twoClientSession()
  await turn(all, 't1')
  await accepted(all.ann, chat, pending('queued', 'waiting'))
  await all.ben.until(() => all.ben.state(chat)['queuedMessages'] !== undefined)
  expect(await refused(all, chat, action)).toBe(reason)
})

test.each([
  ['a cancellation', [cancelled('t1', 0)]],
  ['a negative duration', [cancelled('t1', -5)]],
  ['a truncation of all turns', [truncated()]],
  [
    'messages, their order, their removal',
    [pending('queued', 'a'), pending('queued', 'b'), ordered('b'), withdrawn('queued', 'a')],
  ],
  ['steering', [pending('steering', 's'), withdrawn('steering', 's')]],
  ['a draft', [draft(), { type: 'chat/draftChanged' }]],
  ['a directory', [directory('Set', 'file:///a'), directory('Removed', 'file:///a')]],
] as const)('[H8] while a turn is in progress %s is taken', async (_, actions) => {
  const all = await twoClientSession()
  await turn(all, 't1')
  for (const action of actions) await accepted(all.ann, chat, action)
})

test('[H9] a turn id is used once in a chat', async () => {
  const all = await twoClientSession()
  ;(await turn(all, 't1')).end()
  await until(() => chatOf(all).turns.length === 1)
  expect(await refused(all, chat, started('t1'))).toBe(used)
})

test('[H9] a turn id is used once, also where its turn is only on the disk', async () => {
  const all = await twoClientSession()
  for (let n = 0; n < 52; n++) {
    ;(await turn(all, `t${n}`)).end()
    await until(() => chatOf(all).turns.length === n + 1)
  }
  for (const client of [all.ann, all.ben]) client.peer.notify('unsubscribe', { channel: chat })
  await Promise.all([all.ann, all.ben].map((client) => client.ask('listSessions', {})))
  all.world.advance(60_000)
  expect(chatOf(all)).toBeUndefined()
  await all.ann.ask('subscribe', { channel: chat, view: { turns: 1 } })
  expect(chatOf(all).turns).toHaveLength(50)
  expect(await refused(all, chat, started('t0'))).toBe(used)
  expect(await refused(all, chat, truncated('t52'))).toBe('this chat has no such turn')
  await accepted(all.ann, chat, truncated('t0'))
  expect(chatOf(all).turns).toMatchObject([{ id: 't0' }])
})

test.each([
  ['completed', undefined, notLast],
  ['failed without resumption', new TurnFailed('x', 'no'), 'this turn cannot be resumed'],
  ['failed unexpectedly', new Error('no'), 'this turn cannot be resumed'],
] as const)('[H9] a turn that %s does not go on', async (_, error, reason) => {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
  const run = await turn(all, 't1')
  if (error) run.fail(error)
  else run.end()
  await until(() => chatOf(all).turns.length === 1)
  expect(await refused(all, chat, resume('t1'))).toBe(reason)
})

test('[H9] a turn that is not the last cannot be resumed', async () => {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
  ;(await turn(all, 't1')).fail(new TurnFailed('x', 'again', true))
  await until(() => chatOf(all).turns.length === 1)
  ;(await turn(all, 't2')).end()
  await until(() => chatOf(all).turns.length === 2)
  for (const id of ['t1', 't3']) expect(await refused(all, chat, resume(id))).toBe(notLast)
})

describe('[H8] [H8.1] a read-only chat', () => {
  const writing: readonly AnyAction[] = [
    started('t9'),
    truncated(),
    pending('queued', 'q'),
    pending('steering', 'q'),
    draft(),
    { type: 'chat/draftChanged' },
  ]

  test.each(writing)('a session that could not be made refuses $type', async (action) => {
    const all = await twoClientSession(
      new ScriptedAgent({ create: () => Promise.reject(new TurnFailed('x', 'no')) }),
    )
    expect(sessionOf(all).lifecycle).toBe('failed')
    expect(await refused(all, chat, action)).toBe('this session could not be created')
  })

  test.each(writing)("a worker's chat refuses $type", async (action) => {
    const { all, worker } = await withWorker()
    expect(await refused(all, worker, action)).toBe('this chat is read-only')
  })

  test('a failed turn of a worker cannot be resumed, and is not marked resumable', async () => {
    const { all, worker } = await withWorker()
    const [failed] = chatOf(all, worker).turns
    expect(failed?.responseParts.at(-1)).toEqual({
      kind: 'error',
      error: { errorType: 'x', message: 'again' },
    })
    expect(await refused(all, worker, resume(failed?.id ?? ''))).toBe('this turn cannot be resumed')
    expect(await refused(all, worker, truncated(failed?.id))).toBe('this chat is read-only')
  })
})

/** A worker whose turn failed. */
async function withWorker(): Promise<{ all: TwoClientSession; worker: string }> {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
  const run = await turn(all, 't1', toolCallStarted(), running)
  const { chat: worker } = run.chat.spawn({ ...call, title: 'W', text: 'work' })
  ;(await all.agent.given(1)).fail(new TurnFailed('x', 'again', true))
  await until(() => chatOf(all, worker).turns.length === 1)
  await subscribeTo(all.ben, [worker])
  return { all, worker }
}
