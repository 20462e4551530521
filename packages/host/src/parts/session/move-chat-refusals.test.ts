import { catalogOf } from '../../catalog/catalog.ts'
import type { SessionState } from '@atrium/protocol/session/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { patientAgent, readyAgent } from '../../../test/agents.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import type { Client } from '../../../test/test-host.ts'
import { severalChats, turnsIn } from '../../../test/several-chats.ts'
import {
  chat,
  chatOf,
  message,
  session,
  sessionOf,
  started,
  oneClientSession,
} from '../../../test/one-client-session.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { Agent } from '../../ports/agent.ts'

const two = 'mock:/two'
const [a, b] = ['ahp-chat:/a', 'ahp-chat:/b'] as const

async function pair(agent: Agent, others: readonly Agent[] = [], limits = {}) {
  const { all, ann } = await oneClientSession(agent, { agents: [agent, ...others], limits })
  for (const uri of [a, b]) await ann.ask('createChat', { channel: session, chat: uri })
  await ann.ask('createSession', { channel: two })
  for (const channel of [two, b]) await ann.ask('subscribe', { channel })
  await untilIdle()
  return { all, ann }
}

interface Refusal {
  readonly message: RegExp
  readonly code: number
}

/** Checks that a refused move changes nothing for any client. */
async function refused(ann: Client, channel: string, destination: object, expected: RegExp | Refusal) {
  const { message, code } = expected instanceof RegExp ? { message: expected, code: -32011 } : expected
  const before = [ann.state(session), ann.state(two)]
  const asked = ann.ask('moveChat', { channel, destination: destination as never })
  await expect(asked).rejects.toMatchObject({ code, message: expect.stringMatching(message) })
  await untilIdle()
  expect([ann.state(session), ann.state(two)]).toEqual(before)
  expect(before[0]).toBe(ann.state(session))
}

const there = (uri = two) => ({ kind: 'session', session: uri })

describe('[H12] [H12.1] a chat cannot be moved', () => {
  test('that is the default chat, to any destination', async () => {
    const { ann } = await pair(severalChats())
    for (const destination of [there(), there(session), { kind: 'newSession' }])
      await refused(ann, chat, destination, /default chat/)
  })

  test('while a turn is active or messages are queued', async () => {
    const agent = patientAgent()
    const { ann } = await pair(severalChats(agent))
    ann.dispatch(b, started('b1'))
    await ann.echo(
      ann.dispatch(b, { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message: message('q') }),
    )
    await refused(ann, b, there(), /in progress/)
    await refused(ann, b, there(session), /in progress/)
    const { activeTurn } = chatOf(ann, b)
    expect(activeTurn?.id).toBe('b1')
    agent.finish('b1')
    await ann.until(() => chatOf(ann, b).activeTurn?.message.text === 'q')
    await refused(ann, b, there(), /in progress/)
    agent.finish(chatOf(ann, b).activeTurn?.id ?? '')
    await ann.until(() => chatOf(ann, b).turns.length === 2)
    await ann.ask('moveChat', { channel: b, destination: { kind: 'session', session: two } })
  })

  test('while messages are queued after a failed turn', async () => {
    const agent: Agent = { ...severalChats(), run: failing }
    const { ann } = await pair(agent)
    ann.dispatch(b, started('b1'))
    await ann.echo(
      ann.dispatch(b, { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message: message('q') }),
    )
    await ann.until(() => chatOf(ann, b).turns.length === 1)
    await refused(ann, b, there(), /queued messages/)
  })

  test('while its worker runs, and neither can the chat of the worker', async () => {
    const { ann } = await pair(severalChats(boss))
    ann.dispatch(b, started('b1'))
    await ann.until(() => sessionOf(ann).chats.length === 4)
    const worker = sessionOf(ann).chats[3]?.resource ?? ''
    await refused(ann, b, there(), /in progress/)
    await refused(ann, worker, there(), /worker/)
  })
})

describe('[H12] [H12.2] a session cannot be the destination', () => {
  test('if it is missing, or if `after` is missing', async () => {
    const { ann } = await pair(severalChats())
    await refused(ann, b, there('mock:/none'), { message: /none/, code: -32001 })
    await refused(ann, b, there(a), { message: /./, code: -32001 })
    await refused(ann, 'ahp-chat:/none', there(), { message: /no chat/, code: -32008 })
    await refused(ann, session, there(), { message: /no chat/, code: -32008 })
    for (const after of [b, 'ahp-chat:/none', a])
      await refused(ann, b, { ...there(), after }, { message: /not another chat/, code: -32602 })
    await refused(ann, b, { ...there(session), after: b }, { message: /not another chat/, code: -32602 })
    await refused(ann, b, { kind: 'moon' }, { message: /session or newSession/, code: -32602 })
  })

  test('if it has another agent', async () => {
    const { ann } = await pair(severalChats(), [readyAgent('other')])
    await ann.ask('createSession', { channel: 'mock:/other', provider: 'other' })
    await refused(ann, b, there('mock:/other'), /another agent/)
  })

  test('if it has other directories', async () => {
    const { ann } = await pair(severalChats())
    const directory = 'file:///work'
    await ann.echo(ann.dispatch(session, { type: 'session/workingDirectorySet', directory }))
    await refused(ann, b, there(), /other working directories/)
    await ann.echo(ann.dispatch(b, { type: 'chat/workingDirectorySet', directory }))
    await refused(ann, b, there(), /other working directories/)
    await ann.echo(ann.dispatch(two, { type: 'session/workingDirectorySet', directory }))
    await ann.ask('moveChat', { channel: b, destination: { kind: 'session', session: two } })
    expect((ann.state(two) as unknown as SessionState).chats[0]).toMatchObject({
      workingDirectories: [directory],
    })
  })

  test('if its creation failed', async () => {
    const create = ({ uri }: { uri: string }) =>
      uri === 'mock:/bad' ? Promise.reject(new TurnFailed('x', 'no')) : Promise.resolve()
    const { ann } = await pair({ ...severalChats(), create })
    await ann.ask('createSession', { channel: 'mock:/bad' })
    await ann.ask('subscribe', { channel: 'mock:/bad' })
    await ann.until(() => ann.state('mock:/bad')['lifecycle'] === 'failed')
    await refused(ann, b, there('mock:/bad'), /could not be created/)
  })

  test('beyond the limits of chats and sessions', async () => {
    const { ann } = await pair(severalChats(), [], { chats: 3, sessions: 2 })
    for (const name of ['x', 'y']) await ann.ask('createChat', { channel: two, chat: `ahp-chat:/${name}` })
    await refused(ann, b, there(), { message: /at most 3 chats/, code: -32009 })
    await refused(ann, b, { kind: 'newSession' }, { message: /2 sessions/, code: -32009 })
    // A move within the session adds no chat, so the limits do not matter.
    await ann.ask('moveChat', { channel: b, destination: { kind: 'session', session } })
  })

  test('on a read-only host', async () => {
    const { all } = await pair(severalChats())
    await all.restart('crash', 'read only')
    const ben = await all.join('ben', { subscribe: [session, two] })
    await refused(ben, b, there(), { message: /read only/, code: -32009 })
  })
})

test('[H12] [H12.3] after a crash at any flush a chat is in exactly one session', async () => {
  for (const count of [0, 1, 2]) {
    const tasks: (() => void)[] = []
    let holding = false
    const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
    const agent = severalChats()
    const { all, ann } = await oneClientSession(agent, { agents: [agent], soon })
    await turnsIn(ann, chat, ['t1'])
    await ann.ask('createChat', { channel: session, chat: b })
    await ann.ask('createSession', { channel: two })
    await untilIdle()
    holding = true
    ann.ask('moveChat', { channel: b, destination: { kind: 'session', session: two } }).catch(() => {})
    await until(() => tasks.length > 0)
    for (let i = 0; i < count; i++) {
      for (const task of tasks.splice(0)) task()
      await untilIdle()
    }
    holding = false
    await all.restart()
    const ben = await all.join('ben', { subscribe: [session, two] })
    const homes = [session, two].filter((uri) =>
      (ben.state(uri) as unknown as SessionState).chats.some(({ resource }) => resource === b),
    )
    expect(homes).toEqual([count === 0 ? session : two])
    expect(catalogOf(all.core()).sessionOf(b)).toBe(homes[0])
    expect(catalogOf(all.core()).sessionOf(defaultChatUri(two))).toBe(two)
  }
})

async function* failing(): AsyncGenerator<never> {
  await untilIdle()
  yield await Promise.reject(new TurnFailed('x', 'it failed'))
}

const boss: Agent = {
  ...readyAgent(),
  async *run({ when, spawn, state }) {
    if (state.origin?.kind !== 'tool') spawn({ toolCallId: 'call', title: 'Work', text: 'work' })
    await when(() => false)
    yield* []
  },
}
