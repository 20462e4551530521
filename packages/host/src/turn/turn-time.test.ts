import { Activity } from '@atrium/protocol/status'
import { describe, expect, test } from 'vitest'
import { answer, asks, completed, text } from '../../test/tool-call-actions.ts'
import { quiet, session } from '../../test/held-flushes.ts'
import { until } from '../../test/scripted-agent.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  delta,
  part,
  says,
  scene,
  sessionOf,
  turn,
} from '../../test/two-client-session.ts'
import type { Scene } from '../../test/two-client-session.ts'
import type { AgentAction } from '../ports/agent.ts'

const activity = (words?: string): AgentAction => ({
  type: 'chat/activityChanged',
  ...(words !== undefined && { activity: words }),
})
const silent = (words: string) => `Puppet has been silent for ${words}`
const shows = async (all: Scene, words?: string) => {
  await quiet()
  expect([chatOf(all).activity, sessionOf(all).activity ?? '']).toEqual([words, words ?? ''])
}

describe('[H9] silence', () => {
  test('is shown, longer and longer, and never fails the turn', async () => {
    const all = await scene()
    const run = await turn(all, 't1', part('p'))
    all.world.advance(29_999)
    await shows(all)
    for (const [ms, words] of [
      [1, '30 s'],
      [30_000, '60 s'],
      [60_000, '2 min'],
      [120_000, '4 min'],
      [86_400_000, '1024 min'],
    ] as const) {
      all.world.advance(ms - 1)
      all.world.advance(1)
      await shows(all, silent(words))
    }
    run.end()
    await until(() => chatOf(all).turns.length === 1)
    expect(chatOf(all).turns).toMatchObject([{ state: 'complete' }])
    await shows(all)
  })

  test('ends with the next word, and what the agent was doing is shown again', async () => {
    const all = await scene()
    const run = await turn(all, 't1', part('p'), activity('Reading'))
    all.world.advance(30_000)
    await shows(all, silent('30 s'))
    await says(all, run, delta('p', 'x'))
    await shows(all, 'Reading')
    await says(all, run, activity())
    await shows(all)
  })

  test('counts from the last word, whenever that was', async () => {
    const all = await scene()
    const run = await turn(all, 't1', part('p'))
    all.world.advance(1000)
    await says(all, run, delta('p', 'x'))
    all.world.advance(29_000)
    all.world.advance(999)
    await shows(all)
    all.world.advance(1)
    await shows(all, silent('30 s'))
  })

  test('is not held against one who waits for a person', async () => {
    const all = await scene()
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

  test('is over when the turn is', async () => {
    const all = await scene()
    await turn(all, 't1')
    all.world.advance(30_000)
    await shows(all, silent('30 s'))
    await accepted(all.ann, chat, cancelled('t1'))
    await shows(all)
    const heard = all.ben.envelopes.length
    all.world.advance(60_000)
    await quiet()
    expect(all.ben.envelopes).toHaveLength(heard)
  })

  test('is not a matter of the clock: it may jump', async () => {
    const all = await scene()
    await turn(all, 't1')
    all.world.advance(-3_600_000)
    for (let n = 0; n < 240; n++) all.world.advance(30_000)
    await quiet()
    expect(chatOf(all).activity).toMatch(/^Puppet has been silent for/)
    expect(chatOf(all).activeTurn).toBeDefined()
  })
})

test.each([
  [1500, 1500],
  [-86_400_000, 0],
])('[H9] F-13: a turn in which the clock moved by %i ms lasted %i', async (moved, duration) => {
  const all = await scene()
  const run = await turn(all, 't1')
  all.world.advance(moved)
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  expect(chatOf(all).turns).toMatchObject([{ duration }])
  const said = all.ben.envelopes.find(({ action }) => action.type === 'chat/turnComplete')
  expect(said?.action).toMatchObject({ duration })
})

test('[H9] what a turn used is kept with it, the last word of it', async () => {
  const all = await scene()
  const used = (outputTokens: number) => ({ type: 'chat/usage', usage: { outputTokens } }) as AgentAction
  const run = await turn(all, 't1', used(1), used(2))
  run.end()
  await until(() => chatOf(all).turns.length === 1)
  expect(chatOf(all).turns).toMatchObject([{ usage: { outputTokens: 2 } }])
})

test('[H9] F-07: without space its agent pauses, and goes on afterwards', async () => {
  let full = false
  const all = await scene(undefined, { full: () => full })
  const run = await turn(all, 't1', part('p'))
  full = true
  run.say(delta('p', 'a'))
  await until(() => all.world.reports.some(({ event }) => event === 'disk full'))
  run.say(...['b', 'c', 'd'].map((word) => delta('p', word)))
  run.end()
  await quiet()
  expect(all.core().log.channel(chat)?.head).toMatchObject({
    activeTurn: { responseParts: [{ content: 'ab' }] },
  })
  const { rejectionReason } = await all.ann.echo(all.ann.dispatch(chat, cancelled('t1')))
  expect(rejectionReason).toMatch(/disk of the host is full/)
  full = false
  // It looks again now and then.
  for (; chatOf(all).turns.length === 0; await quiet()) all.world.advance(1000)
  expect(chatOf(all).turns).toMatchObject([{ state: 'complete', responseParts: [{ content: 'abcd' }] }])
  expect(sessionOf(all, session).chats).toMatchObject([{ status: 1 }])
})

describe('[H9] after a turn comes what waits', () => {
  const pending = (kind: string, id: string) => ({
    type: 'chat/pendingMessageSet',
    kind,
    id,
    message: { text: id, origin: { kind: 'user' } },
  })
  const began = ({ ben }: Scene) =>
    ben.envelopes.flatMap(({ channel, action }) =>
      channel === chat && /Removed|turnStarted/.test(action.type)
        ? [
            `${action.type} ${String((action as { id?: string }).id ?? (action as { queuedMessageId?: string }).queuedMessageId)}`,
          ]
        : [],
    )

  test.each(['done', 'cancelled'])(
    'when it is %s: steering that came too late, then the queue in order',
    async (how) => {
      const all = await scene()
      const run = await turn(all, 't1')
      for (const [kind, id] of [
        ['queued', 'a'],
        ['queued', 'b'],
        ['steering', 's'],
      ] as const)
        await accepted(all.ann, chat, pending(kind, id))
      if (how === 'done') run.end()
      else await accepted(all.ann, chat, cancelled('t1'))
      for (const n of [1, 2, 3]) (await all.agent.given(n)).end()
      await until(() => chatOf(all).turns.length === 4)
      expect(began(all).slice(1)).toEqual(
        ['s', 'a', 'b'].flatMap((id) => [`chat/pendingMessageRemoved ${id}`, `chat/turnStarted ${id}`]),
      )
      expect(chatOf(all)).not.toHaveProperty('queuedMessages')
    },
  )

  test('a message in a chat at rest begins at once', async () => {
    const all = await scene()
    await accepted(all.ann, chat, pending('queued', 'a'))
    const run = await all.agent.given(0)
    expect(run.chat.state.activeTurn?.message.text).toBe('a')
  })

  test('not after a failure: the queue waits for a person', async () => {
    const all = await scene()
    const run = await turn(all, 't1')
    await accepted(all.ann, chat, pending('queued', 'a'))
    run.fail(new Error('x'))
    await until(() => chatOf(all).turns.length === 1)
    await quiet()
    expect(all.agent.runs).toHaveLength(1)
    await accepted(all.ann, chat, pending('queued', 'b'))
    await all.agent.given(1)
    expect(chatOf(all).queuedMessages).toMatchObject([{ id: 'b' }])
  })

  test('steering in a chat at rest is kept for the next turn', async () => {
    const all = await scene()
    await accepted(all.ann, chat, pending('steering', 's'))
    await quiet()
    expect([all.agent.runs.length, chatOf(all).steeringMessage?.id]).toEqual([0, 's'])
  })
})
