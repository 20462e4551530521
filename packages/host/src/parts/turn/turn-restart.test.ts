import { guide } from '@atrium/adapters/guide'
import { describe, expect, test } from 'vitest'
import {
  answer,
  asks,
  toolCallStarted,
  call,
  completed,
  confirmed,
  registersTools,
  providedBy,
  ready,
  result,
  running,
  text,
} from '../../../test/tool-call-actions.ts'
import { atEveryFlush, resumedTurn, resubscribed } from '../../../test/crash.ts'
import { untilIdle, session } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import type { Client } from '../../../test/test-host.ts'
import {
  accepted,
  chat,
  chatOf,
  delta,
  part,
  resume,
  says,
  twoClientSession,
  sessionOf,
  started,
  turn,
} from '../../../test/two-client-session.ts'
import type { AnyAction, TwoClientSession } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'

const plan = 'one two three four five'
const queued = (id: string): AnyAction => ({
  type: 'chat/pendingMessageSet',
  kind: 'queued',
  id,
  message: { text: `say ${id}`, origin: { kind: 'user' } },
})

/** An agent that takes some time to create a session. */
const slowly = () => ({
  ...guide((_, task) => (setImmediate(task), () => {})),
  create: async () => {
    await untilIdle()
    await untilIdle()
  },
})

describe('[H9] F-01: a host that is killed at any flush', () => {
  test('of a turn: the turn is interrupted or complete, can be resumed, and ends like an uninterrupted one', async () => {
    const seen = new Set<string>()
    const act = async (ann: Client) => {
      await ann.ask('createSession', { channel: session })
      ann.dispatch(chat, started('t1', `plan ${plan}`))
    }
    let whole = ''
    const texts: string[] = []
    await atEveryFlush(
      act,
      (all) => chatOf(all)?.turns.length === 1,
      async (wreck) => {
        const state = await resubscribed(wreck)
        if (!state) return void seen.add('nothing')
        const { activeTurn, turns } = state
        const [last] = turns
        seen.add(wreck.ran.after.length > 0 ? 'waited' : (last?.state ?? 'none'))
        if (last?.state === 'error') {
          expect(last.responseParts.at(-1)).toMatchObject({
            kind: 'error',
            resumable: true,
            error: { errorType: 'interrupted' },
          })
          expect(wreck.ran.after).toEqual([])
        }
        if (!activeTurn && !last) return
        const { turns: after } = await resumedTurn(wreck, 't1')
        expect(after).toMatchObject([{ id: 't1', state: 'complete' }])
        expect(wreck.ran.after.length).toBeLessThanOrEqual(1)
        const text = JSON.stringify(
          after[0]?.responseParts.flatMap((one) => ('content' in one ? [one.content] : [])),
        )
        texts.push(text)
        if (wreck.whole) whole = text
      },
      slowly,
    )
    expect(seen).toEqual(new Set(['nothing', 'none', 'waited', 'error', 'complete']))
    expect(new Set(texts)).toEqual(new Set([whole]))
  })

  test('[H9.10] [H9.11] of a queue: each message is answered at most once, and none is lost', async () => {
    const act = async (ann: Client) => {
      await ann.ask('createSession', { channel: session })
      for (const id of ['a', 'b', 'c']) ann.dispatch(chat, queued(id))
    }
    const judge = async (wreck: Parameters<typeof resumedTurn>[0]) => {
      const before = await resubscribed(wreck)
      if (!before) return
      await untilIdle()
      const had = { ...chatOf(wreck.all) }
      const broken = had.turns.at(-1)?.state === 'error'
      const waiting = had.queuedMessages?.map(({ id }) => id) ?? []
      // After an interrupted turn the queue waits for a user to decide. Otherwise the queue goes on by itself.
      if (!broken)
        await until(() => chatOf(wreck.all).activeTurn === undefined && !chatOf(wreck.all).queuedMessages)
      else await resumedTurn(wreck, had.turns.at(-1)?.id ?? '')
      await until(() => !chatOf(wreck.all).queuedMessages && !chatOf(wreck.all).activeTurn)
      const texts = chatOf(wreck.all).turns.map(({ message }) => message.text)
      expect(texts).toEqual(['say a', 'say b', 'say c'].slice(0, texts.length))
      expect(texts.length).toBeGreaterThanOrEqual(waiting.length)
      expect(chatOf(wreck.all).turns.every(({ state }) => state === 'complete')).toBe(true)
    }
    await atEveryFlush(act, (all) => chatOf(all)?.turns.length === 3, judge)
  })
})

describe('[H9] after a host was killed', () => {
  /** Starts a turn in which the agent produces these actions. Then the host is killed and started again. */
  const died = async (output: readonly AgentAction[], resumes = true): Promise<TwoClientSession> => {
    const all = await twoClientSession(new ScriptedAgent({ resumes }))
    await accepted(all.ann, session, registersTools('ann'))
    await turn(all, 't1', ...output)
    await all.core().log.settled()
    await all.restart('crash')
    const again = { ...all, ann: await all.join('ann'), ben: await all.join('ben') }
    for (const client of [again.ann, again.ben])
      for (const channel of [session, chat]) await client.ask('subscribe', { channel })
    return again
  }
  const interrupted = (all: TwoClientSession) => chatOf(all).turns.at(-1)?.responseParts.at(-1)

  test.each([
    ['text', [part('p'), delta('p', 'x')]],
    ['nothing yet', []],
    ['a call that streams', [toolCallStarted()]],
    ['a call that the host runs', [toolCallStarted(), running]],
    ['a question and a call', [asks, toolCallStarted(), running]],
    [
      'a question that was answered',
      [
        toolCallStarted(),
        running,
        { type: 'chat/toolCallComplete', ...call, ...result(true) } as AgentAction,
      ],
    ],
  ] as const)('[H9.8] %s: the turn was broken off', async (_, output) => {
    const all = await died(output)
    expect(chatOf(all).activeTurn).toBeUndefined()
    expect(interrupted(all)).toMatchObject({ error: { errorType: 'interrupted' }, resumable: true })
    expect([all.agent.runs.length, sessionOf(all).chats[0]?.status]).toEqual([1, 2])
    await accepted(all.ann, chat, resume('t1'))
    const run = await all.agent.given(1)
    await says(all, run, part('q'), delta('q', 'rest'))
    run.end()
    await until(() => chatOf(all).turns.length === 1)
    expect(chatOf(all).turns).toMatchObject([{ id: 't1', state: 'complete' }])
  })

  test('[H9.8] a turn of an agent that cannot resume is not marked resumable', async () => {
    const all = await died([part('p')], false)
    expect(interrupted(all)).toMatchObject({ error: { errorType: 'interrupted' } })
    expect(interrupted(all)).not.toHaveProperty('resumable')
  })

  const approved = { ...confirmed }
  const denied = { ...confirmed, approved: false, reason: 'denied' }
  const done: AnyAction = { type: 'chat/toolCallComplete', turnId: 't1', ...call, ...result(true) }
  const questions: readonly (readonly [
    what: string,
    output: readonly AgentAction[],
    answers: readonly AnyAction[],
  ])[] = [
    ['a question', [asks], [answer('r1', 'name', text), completed('r1')]],
    ['a call that waits, and is allowed', [toolCallStarted(), ready()], [approved]],
    ['a call that waits, and is not allowed', [toolCallStarted(), ready()], [denied]],
    ['a tool that a client runs', [toolCallStarted(providedBy('ann')), running], [done]],
    [
      'two questions',
      [asks, toolCallStarted(), ready()],
      [completed('r1', { response: 'cancel' }), approved],
    ],
  ]
  test.each(questions)(
    '[H9.9] only %s: it waits on, and goes on when there is something to do',
    async (_, output, answers) => {
      const all = await died(output)
      expect(chatOf(all).activeTurn).toMatchObject({ id: 't1' })
      for (const given of answers) {
        await untilIdle()
        expect(all.agent.runs).toHaveLength(1)
        await accepted(all.ann, chat, given)
      }
      const run = await all.agent.given(1)
      expect(run.chat.state.activeTurn?.responseParts).toHaveLength(
        output.includes(asks) && output.length > 1 ? 2 : 1,
      )
      await says(all, run, part('q'))
      run.end()
      await until(() => chatOf(all).turns.length === 1)
      expect(chatOf(all).turns).toMatchObject([{ id: 't1', state: 'complete' }])
    },
  )

  test('[H9.9] a turn with an open question of an agent that cannot resume ends with the answer', async () => {
    const all = await died([asks], false)
    expect(chatOf(all).activeTurn).toMatchObject({ id: 't1' })
    await accepted(all.ann, chat, completed('r1', { response: 'decline' }))
    await until(() => chatOf(all).turns.length === 1)
    expect(interrupted(all)).toMatchObject({ error: { errorType: 'interrupted' } })
    expect(all.agent.runs).toHaveLength(1)
  })

  test('a queue behind a failed turn still waits for a user', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1')
    await accepted(all.ann, chat, queued('a'))
    run.fail(new Error('x'))
    await until(() => chatOf(all).turns.length === 1)
    for (const _ of ['once', 'twice']) await all.restart('crash')
    await untilIdle()
    expect(chatOf(all).queuedMessages).toMatchObject([{ id: 'a' }])
    expect(all.agent.runs).toHaveLength(1)
  })

  test('a turn with an open question can still be cancelled', async () => {
    const all = await died([asks])
    await accepted(all.ann, chat, { type: 'chat/turnCancelled', turnId: 't1', duration: 1 })
    expect(chatOf(all).turns).toMatchObject([{ state: 'cancelled' }])
    expect(sessionOf(all)).not.toHaveProperty('inputNeeded')
  })

  test("[H9.9] questions of a worker and of its parent: the answer of the parent's ends the worker's turn", async () => {
    const all = await twoClientSession(new ScriptedAgent({ resumes: true }))
    const run = await turn(all, 't1', toolCallStarted(), running)
    const { chat: worker } = run.chat.spawn({ ...call, title: 'W', text: 'work' })
    await says(all, await all.agent.given(1), asks)
    await says(all, run, { type: 'chat/toolCallComplete', ...call, ...result(true) } as AgentAction, asks)
    await all.restart('crash')
    const ann = await all.join('ann', { subscribe: [chat, worker] })
    for (const uri of [chat, worker]) expect(chatOf(all, uri).activeTurn).toBeDefined()
    await accepted(ann, worker, completed('r1', { response: 'cancel' }))
    await until(() => chatOf(all, worker).turns.length === 1)
    const last = chatOf(all, worker).turns[0]?.responseParts.at(-1)
    expect(last).toMatchObject({ kind: 'error', error: { errorType: 'interrupted' } })
    expect(last).not.toHaveProperty('resumable')
    expect([all.agent.runs.length, chatOf(all).activeTurn?.id]).toEqual([2, 't1'])
  })
})

describe('[H9] [H9.11] a host that is closing starts no agent', () => {
  const question: AgentAction = { type: 'chat/inputRequested', request: { id: 'q' } }
  const reply: AnyAction = { type: 'chat/inputCompleted', requestId: 'q', response: 'decline' }
  test.each([
    ['a turn that becomes durable only now', [], started('t1'), 0],
    ['a question answered while it closes', [question], reply, 1],
  ])('%s', async (_, output, action, runs) => {
    const tasks: (() => void)[] = []
    let holding = false
    const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
    const all = await twoClientSession(new ScriptedAgent({ resumes: true }), { soon })
    if (output.length > 0) await turn(all, 't1', ...output)
    holding = true
    all.ann.dispatch(chat, action)
    await untilIdle()
    const closed = all.host().close()
    holding = false
    for (const task of tasks.splice(0)) task()
    await closed
    await untilIdle()
    expect(all.agent.runs).toHaveLength(runs)
  })
})
