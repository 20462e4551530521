import { commands } from '@atrium/protocol/commands'
import { defaultChatUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { failingAgent, lateAgent } from '../../../test/agents.ts'
import { untilIdle, root, session, title } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { testHost } from '../../../test/test-host.ts'
import {
  accepted,
  chat,
  chatOf,
  subscribeTo,
  part,
  twoClientSession,
  sessionOf,
  started,
  turn,
} from '../../../test/two-client-session.ts'
import { methods } from '../../../test/commands/methods.ts'
import type { Session } from '../../ports/agent.ts'
import { TurnFailed } from '../../ports/agent.ts'

const two = 'ahp-session:/two'

describe('[H7] a session is created', () => {
  test('while others are subscribed already, and then it is ready', async () => {
    const agent = lateAgent()
    const all = await testHost({ agents: [agent] })
    const ann = await all.join('ann')
    // The next request is sent before the response to this one arrives.
    const made = ann.ask('createSession', { channel: session })
    await ann.ask('subscribe', { channel: session })
    await made
    expect(ann.state(session)).toMatchObject({ lifecycle: 'creating', defaultChat: chat, title: '' })
    agent.finish(session)
    await ann.until(() => ann.state(session)['lifecycle'] === 'ready')
    expect(ann.envelopes.map(({ action }) => action)).toEqual([{ type: 'session/ready' }])
  })

  const failures: readonly (readonly [error: unknown, shown: object, reported: number])[] = [
    [new TurnFailed('auth', 'There is no key.'), { errorType: 'auth', message: 'There is no key.' }, 0],
    [new Error('ENOENT /home/ann/.key'), { errorType: 'agent', message: 'the agent failed' }, 1],
    ['oops', { errorType: 'agent', message: 'the agent failed' }, 1],
  ]
  test.each(failures)(
    'or its creation fails with a message for users: %s',
    async (error, shown, reported) => {
      const agent = { ...failingAgent(new TurnFailed('', '')), create: () => Promise.reject(error as Error) }
      const all = await testHost({ agents: [agent] })
      const ann = await all.join('ann')
      await ann.ask('createSession', { channel: session })
      await until(() => sessionOf(all).lifecycle === 'failed')
      expect(sessionOf(all).creationError).toEqual(shown)
      expect(all.world.reports).toHaveLength(reported)
      const more = ann.ask('createChat', { channel: session, chat: 'ahp-chat:/x' })
      await expect(more).rejects.toMatchObject({ message: 'this session could not be created' })
      await ann.ask('disposeSession', { channel: session })
    },
  )

  test('[H9.10] again after a crash of the host, and once more', async () => {
    const agent = new ScriptedAgent({ create: () => new Promise(() => {}) })
    const all = await twoClientSession(agent, { waits: false })
    await accepted(all.ann, chat, started('t1'))
    for (const how of ['crash', 'close'] as const) await all.restart(how)
    expect(agent.created).toEqual([session, session, session])
    expect(sessionOf(all).lifecycle).toBe('creating')
    expect([chatOf(all).activeTurn?.id, agent.runs.length]).toEqual(['t1', 0])
  })

  test('or fails where its agent is gone, and so does the turn that waits', async () => {
    const all = await twoClientSession(new ScriptedAgent({ create: () => new Promise(() => {}) }), {
      waits: false,
    })
    await accepted(all.ann, chat, started('t1'))
    await all.restart('crash', undefined, [])
    await until(() => sessionOf(all).lifecycle === 'failed')
    expect(chatOf(all).turns).toMatchObject([{ id: 't1', state: 'error' }])
  })
})

describe('[H2] [H2.1] -32003: a URI is used once', () => {
  test.each([
    ['an existing session', session],
    ['a disposed session', 'ahp-session:/gone'],
    ['the chat of a disposed session', defaultChatUri('ahp-session:/gone')],
    ['a chat', chat],
    ['another chat', 'ahp-chat:/other'],
    ['a disposed chat', 'ahp-chat:/gone'],
    ['the derived name of a default chat', `${session}/chat`],
    ['the root', root],
  ])('not for %s', async (_, channel) => {
    const { ann, ...all } = await twoClientSession()
    await ann.ask('createSession', { channel: 'ahp-session:/gone' })
    await ann.ask('disposeSession', { channel: 'ahp-session:/gone' })
    for (const name of ['gone', 'other'])
      await ann.ask('createChat', { channel: session, chat: `ahp-chat:/${name}` })
    await ann.ask('disposeChat', { channel: 'ahp-chat:/gone' })
    await expect(ann.ask('createSession', { channel })).rejects.toMatchObject({ code: -32003 })
    const createChat = ann.ask('createChat', { channel: session, chat: channel })
    await expect(createChat).rejects.toMatchObject({ code: -32010 })
    await all.restart('crash')
    const ben = await all.join('ben')
    await expect(ben.ask('createSession', { channel })).rejects.toMatchObject({ code: -32003 })
  })

  test('of two concurrent requests one succeeds', async () => {
    const all = await testHost()
    const asked = await Promise.all(['ann', 'ben', 'cem'].map((name) => all.join(name)))
    const made = await Promise.allSettled(
      asked.map((client) => client.ask('createSession', { channel: two })),
    )
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected'])
  })
})

test.each([
  ['an unknown agent', { provider: 'nobody' }, -32002],
  ['the name of an Object member', { provider: 'constructor' }, -32002],
  ['a directory twice', { workingDirectories: ['file:///a', 'file:///a'] }, -32602],
  ['more directories than its agent supports', { workingDirectories: ['file:///a', 'file:///b'] }, -32602],
  ['another active client', { activeClient: { clientId: 'ben', tools: [] } }, -32602],
])('[H2] [H2.1] createSession with %s is refused and leaves nothing', async (_, params, code) => {
  const all = await testHost()
  const ann = await all.join('ann')
  await expect(ann.ask('createSession', { channel: two, ...params })).rejects.toMatchObject({ code })
  await ann.ask('createSession', { channel: two })
})

describe('[H7] [H7.8] a channel kind that this host does not offer', () => {
  const offered = new Set([...methods, 'ping', 'initialize', 'reconnect'])
  const others = [...commands.keys()].filter((method) => !offered.has(method))

  test.each(others)('%s is -32601, whatever its params', async (method) => {
    const { ann } = await twoClientSession()
    for (const params of [{ channel: session }, {}, { channel: 5 }])
      await expect(ann.peer.request(method, params)).rejects.toMatchObject({ code: -32601 })
  })

  test.each([
    `${session}/changeset/uncommitted`,
    'ahp-automation:/x',
    'ahp-automation-run:/x',
    'ahp-canvas:/x',
    'ahp-otlp:/logs',
    'ahp-terminal:/x',
    'mcp://x',
  ])('%s cannot be subscribed to', async (channel) => {
    const { ann } = await twoClientSession()
    await expect(ann.ask('subscribe', { channel })).rejects.toMatchObject({ code: -32008 })
  })

  test('is in no state, and in no initialize result', async () => {
    const all = await twoClientSession()
    ;(await turn(all, 't1', part('p'))).end()
    await until(() => chatOf(all).turns.length === 1)
    const greeting = await all.link().initialize('cem', [root, session, chat])
    const keys = new Set<string>()
    JSON.stringify(greeting, (key, value: unknown) => (keys.add(key), value))
    const absent = /changeset|canvas|otlp|telemetry|terminal/i
    expect([...keys].filter((key) => absent.test(key))).toEqual([])
  })
})

describe('[H7] [H7.2] progress', () => {
  const asked = async (create: (given: Session) => Promise<void>) => {
    const all = await testHost({ agents: [new ScriptedAgent({ create })] })
    const [ann, ben] = [
      await all.join('ann', { subscribe: [root] }),
      await all.join('ben', { subscribe: [root] }),
    ]
    await ann.ask('createSession', { channel: session, progressToken: 'mine' })
    return { all, ann, ben }
  }
  const progressOf = (client: { notes: readonly { method: string; params: Record<string, unknown> }[] }) =>
    client.notes.filter(({ method }) => method === 'root/progress').map(({ params }) => params)

  test('never decreases, ends at the total, and is sent to the requester only', async () => {
    const { ann, ben, all } = await asked(async ({ progress }) => {
      for (const [done, total] of [
        [1, 4],
        [3, 4],
        [2, 4],
        [NaN, 4],
        [-1, 4],
        [4, 4],
        [3, 10],
        [20, 10],
      ] as const)
        progress(done, total, 'x')
    })
    await until(() => sessionOf(all).lifecycle === 'ready')
    await ann.until(() => progressOf(ann).at(-1)?.['progress'] === progressOf(ann).at(-1)?.['total'])
    const steps = progressOf(ann).map(({ progress }) => progress as number)
    expect(steps).toEqual([1, 3, 3, 3, 4, 10])
    expect(progressOf(ann).filter(({ progress, total }) => progress === total)).toHaveLength(1)
    expect(progressOf(ann).every(({ progressToken }) => progressToken === 'mine')).toBe(true)
    expect(progressOf(ben)).toEqual([])
  })

  test.each(['fails', 'is disposed of'])(
    'ends also where the session %s, and then says no more',
    async (how) => {
      let given: Session | undefined
      const { ann } = await asked(async (session_) => {
        given = session_
        session_.progress(1, 3)
        await (how === 'fails' ? Promise.reject(new TurnFailed('x', 'no')) : new Promise(() => {}))
      })
      if (how !== 'fails') await ann.ask('disposeSession', { channel: session })
      await ann.until(() => progressOf(ann).length === 2)
      given?.progress(2, 3)
      await untilIdle()
      expect(progressOf(ann)).toMatchObject([
        { progress: 1, total: 3 },
        { progress: 3, total: 3 },
      ])
    },
  )
})

test('[H14.4] an agent is told when the last client has left an idle session', async () => {
  const all = await twoClientSession()
  const { agent, ann, ben } = all
  const join = (clientId: string) => ({
    type: 'session/activeClientSet',
    activeClient: { clientId, tools: [] },
  })
  const leave = (clientId: string) => ({ type: 'session/activeClientRemoved', clientId })
  await accepted(ann, session, join('ann'))
  await accepted(ben, session, join('ben'))
  await accepted(ann, session, leave('ann'))
  expect(agent.released).toEqual([])
  await accepted(ben, session, leave('ben'))
  expect(agent.released).toEqual([session])
  // During a turn the agent is not told.
  await accepted(ann, session, join('ann'))
  await turn(all, 't1', part('p'))
  await accepted(ann, session, leave('ann'))
  expect(agent.released).toEqual([session])
})

describe('[H7] [H7.7] disposing of a session', () => {
  test('removes its chats, subscriptions, turns and records, and notifies its agent', async () => {
    const all = await twoClientSession()
    const run = await turn(all, 't1', part('p'))
    await all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/other' })
    await accepted(all.ann, session, title('named'))
    const active = { type: 'session/activeClientSet', activeClient: { clientId: 'ann', tools: [] } }
    await accepted(all.ann, session, active)
    await all.ann.ask('disposeSession', { channel: session })
    expect(run.signal.aborted).toBe(true)
    await until(() => all.agent.disposed.length === 1)
    expect(all.agent.disposed).toEqual([session])
    await expect(all.ben.ask('subscribe', { channel: session })).rejects.toMatchObject({ code: -32001 })
    for (const channel of [chat, 'ahp-chat:/other'])
      await expect(all.ben.ask('subscribe', { channel })).rejects.toMatchObject({ code: -32008 })
    const before = all.ben.envelopes.length
    for (const channel of [session, chat]) all.ann.dispatch(channel, title('late'))
    await all.ann.ask('listSessions', {})
    expect(all.ben.envelopes).toHaveLength(before)
    const left = (await all.store().records.list(''))
      .map(([key]) => key)
      .filter((key) => key.includes('one') || key.includes('other'))
    // Clients that come back are told about the end of the session (H10.5).
    expect(left.filter((key) => !key.startsWith('gone/'))).toEqual([`removed/${session}`])
    // The session, its alias and its other chat must not be used again.
    expect(left).toHaveLength(4)
  })

  test('during its creation works at once, even if the agent ignores the abort', async () => {
    const all = await twoClientSession(new ScriptedAgent({ create: () => new Promise(() => {}) }), {
      waits: false,
    })
    await all.ann.ask('disposeSession', { channel: session })
    await all.restart('crash')
    expect(all.agent.created).toEqual([session])
    expect(all.world.reports).toEqual([])
  })

  test('reports an agent that fails to dispose of it, and harms nothing else', async () => {
    const all = await twoClientSession(
      Object.assign(new ScriptedAgent(), { dispose: () => Promise.reject(new Error('busy')) }),
    )
    await all.ann.ask('disposeSession', { channel: session })
    await until(() => all.world.reports.length === 1)
    await all.ann.ask('createSession', { channel: two })
    await subscribeTo(all.ann, [two])
  })
})
