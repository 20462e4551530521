import { expect, test } from 'vitest'
import { readyAgent } from '../../../test/agents.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import {
  chat,
  chatOf,
  session,
  sessionOf,
  started,
  oneClientSession,
  turn,
} from '../../../test/one-client-session.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { Agent, AgentAction } from '../../ports/agent.ts'

test('[I13] a condition of an agent that throws fails its turn and nothing else', async () => {
  const { ann } = await oneClientSession({
    ...readyAgent(),
    async *run({ when }) {
      let looks = 0
      await when(() => {
        if (looks++ > 0) throw new Error('no such thing in this state')
        return false
      })
      yield* []
    },
  })
  ann.dispatch(chat, started('t'))
  await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 'Still here' }))
  await ann.until(() => chatOf(ann).turns.length > 0)
  expect(chatOf(ann).turns).toMatchObject([{ id: 't', state: 'error' }])
})

/** An agent that starts a worker which never ends, and awaits the worker only if its message says so. */
const boss: Agent = {
  ...readyAgent(),
  async *run({ when, spawn, state }) {
    if (state.origin?.kind === 'tool') return void (await when(() => false))
    yield { type: 'chat/toolCallStart', toolCallId: 'call', toolName: 'work', displayName: 'Work' }
    const { done } = spawn({ toolCallId: 'call', title: 'Work', text: 'work' })
    if (state.activeTurn?.message.text !== 'watch') await when(() => false)
    const { turns } = await done
    yield { type: 'chat/responsePart', part: { kind: 'markdown', id: 'p', content: `${turns.length} done` } }
  },
}

test('[N2] a promise that an agent does not await rejects without harm when the turn ends', async () => {
  const { ann } = await oneClientSession(boss)
  ann.dispatch(chat, started('t', 'look away'))
  await ann.until(() => sessionOf(ann).chats.length === 2)
  await ann.echo(ann.dispatch(chat, { type: 'chat/turnCancelled', turnId: 't', duration: 1 }))
  // An unhandled rejection would end this test run, and the host.
  await untilIdle()
  expect(sessionOf(ann).chats.map(({ status }) => status)).toEqual([1, 1])
})

test('[N1] `done` rejects when the chat of the worker is disposed of, and fails the turn unless the agent catches it', async () => {
  const { ann } = await oneClientSession(boss)
  ann.dispatch(chat, started('t', 'watch'))
  await ann.until(() => sessionOf(ann).chats.length === 2)
  await ann.ask('disposeChat', { channel: sessionOf(ann).chats[1]?.resource ?? '' })
  await untilIdle()
  expect(chatOf(ann).turns).toMatchObject([{ state: 'error' }])
  expect(JSON.stringify(chatOf(ann).turns)).toContain('the chat of the worker was disposed of')
})

test('[N3] a turn runs that is resumed and partly answered in the same step', async () => {
  let runs = 0
  const { ann } = await oneClientSession({
    ...readyAgent(),
    resumes: true,
    async *run() {
      if (runs++ > 0) return
      yield {
        type: 'chat/inputRequested',
        request: { id: 'q', questions: [{ id: 'a', kind: 'text', message: '?' }] },
      }
      throw new TurnFailed('asked', 'It was asked for nothing.', true)
    },
  })
  await turn(ann, 't')
  ann.dispatch(chat, { type: 'chat/turnResume', turnId: 't' })
  const answer = { state: 'draft', value: { kind: 'text', value: 'w' } }
  ann.dispatch(chat, { type: 'chat/inputAnswerChanged', requestId: 'q', questionId: 'a', answer })
  await untilIdle()
  expect(chatOf(ann).turns).toMatchObject([{ id: 't', state: 'complete' }])
  expect(runs).toBe(2)
})

test('[N2] a turn that is truncated and started again with the same id runs once, with the newer message', async () => {
  const texts: (string | undefined)[] = []
  const { ann } = await oneClientSession({
    ...readyAgent(),
    async *run({ state }) {
      texts.push(state.activeTurn?.message.text)
      yield* []
    },
  })
  ann.dispatch(chat, started('t', 'old'))
  ann.dispatch(chat, { type: 'chat/truncated' })
  await turn(ann, 't', 'new')
  await untilIdle()
  expect(texts).toEqual(['new'])
})

test('[P3] actions of an agent are stored as their JSON', async () => {
  const { all, ann } = await oneClientSession({
    ...readyAgent(),
    async *run() {
      const usage = { inputTokens: 3, outputTokens: undefined, _meta: { at: new Date(0), share: NaN } }
      yield { type: 'chat/usage', usage } as unknown as AgentAction
    },
  })
  await turn(ann, 't')
  const { head } = all.core().log.channel(chat) ?? {}
  expect(head).toStrictEqual(JSON.parse(JSON.stringify(head)))
  expect(chatOf(ann)).toMatchObject({
    turns: [{ usage: { _meta: { at: '1970-01-01T00:00:00.000Z', share: null } } }],
  })
})

test('[S-27] the message of an unexpected error is not shown to clients', async () => {
  const failing = () => Promise.reject(new Error('ENOENT: /home/ann/.secret'))
  const { all, ann } = await oneClientSession({
    ...readyAgent(),
    async *run() {
      await failing()
      yield* []
    },
    create: ({ uri }) => (uri === session ? Promise.resolve() : failing()),
  })
  await turn(ann, 't')
  await ann.ask('createSession', { channel: 'mock:/two' })
  await untilIdle()
  await ann.ask('subscribe', { channel: 'mock:/two' })
  expect(ann.state('mock:/two')).toMatchObject({ lifecycle: 'failed' })
  expect(chatOf(ann)).toMatchObject({
    turns: [{ responseParts: [{ error: { message: 'the agent failed' } }] }],
  })
  expect(JSON.stringify([...ann.states.values()])).not.toContain('secret')
  expect(all.world.reports.map(({ event }) => event)).toEqual(['agent failed', 'session not created'])
})

test('[N2] the iterator of an agent that yields a forbidden action is closed', async () => {
  let ended = false
  const { ann } = await oneClientSession({
    ...readyAgent(),
    async *run() {
      try {
        yield { type: 'chat/turnComplete' } as unknown as AgentAction
      } finally {
        ended = true
      }
    },
  })
  await turn(ann, 't')
  await untilIdle()
  expect(chatOf(ann)).toMatchObject({ turns: [{ state: 'error' }] })
  expect(ended).toBe(true)
})

test('[N3] a failed turn of a worker is not resumable: users cannot write in its chat', async () => {
  const { ann } = await oneClientSession({
    ...readyAgent(),
    resumes: true,
    async *run({ spawn, state }) {
      if (state.origin?.kind === 'tool') throw new TurnFailed('busy', 'Try again.', true)
      yield { type: 'chat/toolCallStart', toolCallId: 'call', toolName: 'work', displayName: 'Work' }
      await spawn({ toolCallId: 'call', title: 'Work', text: 'work' }).done
    },
  })
  await turn(ann, 't')
  const worker = sessionOf(ann).chats[1]?.resource ?? ''
  await ann.ask('subscribe', { channel: worker })
  expect(chatOf(ann, worker).turns[0]?.responseParts).toEqual([
    { kind: 'error', error: { errorType: 'busy', message: 'Try again.' } },
  ])
})

test('[S-23] a worker beyond the limit is refused with the right limit', async () => {
  const { ann } = await oneClientSession(boss, { limits: { chats: 1 } })
  await turn(ann, 't')
  expect(chatOf(ann).turns[0]?.responseParts.at(-1)).toMatchObject({
    error: { errorType: 'workers', message: 'a session has at most 1 chats' },
  })
})
