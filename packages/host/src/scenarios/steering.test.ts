import { expect, test } from 'vitest'
import { ScriptedAgent, until } from '../../test/scripted-agent.ts'
import { untilIdle } from '../../test/held-flushes.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  message,
  refused,
  says,
  twoClientSession,
  started,
  truncated,
  turn,
} from '../../test/two-client-session.ts'
import type { AnyAction, TwoClientSession } from '../../test/two-client-session.ts'
import type { AgentAction } from '../ports/agent.ts'

const set = (kind: string, id: string, text = id): AnyAction => ({
  type: 'chat/pendingMessageSet',
  kind,
  id,
  message: message(text),
})
const order = (...ids: string[]): AnyAction => ({ type: 'chat/queuedMessagesReordered', order: ids })
const removed = (kind: string, id: string): AnyAction => ({ type: 'chat/pendingMessageRemoved', kind, id })
const taken = (id: string) => removed('steering', id) as unknown as AgentAction

/**
 * Ends each turn as soon as it starts, beginning with run number `from`, until the chat has `count` turns. Returns the text
 * of each turn's message.
 */
async function endTurns(all: TwoClientSession, count: number, from: number): Promise<readonly string[]> {
  const over = (turnId: string) =>
    chatOf(all).turns.some(({ id, state }) => id === turnId && state !== 'error')
  for (let n = from; n === from || chatOf(all).turns.length < count; n++) {
    const run = await all.agent.given(n)
    run.end()
    await until(() => over(run.chat.turnId))
  }
  await untilIdle()
  return chatOf(all).turns.map(({ message: { text } }) => text)
}

const s = set('steering', 's')
const [a, b] = [set('queued', 'a'), set('queued', 'b')]
const rows: readonly (readonly [said: readonly AnyAction[], next: readonly string[]])[] = [
  [
    [s, a, b],
    ['s', 'a', 'b'],
  ],
  [
    [a, s, b],
    ['s', 'a', 'b'],
  ],
  [
    [a, b, s],
    ['s', 'a', 'b'],
  ],
  [
    [a, b, s, order('b', 'a')],
    ['s', 'b', 'a'],
  ],
  [
    [a, b, order('b'), s],
    ['s', 'b', 'a'],
  ],
  [
    [a, b, order('nobody', 'b', 'b')],
    ['b', 'a'],
  ],
  [
    [a, s, b, removed('queued', 'a')],
    ['s', 'b'],
  ],
  [[s, a, removed('steering', 's')], ['a']],
  [
    [s, set('steering', 's2'), a],
    ['s2', 'a'],
  ],
  [[s, set('steering', 's', 'other words')], ['other words']],
  [
    [a, b, set('queued', 'a', 'other words')],
    ['other words', 'b'],
  ],
]

test.each(rows)(
  '[H9] [H9.12] %#: a turn that is cancelled holds everything, and a turn that completes starts it',
  async (said, next) => {
    const all = await twoClientSession()
    await turn(all, 't1')
    for (const action of said) await accepted(all.ann, chat, action)
    await accepted(all.ann, chat, cancelled('t1'))
    await untilIdle()
    expect(all.agent.runs).toHaveLength(1)
    await accepted(all.ann, chat, started('t2', 'go on'))
    expect(await endTurns(all, next.length + 2, 1)).toEqual(['go', 'go on', ...next])
  },
)

test.each(rows)(
  '[H9] [H9.7] %#: a turn that ends well starts the waiting messages in order',
  async (said, next) => {
    const all = await twoClientSession()
    await turn(all, 't1')
    for (const action of said) await accepted(all.ann, chat, action)
    ;(await all.agent.given()).end()
    expect(await endTurns(all, next.length + 1, 1)).toEqual(['go', ...next])
    expect(all.agent.runs).toHaveLength(next.length + 1)
    for (const key of ['activeTurn', 'queuedMessages', 'steeringMessage'])
      expect(chatOf(all)).not.toHaveProperty(key)
    const froms = all.ann.envelopes.flatMap(({ action }) =>
      'queuedMessageId' in action ? [action.queuedMessageId] : [],
    )
    expect(froms).toHaveLength(next.length)
  },
)

test.each(rows)(
  '[H9] [H9.12] X5: after a turn that its host interrupted, all messages wait, %#, and %j comes when it is resumed',
  async (said, next) => {
    const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
    await turn(all, 't1')
    for (const action of said) await accepted(all.ann, chat, action)
    const { queuedMessages, steeringMessage } = chatOf(all)
    await all.restart('crash')
    await untilIdle()
    expect(chatOf(all).queuedMessages).toEqual(queuedMessages)
    expect(chatOf(all).steeringMessage).toEqual(steeringMessage)
    expect(all.agent.runs).toHaveLength(1)
    const ann = await all.join('ann', { subscribe: [chat] })
    await accepted(ann, chat, { type: 'chat/turnResume', turnId: 't1' })
    await until(() => chatOf(all).turns.length === 0)
    expect(await endTurns(all, next.length + 1, 1)).toEqual(['go', ...next])
  },
)

test('[H9] a steering message that the agent has taken up is not sent again, whatever comes after it', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1')
  await accepted(all.ann, chat, s)
  expect(
    (await run.chat.when(({ steeringMessage }) => steeringMessage !== undefined)).steeringMessage,
  ).toMatchObject({
    id: 's',
    message: { text: 's' },
  })
  await says(all, run, taken('s'))
  await accepted(all.ann, chat, a)
  // The agent has taken up `s` already. When it removes `s` once more, the new message `s2` must stay.
  await accepted(all.ann, chat, set('steering', 's2'))
  await says(all, run, taken('s'))
  run.end()
  expect(await endTurns(all, 3, 1)).toEqual(['go', 's2', 'a'])
})

test('[H9] a steering message in an idle chat waits for the next turn, also over a restart, and goes before the queue', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, chat, s)
  await all.restart('crash')
  const ann = await all.join('ann', { subscribe: [chat] })
  await untilIdle()
  expect([chatOf(all).steeringMessage?.id, all.agent.runs]).toEqual(['s', []])
  await accepted(ann, chat, started('t1'))
  const run = await all.agent.given()
  expect(run.chat.state.steeringMessage?.id).toBe('s')
  await accepted(ann, chat, a)
  run.end()
  expect(await endTurns(all, 3, 1)).toEqual(['go', 's', 'a'])
})

test('[H9] messages after a failed turn wait for a user, who may remove or start them', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1')
  for (const action of [s, a, b]) await accepted(all.ann, chat, action)
  run.fail(new Error('x'))
  await until(() => chatOf(all).turns.length === 1)
  await accepted(all.ann, chat, order('b', 'a'))
  await accepted(all.ann, chat, removed('queued', 'a'))
  await untilIdle()
  expect(all.agent.runs).toHaveLength(1)
  await accepted(all.ann, chat, started('t2', 'b', { queuedMessageId: 'b' }))
  expect(chatOf(all)).not.toHaveProperty('queuedMessages')
  expect(await endTurns(all, 3, 1)).toEqual(['go', 'b', 's'])
})

test('[H9] a chat that is truncated during a turn goes on with its queue', async () => {
  const all = await twoClientSession()
  await turn(all, 't1')
  for (const action of [a, b, truncated()]) await accepted(all.ann, chat, action)
  expect(await endTurns(all, 2, 1)).toEqual(['a', 'b'])
})

test('[H9] [I17] a message id is in one place only: no message is lost to another of its id', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1')
  await accepted(all.ann, chat, s)
  await accepted(all.ann, chat, a)
  const other = 'another pending message of this chat has that id'
  expect(await refused(all, chat, set('queued', 's', 'other words'))).toBe(other)
  expect(await refused(all, chat, set('steering', 'a', 'other words'))).toBe(other)
  // The queued message `a` becomes the steering message.
  await accepted(all.ann, chat, set('steering', 'a'))
  run.end()
  expect(await endTurns(all, 2, 1)).toEqual(['go', 'a'])
})

test('[S-57 pendingLength] past: all waiting messages of a chat count, in both places', async () => {
  const all = await twoClientSession(new ScriptedAgent(), { limits: { pendingLength: 600 } })
  await turn(all, 't1')
  const long = 'x'.repeat(350)
  const crowd = 'the pending messages of a chat have at most 600 characters'
  await accepted(all.ann, chat, set('steering', 's', long))
  expect(await refused(all, chat, set('queued', 'a', long))).toBe(crowd)
  await accepted(all.ann, chat, set('steering', 's2', long))
  await accepted(all.ann, chat, removed('steering', 's2'))
  await accepted(all.ann, chat, set('queued', 'a', long))
  expect(await refused(all, chat, set('steering', 's', long))).toBe(crowd)
  await accepted(all.ann, chat, set('queued', 'a', 'x'))
  await accepted(all.ann, chat, set('steering', 's', long))
})
