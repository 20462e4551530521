import { rootUri } from '@atrium/protocol/uri'
import type { SessionState } from '@atrium/protocol/session/state'
import { describe, expect, test } from 'vitest'
import { patientAgent, readyAgent } from '../../../test/agents.ts'
import { until } from '../../../test/scripted-agent.ts'
import { fork, forkAt, idsOf, read, severalChats, turnsIn } from '../../../test/several-chats.ts'
import {
  chat,
  chatOf,
  message,
  session,
  sessionOf,
  started,
  oneClientSession,
} from '../../../test/one-client-session.ts'

const ids = ['t1', 't2', 't3']
const copy = 'ahp-chat:/copy'

/** Ann, in a chat with three turns. */
async function three(options: Parameters<typeof oneClientSession>[1] = {}) {
  const found = await oneClientSession(severalChats(), options)
  await turnsIn(found.ann, chat, ids)
  return found
}

describe('[H11] a fork', () => {
  test('[H11.1] [H11.2] has the turns of its source up to and including the named one', async () => {
    const { ann } = await three()
    await fork(ann, copy, 't2')
    const state = await read(ann, copy)
    expect(state.turns).toEqual(chatOf(ann).turns.slice(0, 2))
    expect(state).toMatchObject({ origin: forkAt('t2'), title: 'say t1', status: 1, movable: true })
    expect(state).not.toHaveProperty('turnsNextCursor')
    expect(sessionOf(ann).chats.at(-1)).toMatchObject({
      resource: copy,
      origin: forkAt('t2'),
      title: 'say t1',
    })
  })

  test('is in its session before the response, and is delivered once to each client', async () => {
    const { all, ann } = await three()
    const ben = await all.join('ben', { subscribe: [session] })
    const { length } = ben.envelopes
    await fork(ann, copy, 't3')
    expect(sessionOf(ann).chats).toHaveLength(2)
    await ben.until(() => ben.envelopes.length > length)
    expect(ben.envelopes.slice(length).map(({ action }) => action.type)).toEqual(['session/chatAdded'])
  })

  test('[H11.1] is independent of its source, and the source of the fork', async () => {
    const { ann } = await three()
    await fork(ann, copy, 't2')
    await read(ann, copy)
    await turnsIn(ann, copy, ['t4'])
    await ann.echo(ann.dispatch(chat, { type: 'chat/truncated', turnId: 't1' }))
    expect(idsOf(chatOf(ann))).toEqual(['t1'])
    expect(idsOf(chatOf(ann, copy))).toEqual(['t1', 't2', 't4'])
    await ann.echo(ann.dispatch(copy, { type: 'chat/truncated' }))
    expect(idsOf(chatOf(ann, copy))).toEqual([])
    expect(idsOf(chatOf(ann))).toEqual(['t1'])
  })

  test('[H11.1] stays when its source is disposed of', async () => {
    const { all, ann } = await three()
    await fork(ann, copy, 't3')
    await fork(ann, 'ahp-chat:/second', 't2', copy)
    await ann.ask('disposeChat', { channel: copy })
    await all.restart()
    const ben = await all.join('ben')
    expect(idsOf(await read(ben, 'ahp-chat:/second'))).toEqual(['t1', 't2'])
  })

  test('starts with its initial message', async () => {
    const { ann } = await three()
    const source = forkAt('t1')
    await ann.ask('createChat', { channel: session, chat: copy, source, initialMessage: message('go on') })
    await read(ann, copy)
    await ann.until(() => chatOf(ann, copy).turns.length === 2)
    expect(chatOf(ann, copy).turns.map((turn) => turn.message.text)).toEqual(['say t1', 'go on'])
    expect(chatOf(ann)).toMatchObject({ turns: ids.map((id) => ({ id })) })
  })

  test('[H11.2] has the directories of its source, even if others are given', async () => {
    const { ann } = await oneClientSession(severalChats())
    for (const directory of ['file:///a'])
      await ann.echo(ann.dispatch(session, { type: 'session/workingDirectorySet', directory }))
    await ann.echo(ann.dispatch(chat, { type: 'chat/workingDirectorySet', directory: 'file:///a' }))
    await turnsIn(ann, chat, ['t1'])
    const source = forkAt('t1')
    const workingDirectories = ['file:///elsewhere']
    await ann.ask('createChat', { channel: session, chat: copy, source, workingDirectories })
    expect(await read(ann, copy)).toMatchObject({ workingDirectories: ['file:///a'] })
  })

  test('can be made of a sleeping chat, and after a restart', async () => {
    const { all, ann } = await three()
    for (const channel of [chat, session]) ann.peer.notify('unsubscribe', { channel })
    await ann.ask('listSessions', {})
    for (let i = 0; i < 3; i++) {
      await all.core().log.settled()
      all.world.advance(61_000)
    }
    expect(all.core().log.channel(chat)).toBeUndefined()
    await fork(ann, copy, 't2')
    expect(idsOf(await read(ann, copy))).toEqual(['t1', 't2'])
    await all.restart()
    const ben = await all.join('ben', { subscribe: [rootUri] })
    await fork(ben, 'ahp-chat:/again', 't2', copy)
    const again = await read(ben, 'ahp-chat:/again')
    expect(again.turns).toEqual((await read(ben, chat)).turns.slice(0, 2))
  })
})

describe('[H11] [H11.3] a side chat', () => {
  test('is empty, and has its source as origin', async () => {
    const { ann } = await three()
    const selection = { text: 'Hello', responsePartId: 't2#0' }
    const source = { kind: 'sideChat', chat, turnId: 't2', selection } as const
    await ann.ask('createChat', { channel: session, chat: copy, source })
    expect(await read(ann, copy)).toMatchObject({ turns: [], origin: source, title: '', movable: true })
    await turnsIn(ann, copy, ['s1'])
    expect(chatOf(ann, copy).turns).toHaveLength(1)
  })

  test('shows its origin to its agent', async () => {
    const seen: unknown[] = []
    const agent = severalChats()
    const run = (given: Parameters<typeof agent.run>[0], signal: AbortSignal) => {
      seen.push(given.state.origin)
      return agent.run(given, signal)
    }
    const { ann } = await oneClientSession({ ...agent, run })
    await turnsIn(ann, chat, ['t1'])
    const source = { kind: 'sideChat', chat, turnId: 't1' } as const
    await ann.ask('createChat', { channel: session, chat: copy, source, initialMessage: message('why?') })
    await until(() => seen.length === 2)
    expect(seen[1]).toEqual(source)
  })
})

describe('[H11] is refused, and nothing is changed', () => {
  const wrong: [string, object, RegExp][] = [
    ['a missing turn', { kind: 'fork', chat, turnId: 'none' }, /no such turn/],
    ['a side chat of a missing turn', { kind: 'sideChat', chat, turnId: 'none' }, /no such turn/],
    ['a turn in progress', { kind: 'fork', chat, turnId: 'open' }, /in progress/],
    ['a missing chat', { kind: 'fork', chat: 'ahp-chat:/none', turnId: 't1' }, /not a chat of this session/],
    [
      'a chat of another session',
      { kind: 'fork', chat: 'ahp-chat:/far', turnId: 'f1' },
      /not a chat of this session/,
    ],
    ['a turn of another chat', { kind: 'fork', chat: 'ahp-chat:/near', turnId: 't1' }, /no such turn/],
    ['an unknown kind', { kind: 'twin', chat, turnId: 't1' }, /fork or sideChat/],
    ['an unknown kind without a source', { kind: 'twin' }, /fork or sideChat/],
  ]
  test.each(wrong)('%s', async (_, source, reason) => {
    const agent = patientAgent()
    const { ann } = await oneClientSession(severalChats(agent))
    ann.dispatch(chat, started('t1'))
    agent.finish('t1')
    await ann.until(() => chatOf(ann).turns.length === 1)
    ann.dispatch(chat, started('open'))
    await ann.ask('createChat', { channel: session, chat: 'ahp-chat:/near' })
    await ann.ask('createSession', { channel: 'mock:/two' })
    agent.finish('f1')
    await ann.ask('createChat', { channel: 'mock:/two', chat: 'ahp-chat:/far' })
    await ann.echo(ann.dispatch('ahp-chat:/far', started('f1')))
    const before = sessionOf(ann)
    const asked = ann.ask('createChat', { channel: session, chat: copy, source: source as never })
    await expect(asked).rejects.toMatchObject({ code: -32602, message: expect.stringMatching(reason) })
    expect(sessionOf(ann)).toEqual(before)
    await expect(ann.ask('subscribe', { channel: copy })).rejects.toMatchObject({ code: -32008 })
    // The URI is still free.
    await fork(ann, copy, 't1')
  })

  test.each([
    ['fork', { sideChat: true }, /does not support forks/],
    ['sideChat', { fork: true }, /does not support side chats/],
  ])('%s, where the agent does not support it', async (kind, multipleChats, reason) => {
    const agent = readyAgent()
    const { ann } = await oneClientSession({
      ...agent,
      info: { ...agent.info, capabilities: { multipleChats } },
    })
    await turnsIn(ann, chat, ['t1'])
    const source = { kind, chat, turnId: 't1' } as never
    const asked = ann.ask('createChat', { channel: session, chat: copy, source })
    await expect(asked).rejects.toMatchObject({ code: -32602, message: expect.stringMatching(reason) })
    expect((sessionOf(ann) as SessionState).chats).toHaveLength(1)
  })
})
