import { Activity } from '@atrium/protocol/status'
import { describe, expect, test } from 'vitest'
import { answer, asks, completed, text } from '../../../test/tool-call-actions.ts'
import { untilIdle, session } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  delta,
  part,
  says,
  twoClientSession,
  sessionOf,
  turn,
} from '../../../test/two-client-session.ts'
import type { TwoClientSession } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'

const activity = (text?: string): AgentAction => ({
  type: 'chat/activityChanged',
  ...(text !== undefined && { activity: text }),
})
const silent = (duration: string) => `Puppet has been silent for ${duration}`
const shows = async (all: TwoClientSession, text?: string) => {
  await untilIdle()
  expect([chatOf(all).activity, sessionOf(all).activity ?? '']).toEqual([text, text ?? ''])
}

describe('[H9] [H9.5] silence', () => {
  test('is shown at doubling intervals, and never fails the turn', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', part('p'))
    all.world.advance(29_999)
    await shows(all)
    for (const [ms, duration] of [
      [1, '30 s'],
      [30_000, '60 s'],
      [60_000, '2 min'],
      [120_000, '4 min'],
      [86_400_000, '1024 min'],
    ] as const) {
      all.world.advance(ms - 1)
      all.world.advance(1)
      await shows(all, silent(duration))
    }
    run.end()
    await until(() => chatOf(all).turns.length === 1)
    expect(chatOf(all).turns).toMatchObject([{ state: 'complete' }])
    await shows(all)
  })

  test('ends with the next output, and the activity of the agent is shown again', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', part('p'), activity('Reading'))
    all.world.advance(30_000)
    await shows(all, silent('30 s'))
    await says(all, run, delta('p', 'x'))
    await shows(all, 'Reading')
    await says(all, run, activity())
    await shows(all)
  })

  test('counts from the last output', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', part('p'))
    all.world.advance(1000)
    await says(all, run, delta('p', 'x'))
    all.world.advance(29_000)
    all.world.advance(999)
    await shows(all)
    all.world.advance(1)
    await shows(all, silent('30 s'))
  })

  test('does not count while the agent waits for a user', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', asks)
    for (let n = 0; n < 10; n++) all.world.advance(30_000)
    await shows(all)
    await accepted(all.ann, chat, answer('r1', 'name', text))
    await accepted(all.ann, chat, completed('r1'))
    expect(chatOf(all).status & 31).toBe(Activity.InProgress)
    all.world.advance(30_000)
    await shows(all, silent('30 s'))
    run.end()
    await until(() => chatOf(all).turns.length === 1)
  })

  test('[H9.4] is not shown after the end of the turn', async () => {
    const all = await twoClientSession()
    await turn(all, 't1')
    all.world.advance(30_000)
    await shows(all, silent('30 s'))
    await accepted(all.ann, chat, cancelled('t1'))
    await shows(all)
    const count = all.ben.envelopes.length
    all.world.advance(60_000)
    await untilIdle()
    expect(all.ben.envelopes).toHaveLength(count)
  })

  test('is noticed although the clock jumps', async () => {
    const all = await twoClientSession()
    await turn(all, 't1')
    all.world.advance(-3_600_000)
    for (let n = 0; n < 240; n++) all.world.advance(30_000)
    await untilIdle()
    expect(chatOf(all).activity).toMatch(/^Puppet has been silent for/)
    expect(chatOf(all).activeTurn).toBeDefined()
  })
})

test.each([
  [1500, 1500],
  [-86_400_000, 0],
])(
  '[H9] [H9.4] F-13: a turn in which the clock moved by %i ms has the duration %i',
  async (moved, duration) => {
    const all = await twoClientSession()
    const run = await turn(all, 't1')
    all.world.advance(moved)
    run.end()
    await until(() => chatOf(all).turns.length === 1)
    expect(chatOf(all).turns).toMatchObject([{ duration }])
    const complete = all.ben.envelopes.find(({ action }) => action.type === 'chat/turnComplete')
    expect(complete?.action).toMatchObject({ duration })
  },
)

test('[H9] the last usage that an agent reports is kept with its turn', async () => {
  const all = await twoClientSession()
  const used = (outputTokens: number) => ({ type: 'chat/usage', usage: { outputTokens } }) as AgentAction
  const run = await turn(all, 't1', used(1), used(2))
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  expect(chatOf(all).turns).toMatchObject([{ usage: { outputTokens: 2 } }])
})

test('[H9] [H9.6] F-07: on a full disk the agent pauses, and continues when there is space', async () => {
  let full = false
  const all = await twoClientSession(undefined, { full: () => full })
  const run = await turn(all, 't1', part('p'))
  full = true
  run.say(delta('p', 'a'))
  await until(() => all.world.reports.some(({ event }) => event === 'disk full'))
  run.say(...['b', 'c', 'd'].map((word) => delta('p', word)))
  run.end()
  await untilIdle()
  expect(all.core().log.channel(chat)?.head).toMatchObject({
    activeTurn: { responseParts: [{ content: 'ab' }] },
  })
  const { rejectionReason } = await all.ann.echo(all.ann.dispatch(chat, cancelled('t1')))
  expect(rejectionReason).toMatch(/disk of the host is full/)
  full = false
  // The host checks from time to time whether the disk has space again.
  for (; chatOf(all).turns.length === 0; await untilIdle()) all.world.advance(1000)
  expect(chatOf(all).turns).toMatchObject([{ state: 'complete', responseParts: [{ content: 'abcd' }] }])
  expect(sessionOf(all, session).chats).toMatchObject([{ status: 1 }])
})

describe('[H9] pending messages after a turn', () => {
  const pending = (kind: string, id: string) => ({
    type: 'chat/pendingMessageSet',
    kind,
    id,
    message: { text: id, origin: { kind: 'user' } },
  })
  const began = ({ ben }: TwoClientSession) =>
    ben.envelopes.flatMap(({ channel, action }) =>
      channel === chat && /Removed|turnStarted/.test(action.type)
        ? [
            `${action.type} ${String((action as { id?: string }).id ?? (action as { queuedMessageId?: string }).queuedMessageId)}`,
          ]
        : [],
    )

  test('after one that is done: the unread steering message starts, then the queue in order', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1')
    for (const [kind, id] of [
      ['queued', 'a'],
      ['queued', 'b'],
      ['steering', 's'],
    ] as const)
      await accepted(all.ann, chat, pending(kind, id))
    run.end()
    for (const n of [1, 2, 3]) (await all.agent.given(n)).end()
    await until(() => chatOf(all).turns.length === 4)
    expect(began(all).slice(1)).toEqual(
      ['s', 'a', 'b'].flatMap((id) => [`chat/pendingMessageRemoved ${id}`, `chat/turnStarted ${id}`]),
    )
    expect(chatOf(all)).not.toHaveProperty('queuedMessages')
  })

  test('a message queued in an idle chat starts at once', async () => {
    const all = await twoClientSession()
    await accepted(all.ann, chat, pending('queued', 'a'))
    const run = await all.agent.given(0)
    expect(run.chat.state.activeTurn?.message.text).toBe('a')
  })

  test('after a failed turn the queue waits for a user', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1')
    await accepted(all.ann, chat, pending('queued', 'a'))
    run.fail(new Error('x'))
    await until(() => chatOf(all).turns.length === 1)
    await untilIdle()
    expect(all.agent.runs).toHaveLength(1)
    await accepted(all.ann, chat, pending('queued', 'b'))
    await untilIdle()
    expect(all.agent.runs).toHaveLength(1)
    expect(chatOf(all).queuedMessages).toMatchObject([{ id: 'a' }, { id: 'b' }])
  })

  test('a steering message in an idle chat is kept for the next turn', async () => {
    const all = await twoClientSession()
    await accepted(all.ann, chat, pending('steering', 's'))
    await untilIdle()
    expect([all.agent.runs.length, chatOf(all).steeringMessage?.id]).toEqual([0, 's'])
  })
})
