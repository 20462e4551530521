import { catalogOf } from '../../catalog/catalog.ts'
import type { SessionState } from '@atrium/protocol/session/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { readyAgent } from '../../../test/agents.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import {
  a,
  b,
  c,
  chatsOf,
  expectOneSession,
  isAdded,
  listed,
  moveToSession,
  two,
  withChats,
  withSlowDisk,
} from '../../../test/moves.ts'
import { read, severalChats, turnsIn } from '../../../test/several-chats.ts'
import { chat, chatOf, session, sessionOf, started } from '../../../test/one-client-session.ts'
import type { Agent } from '../../ports/agent.ts'

describe('[H12] a move within a session', () => {
  test.each([
    ['first', undefined, [b, chat, a, c]],
    ['behind the default chat', chat, [chat, b, a, c]],
    ['last', c, [chat, a, c, b]],
    ['where it is', a, [chat, a, b, c]],
  ])('%s', async (_, after, order) => {
    const { all, ann } = await withChats()
    expect(await moveToSession(ann, b, session, after)).toEqual({ session })
    expect(chatsOf(ann)).toEqual(order)
    expect(sessionOf(ann).defaultChat).toBe(chat)
    await all.restart()
    const ben = await all.join('ben', { subscribe: [session] })
    expect(chatsOf(ben)).toEqual(order)
  })

  test('[H12.6] is one action of the host, with the whole order', async () => {
    const { ann } = await withChats()
    const before = ann.envelopes.length
    await moveToSession(ann, b, session)
    const delivered = ann.envelopes.slice(before).map(({ action, origin }) => [action, origin])
    expect(delivered).toEqual([[{ type: 'session/chatsReordered', chats: [b, chat, a, c] }, undefined]])
    const clientSeq = ann.dispatch(session, { type: 'session/chatsReordered', chats: [chat, a, b, c] })
    expect((await ann.echo(clientSeq)).rejectionReason).toMatch(/by the host only/)
  })

  test('changes the order in the session list, too', async () => {
    const { ann } = await withChats()
    await moveToSession(ann, b, session)
    const { items } = await ann.ask('listSessions', {})
    const [listed] = items.filter(({ resource }) => resource === session)
    expect(listed?.chats?.map(({ resource }) => resource)).toEqual([b, chat, a, c])
  })
})

describe('[H12] a move to another session', () => {
  test('adds the chat unchanged there, and removes it from its old session', async () => {
    const { all, ann } = await withChats()
    await turnsIn(ann, b, ['b1'])
    const before = await read(ann, b)
    const entry = sessionOf(ann).chats.find(({ resource }) => resource === b)
    expect(await moveToSession(ann, b, two, defaultChatUri(two))).toEqual({ session: two })
    expect(chatsOf(ann)).toEqual([chat, a, c])
    expect(chatsOf(ann, two)).toEqual([defaultChatUri(two), b])
    expect((ann.state(two) as unknown as SessionState).chats[1]).toEqual(entry)
    expect(await read(ann, b)).toEqual(before)
    expectOneSession(all, session, two)
    await turnsIn(ann, b, ['b2'])
    expect(chatOf(ann, b).turns).toHaveLength(2)
    await all.restart()
    const ben = await all.join('ben', { subscribe: [session, two] })
    expect([chatsOf(ben), chatsOf(ben, two)]).toEqual([
      [chat, a, c],
      [defaultChatUri(two), b],
    ])
    expect((await read(ben, b)).turns.map(({ id }) => id)).toEqual(['b1', 'b2'])
    expectOneSession(all, session, two)
  })

  test('[H12.3] is one step: no client sees the chat in both sessions or in neither for longer', async () => {
    const { ann } = await withChats()
    const before = ann.envelopes.length
    await moveToSession(ann, b, two)
    const delivered = ann.envelopes.slice(before).map(({ channel, action }) => [channel, action.type])
    expect(delivered).toEqual([
      [session, 'session/chatRemoved'],
      [two, 'session/chatAdded'],
      [two, 'session/chatsReordered'],
    ])
    expect(chatsOf(ann, two)).toEqual([b, defaultChatUri(two)])
  })

  test('[H12.3] announces that session', async () => {
    const { all, ann } = await withChats()
    await moveToSession(ann, b, two)
    await listed(all, () => isAdded(ann, two))
    const changed = () => ann.notes.filter(({ method }) => method === 'root/sessionSummaryChanged')
    await listed(all, () => changed().some(({ params }) => params['session'] === session))
    const chats = [chat, a, c].map((resource) => ({ resource }))
    expect(changed().at(-1)?.params).toMatchObject({ changes: { chats } })
  })

  test('lasts when the old session is disposed of at any time', async () => {
    const { all, ann } = await withChats()
    const moved = moveToSession(ann, b, two)
    const gone = ann.ask('disposeSession', { channel: session })
    await moved
    await gone
    await turnsIn(ann, b, ['b1'])
    await all.restart()
    const ben = await all.join('ben', { subscribe: [two] })
    expect(chatsOf(ben, two)).toEqual([b, defaultChatUri(two)])
    expect((await read(ben, b)).turns).toHaveLength(1)
    expectOneSession(all, two)
  })

  test('is not visible before it is committed', async () => {
    const { all, ann, hold, release } = await withSlowDisk()
    await turnsIn(ann, b, ['b1'])
    const ben = await all.join('ben')
    hold()
    const moved = moveToSession(ann, b, two)
    await untilIdle()
    expect((await read(ben, b)).title).toBe('say b1')
    release()
    await moved
    expect((await read(ben, b)).title).toBe('say b1')
  })

  test('is not visible before it is committed, also right after a change of title', async () => {
    const { all, ann, hold, release } = await withSlowDisk()
    const ben = await all.join('ben')
    hold()
    ann.dispatch(b, started('b1', 'a name'))
    ann.dispatch(b, { type: 'chat/turnCancelled', turnId: 'b1', duration: 1 })
    const moved = moveToSession(ann, b, two)
    await untilIdle()
    expect(catalogOf(all.core()).sessionOf(b)).toBe(two)
    expect(await read(ben, b)).toMatchObject({ title: '', turns: [] })
    release()
    await moved
    expect((await read(ben, b)).title).toBe('a name')
  })

  test('lasts when the old session is disposed of before the commit', async () => {
    const { all, ann, hold, release } = await withSlowDisk()
    hold()
    const moved = moveToSession(ann, b, two)
    const gone = ann.ask('disposeSession', { channel: session })
    await untilIdle()
    expect(all.core().log.channel(session)).toBeUndefined()
    const ben = await all.join('ben')
    expect((await read(ben, b)).turns).toEqual([])
    release()
    await Promise.all([moved, gone])
    await turnsIn(ann, b, ['b1'])
    expectOneSession(all, two)
  })

  test('[H12.4] includes the chats of the workers', async () => {
    const { all, ann } = await withChats(severalChats(boss))
    ann.dispatch(b, started('b1', 'boss'))
    await ann.until(() => chatOf(ann, b).turns.length === 1)
    const worker = sessionOf(ann).chats.find(({ origin }) => origin?.kind === 'tool')?.resource ?? ''
    await expect(moveToSession(ann, worker, two)).rejects.toMatchObject({
      code: -32011,
      message: expect.stringMatching(/worker/),
    })
    await moveToSession(ann, b, two)
    expect(chatsOf(ann)).toEqual([chat, a, c])
    expect(chatsOf(ann, two)).toEqual([b, worker, defaultChatUri(two)])
    expectOneSession(all, session, two)
    await ann.ask('disposeSession', { channel: two })
    await expect(ann.ask('subscribe', { channel: worker })).rejects.toMatchObject({ code: -32008 })
  })
})

/** An agent whose worker runs as long as its own turn. */
const boss: Agent = {
  ...readyAgent(),
  async *run(given, signal) {
    if (given.state.origin?.kind !== 'tool' && given.state.activeTurn?.message.text === 'boss')
      await given.spawn({ toolCallId: 'call', title: 'Work', text: 'work' }).done
    yield* readyAgent().run(given, signal)
  },
}
