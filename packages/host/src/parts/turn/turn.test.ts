import { describe, expect, test } from 'vitest'
import { call } from '../../../test/tool-call-actions.ts'
import { untilIdle, session } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
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
  started,
  truncated,
  turn,
} from '../../../test/two-client-session.ts'
import type { TwoClientSession } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'
import { TurnFailed } from '../../ports/agent.ts'

const over = new Set(['chat/turnComplete', 'chat/turnCancelled', 'chat/error'])

/** Waits for the end of the turn, and checks that it was delivered once. */
async function endedOnce(all: TwoClientSession, turns = 1): Promise<void> {
  await until(() => chatOf(all).activeTurn === undefined && chatOf(all).turns.length === turns)
  await untilIdle()
  await all.ben.until(() => (all.ben.state(chat)['turns'] as object[]).length === turns)
  const ends = all.ben.envelopes.filter(({ action }) => over.has(action.type))
  expect(ends).toHaveLength(turns)
  expect(chatOf(all).activity).toBeUndefined()
  expect(all.ben.state(chat)).toMatchObject({ turns: chatOf(all).turns })
}

const errorOf = (all: TwoClientSession) => chatOf(all).turns.at(-1)?.responseParts.at(-1)

describe('[H9] an agent ends its turn', () => {
  test('when its iterator is done', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', part('p'), delta('p', 'Hello'))
    all.world.advance(1500)
    run.end()
    await endedOnce(all)
    expect(chatOf(all).turns).toMatchObject([
      {
        id: 't1',
        state: 'complete',
        duration: 1500,
        responseParts: [{ kind: 'markdown', content: 'Hello' }],
      },
    ])
    expect(run.signal.aborted).toBe(true)
  })

  const failures: readonly (readonly [what: string, error: unknown, resumes: boolean, part: object])[] = [
    [
      'a TurnFailed',
      new TurnFailed('quota', 'Too much today.'),
      true,
      { error: { errorType: 'quota', message: 'Too much today.' } },
    ],
    [
      'one after which it can go on',
      new TurnFailed('net', 'Lost.', true),
      true,
      { error: { errorType: 'net', message: 'Lost.' }, resumable: true },
    ],
    [
      'one after which it could go on if it were one that can',
      new TurnFailed('net', 'Lost.', true),
      false,
      { error: { errorType: 'net', message: 'Lost.' } },
    ],
    [
      'an error',
      new Error('ENOENT: /home/ann/.secret'),
      true,
      { error: { errorType: 'agent', message: 'the agent failed' } },
    ],
    [
      'an abort of its own',
      new DOMException('aborted', 'AbortError'),
      true,
      { error: { errorType: 'agent', message: 'the agent failed' } },
    ],
    ['a string', 'oops', true, { error: { errorType: 'agent', message: 'the agent failed' } }],
    ['undefined', undefined, true, { error: { errorType: 'agent', message: 'the agent failed' } }],
  ]
  test.each(failures)('[H9.3] when it throws %s', async (_, error, resumes, expected) => {
    const all = await twoClientSession(new ScriptedAgent({ resumes }))
    ;(await turn(all, 't1', part('p'))).fail(error)
    await endedOnce(all)
    expect(chatOf(all).turns).toMatchObject([{ state: 'error' }])
    expect(errorOf(all)).toEqual({ kind: 'error', ...expected })
    // Unexpected errors are reported to the operator.
    const reported = all.world.reports.map(({ event }) => event)
    expect(reported).toEqual(error instanceof TurnFailed ? [] : ['agent failed'])
  })

  test('when `run` itself throws', async () => {
    const run = () => {
      throw new TurnFailed('x', 'not today')
    }
    const all = await twoClientSession(Object.assign(new ScriptedAgent(), { run }))
    await accepted(all.ann, chat, started('t1'))
    await endedOnce(all)
    expect(errorOf(all)).toMatchObject({ error: { message: 'not today' } })
  })
})

describe('[H9] [H9.2] S-15: an agent fails its turn that yields', () => {
  const garbage: readonly unknown[] = [
    undefined,
    null,
    'chat/delta',
    {},
    { type: 5 },
    { type: 'chat/delta' },
    { type: 'chat/delta', partId: 'p', content: 7 },
    { type: 'session/titleChanged', title: 7 },
    { type: 'chat/nonsense' },
    { type: 'constructor' },
    { type: 'root/configChanged', config: {} },
    { type: 'terminal/data', data: 'x' },
    { type: 'session/ready' },
    { type: 'session/chatRemoved', chat },
    { type: 'session/activeClientSet', activeClient: { clientId: 'ben', tools: [] } },
    {
      type: 'chat/turnStarted',
      startedAt: '2026-01-01T00:00:00Z',
      message: { text: 'x', origin: { kind: 'user' } },
    },
    { type: 'chat/turnComplete', duration: 1 },
    { type: 'chat/turnCancelled', duration: 1 },
    { type: 'chat/error', duration: 1, part: { kind: 'error', error: { errorType: 'x', message: 'x' } } },
    { type: 'chat/turnResume' },
    { type: 'chat/truncated' },
    { type: 'chat/turnsLoaded', turns: [] },
    { type: 'chat/draftChanged' },
    { type: 'chat/isReadChanged', isRead: true },
    { type: 'chat/isArchivedChanged', isArchived: true },
    {
      type: 'chat/pendingMessageSet',
      kind: 'queued',
      id: 'q',
      message: { text: 'x', origin: { kind: 'user' } },
    },
    { type: 'chat/queuedMessagesReordered', order: [] },
  ]
  test.each(garbage)('%j', async (output) => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', part('p'))
    const before = sessionOf(all)
    const count = all.ben.envelopes.length
    run.say(output as AgentAction, delta('p', 'never delivered'))
    await endedOnce(all)
    expect(errorOf(all)).toMatchObject({
      kind: 'error',
      error: { errorType: 'agent', message: expect.stringMatching(/agent/) },
    })
    const types = all.ben.envelopes.slice(count).map(({ action }) => action.type)
    expect(new Set(types)).toEqual(new Set(['chat/error', 'session/chatUpdated']))
    expect(sessionOf(all)).toMatchObject({ title: before.title, chats: [{ resource: chat }] })
    ;(await turn(all, 't2')).end()
    await until(() => chatOf(all).turns.length === 2)
  })

  test('the `turnId` of an action of the agent is ignored', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', part('p'))
    await says(all, run, {
      ...delta('p', 'mine'),
      ...started('t9', '', { type: 'chat/delta' }),
    } as AgentAction)
    expect(chatOf(all).activeTurn).toMatchObject({ id: 't1', responseParts: [{ content: 'mine' }] })
  })
})

describe('[H9] [H9.1] a turn ended by others', () => {
  const ways: readonly (readonly [how: string, end: (all: TwoClientSession) => Promise<unknown>])[] = [
    ['cancelled', (all) => accepted(all.ann, chat, cancelled('t1'))],
    ['truncated', (all) => accepted(all.ann, chat, truncated())],
    ['disposed of with its session', (all) => all.ann.ask('disposeSession', { channel: session })],
    ['ended by a host that closes', (all) => all.host().close()],
  ]
  test.each(ways)('%s: its agent is aborted, and its further output is discarded', async (_, end) => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', part('p'), { type: 'chat/activityChanged', activity: 'Thinking' })
    await end(all)
    expect(run.signal.aborted).toBe(true)
    await untilIdle()
    const before = all.ben.envelopes.length
    run.say(delta('p', 'late'), { type: 'chat/activityChanged', activity: 'Late' })
    run.end()
    await untilIdle()
    expect(all.ben.envelopes).toHaveLength(before)
    await expect(run.chat.when(() => true)).rejects.toThrow('the turn is over')
    expect(() => run.chat.spawn({ ...call, title: '', text: '' })).toThrow('the turn is over')
    expect(all.agent.runs).toHaveLength(1)
    expect(all.world.reports).toEqual([])
  })

  test.each([
    ['cancelled', cancelled('t1'), 1],
    ['truncated', truncated(), 0],
  ] as const)('%s while its agent heeds nothing: the next begins at once', async (_, action, left) => {
    const all = await twoClientSession()
    await turn(all, 't1', { type: 'chat/activityChanged', activity: 'Busy' })
    await accepted(all.ann, chat, action)
    expect(chatOf(all)).toMatchObject({ status: 1, turns: { length: left } })
    await until(() => chatOf(all).activity === undefined)
    ;(await turn(all, 't2', part('p'))).end()
    await endedOnce(all, left + 1)
  })

  test('before its agent runs: the agent is not run', async () => {
    const all = await twoClientSession()
    all.ann.dispatch(chat, started('t1'))
    await accepted(all.ann, chat, cancelled('t1'))
    await endedOnce(all)
    await untilIdle()
    expect(all.agent.runs).toHaveLength(0)
  })

  test('before its session is ready: the agent is not run', async () => {
    let ready = () => {}
    const agent = new ScriptedAgent({ create: () => new Promise((resolve) => (ready = resolve)) })
    const all = await twoClientSession(agent, { waits: false })
    await accepted(all.ann, chat, started('t1'))
    await accepted(all.ann, chat, cancelled('t1'))
    ready()
    await until(() => sessionOf(all).lifecycle === 'ready')
    await endedOnce(all)
    expect(agent.runs).toHaveLength(0)
  })

  test.each(['first', 'last'])(
    'and by its agent at the same time, the agent %s: the turn ends once',
    async (who) => {
      const all = await twoClientSession()
      const run = await turn(all, 't1')
      if (who === 'first') run.end()
      const seq = all.ann.dispatch(chat, cancelled('t1'))
      if (who === 'last') run.end()
      const { rejectionReason } = await all.ann.echo(seq)
      await endedOnce(all)
      const [{ state } = { state: undefined }] = chatOf(all).turns
      expect([state, rejectionReason]).toEqual(
        rejectionReason === undefined
          ? ['cancelled', undefined]
          : ['complete', 'no such turn is in progress'],
      )
    },
  )
})
