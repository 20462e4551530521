import { sessionStatus } from '@atrium/protocol/session/activity'
import type { SessionState } from '@atrium/protocol/session/state'
import { describe, expect, test } from 'vitest'
import {
  asks,
  toolCallStarted,
  completed,
  registersTools,
  providedBy,
  ready,
  running,
} from '../../../test/tool-call-actions.ts'
import { untilIdle, root, session, title } from '../../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../../test/scripted-agent.ts'
import { advance, testHost } from '../../../test/test-host.ts'
import type { Client, TestHost } from '../../../test/test-host.ts'
import {
  accepted,
  cancelled,
  chat,
  chatOf,
  message,
  part,
  says,
  twoClientSession,
  sessionOf,
  started,
  becomeActive,
  turn,
} from '../../../test/two-client-session.ts'
import type { AnyAction, TwoClientSession } from '../../../test/two-client-session.ts'
import type { AgentAction } from '../../ports/agent.ts'

/** The notifications about the session list, in order. Advances the clock first, so that the host holds none back. */
async function news(all: TestHost, watcher: Client): Promise<readonly (readonly [string, unknown])[]> {
  for (let n = 0; n < 3; n++, await untilIdle()) all.world.advance(100)
  return watcher.notes.map(({ method, params }) => [
    method.replace('root/', ''),
    params['changes'] ?? params['session'] ?? (params['summary'] as object),
  ])
}

describe('[H7.4] a session is announced at its creation', () => {
  test('once, after the answer, before any change of it, and from then on it is listed', async () => {
    const all = await testHost({ agents: [new ScriptedAgent()] })
    const ann = await all.join('ann', { subscribe: [root] })
    let answered = false
    const made = ann.ask('createSession', { channel: session }).then(() => (answered = true))
    const seq = ann.dispatch(chat, started('t1'))
    await ann.until(() => ann.notes.length > 0)
    expect(answered).toBe(true)
    await Promise.all([made, ann.echo(seq)])
    const [first, ...others] = await news(all, ann)
    expect(first).toMatchObject(['sessionAdded', { resource: session }])
    expect(others.map(([what]) => what)).not.toContain('sessionAdded')
    expect(ann.state(root)).toMatchObject({ activeSessions: 1 })
  })

  test('and its end is announced, also if nobody has used it', async () => {
    const all = await twoClientSession()
    const watcher = await all.join('watcher', { subscribe: [root] })
    expect(await watcher.ask('listSessions', {})).toMatchObject({ items: [{ resource: session }] })
    await all.ann.ask('disposeSession', { channel: session })
    expect(await news(all, watcher)).toEqual([['sessionRemoved', session]])
    expect(await watcher.ask('listSessions', {})).toEqual({ items: [] })
  })

  test('and it stays when its creator is gone', async () => {
    const all = await twoClientSession()
    all.ann.peer.close()
    await untilIdle()
    all.world.advance(4 * 3_600_000)
    await untilIdle()
    expect(await all.ben.ask('listSessions', {})).toMatchObject({ items: [{ resource: session }] })
  })
})

describe('[H7.4] a session of a client that creates sessions in advance is announced when it is first used', () => {
  const draft = { type: 'chat/draftChanged', draft: message('hm') }
  const queued = { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message: message() }
  const steering = { ...queued, kind: 'steering' }
  const uses: readonly (readonly [what: string, channel: string, action: AnyAction])[] = [
    ['turn', chat, started('t1')],
    ['title', session, title('Mine')],
    ['draft', chat, draft],
    ['queued message', chat, queued],
    ['steering message', chat, steering],
  ]
  test.each(uses)(
    'by a %s: after the answer, once, and from then on it is listed',
    async (_, channel, action) => {
      const all = await testHost({ agents: [new ScriptedAgent()], machine: advance })
      const ann = await all.join('ann', { subscribe: [root] })
      let answered = false
      const made = ann.ask('createSession', { channel: session }).then(() => (answered = true))
      // The action is dispatched before the response to `createSession` arrives.
      const seq = ann.dispatch(channel, action)
      await ann.until(() => ann.notes.length > 0)
      expect(answered).toBe(true)
      await Promise.all([made, ann.echo(seq)])
      expect(
        (await news(all, ann)).map(([what]) => what).filter((what) => what === 'sessionAdded'),
      ).toHaveLength(1)
      expect(await ann.ask('listSessions', {})).toMatchObject({ items: [{ resource: session }] })
      expect(ann.state(root)).toMatchObject({ activeSessions: 1 })
    },
  )

  test('and not if it is only created, subscribed to, configured and left', async () => {
    const all = await twoClientSession(new ScriptedAgent(), { machine: advance })
    const watcher = await all.join('watcher', { subscribe: [root] })
    await accepted(all.ann, session, {
      type: 'session/activeClientSet',
      activeClient: { clientId: 'ann', tools: [] },
    })
    await accepted(all.ann, session, { type: 'session/isReadChanged', isRead: true })
    await all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/x' })
    await all.ann.ask('disposeSession', { channel: session })
    expect([await news(all, watcher), watcher.envelopes]).toEqual([[], []])
    expect(await watcher.ask('listSessions', {})).toEqual({ items: [] })
  })

  test('also by the first message of another chat', async () => {
    const all = await twoClientSession()
    const watcher = await all.join('watcher', { subscribe: [root] })
    await all.ann.ask('createChat', {
      channel: session,
      chat: 'ahp-chat:/x',
      initialMessage: message('hi') as never,
    })
    expect((await news(all, watcher))[0]).toMatchObject(['sessionAdded', { resource: session }])
  })
})

describe('[H7] [H7.5] the title of a session', () => {
  const named = (text: string) => ({ type: 'session/titleChanged', title: text }) as AgentAction

  test('is its first message until its agent sets one', async () => {
    const all = await twoClientSession()
    await accepted(all.ann, chat, started('t1', '\n  Fix the   door \nplease'))
    expect([sessionOf(all).title, sessionOf(all).chats[0]?.title]).toEqual(['Fix the door', 'Fix the door'])
    const run = await all.agent.given(0)
    await says(all, run, named('A door'))
    expect(sessionOf(all).title).toBe('A door')
    run.end()
    await until(() => chatOf(all).turns.length === 1)
    await accepted(all.ann, chat, started('t2', 'Another thing'))
    expect(sessionOf(all).title).toBe('A door')
  })

  test('set by a client stays, also after a restart', async () => {
    const all = await twoClientSession()
    await accepted(all.ann, session, title('Mine'))
    await says(all, await turn(all, 't1'), named('Not mine'))
    expect(sessionOf(all).title).toBe('Mine')
    await all.restart('crash')
    const ann = await all.join('ann')
    for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
    await accepted(ann, chat, started('t2'))
    await says(all, await all.agent.given(1), named('Not mine either'))
    expect(sessionOf(all).title).toBe('Mine')
  })

  test.each([
    ['', ''],
    [' \n\t', ''],
    ['x'.repeat(500), `${'x'.repeat(79)}…`],
    [`${'word '.repeat(40)}`, `${'word '.repeat(14)}word…`],
    [`${'a'.repeat(78)}😀b`, `${'a'.repeat(78)}…`],
  ])('is cut to 80 characters: %j', async (text, short) => {
    const all = await twoClientSession()
    await accepted(all.ann, chat, started('t1', text))
    expect(sessionOf(all).title).toBe(short)
    expect(short.length).toBeLessThanOrEqual(80)
  })
})

describe('[H7] [H7.6] a change in the session list', () => {
  const listed = async (): Promise<TwoClientSession & { watcher: Client }> => {
    const all = await twoClientSession()
    await accepted(all.ann, session, title('Listed'))
    const watcher = await all.join('watcher', { subscribe: [root] })
    for (let n = 0; n < 3; n++, await untilIdle()) all.world.advance(100)
    watcher.notes.length = 0
    return { ...all, watcher }
  }

  test('is sent in a batch, with the changed keys only', async () => {
    const { watcher, ...all } = await listed()
    for (const name of ['a', 'b', 'c', 'd']) await accepted(all.ann, session, title(name))
    const notes = await news(all, watcher)
    expect(notes.length).toBeLessThanOrEqual(2)
    for (const [what, changes] of notes)
      expect([what, Object.keys(changes as object)]).toEqual(['sessionSummaryChanged', ['title']])
    expect(notes.at(-1)?.[1]).toEqual({ title: 'd' })
    await accepted(all.ann, session, title('d'))
    expect(await news(all, watcher)).toHaveLength(notes.length)
  })

  test('has an empty activity where there is none any more', async () => {
    const { watcher, ...all } = await listed()
    const run = await turn(all, 't1', { type: 'chat/activityChanged', activity: 'Reading' })
    expect(Object.assign({}, ...(await news(all, watcher)).map(([, changes]) => changes))).toMatchObject({
      activity: 'Reading',
      status: 8,
    })
    watcher.notes.length = 0
    run.end()
    await until(() => chatOf(all).turns.length === 1)
    const after = Object.assign({}, ...(await news(all, watcher)).map(([, changes]) => changes))
    expect(after).toMatchObject({ activity: '', status: 1 })
    expect(Object.keys(after)).not.toContain('resource')
    for (const key of ['provider', 'createdAt', 'title']) expect(Object.keys(after)).not.toContain(key)
  })

  test('has an empty activity, also where another chat set it', async () => {
    const { watcher, ...all } = await listed()
    await all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/x' })
    await accepted(all.ann, 'ahp-chat:/x', started('t1'))
    await says(all, await all.agent.given(0), { type: 'chat/activityChanged', activity: 'Asking' }, asks)
    await until(() => sessionOf(all).activity === 'Asking')
    await news(all, watcher)
    watcher.notes.length = 0
    await accepted(all.ann, 'ahp-chat:/x', completed('r1', { response: 'cancel' }))
    expect((await news(all, watcher))[0]).toMatchObject(['sessionSummaryChanged', { activity: '' }])
  })

  test('is not sent for a disposed session', async () => {
    const { watcher, ...all } = await listed()
    await accepted(all.ann, session, title('x'))
    await all.ann.ask('disposeSession', { channel: session })
    expect((await news(all, watcher)).at(-1)).toEqual(['sessionRemoved', session])
  })
})

describe('[H10] [H10.1] [H10.2] the status of a session follows its chats', () => {
  const asksIt = [asks]
  /** Each row: what the second chat does, what the default chat does, and the resulting status of the session. */
  const rows: readonly (readonly [other: string, own: string, status: number])[] = [
    ['rests', 'rests', 1],
    ['works', 'rests', 1],
    ['rests', 'works', 8],
    ['asks', 'works', 24],
    ['works', 'asks', 24],
    ['asks', 'fails', 24],
    ['fails', 'works', 2],
    ['fails', 'rests', 2],
    ['works', 'fails', 2],
    ['lends', 'works', 8],
    ['rests', 'lends', 8],
    ['rests', 'waits', 24],
  ]
  const says_: Readonly<Record<string, readonly AgentAction[]>> = {
    asks: asksIt,
    waits: [toolCallStarted(), ready()],
    lends: [toolCallStarted(providedBy('ann')), running],
  }
  test.each(rows)('the other chat %s, its own %s: %i', async (other, own, status) => {
    const all = await twoClientSession()
    await becomeActive(all.ann)
    await accepted(all.ann, session, title('listed'))
    await all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/x' })
    for (const [uri, what] of [
      ['ahp-chat:/x', other],
      [chat, own],
    ] as const) {
      if (what === 'rests') continue
      const before = all.agent.runs.length
      await accepted(all.ann, uri, started(`t${uri}`))
      const run = await all.agent.given(before)
      if (what === 'fails') run.fail(new Error('x'))
      else await says(all, run, ...(says_[what] ?? []))
      if (what === 'fails') await until(() => chatOf(all, uri).turns.length === 1)
    }
    const newcomer = await all.join('new', { subscribe: [session] })
    expect(await newcomer.ask('listSessions', {})).toMatchObject({ items: [{ status }] })
    // A client that reads the state instead of the list derives the same status from the chats.
    expect(sessionStatus(newcomer.state(session) as unknown as SessionState)).toBe(status)
  })

  test('and `inputNeeded` lists each request while it is open', async () => {
    const all = await twoClientSession()
    await accepted(all.ann, session, registersTools('ann'))
    const run = await turn(all, 't1', asks, toolCallStarted(providedBy('ann')), running)
    expect(sessionOf(all).inputNeeded?.map(({ kind }) => kind)).toEqual(['chatInput', 'toolClientExecution'])
    await accepted(all.ann, chat, completed('r1', { response: 'cancel' }))
    expect(sessionOf(all).inputNeeded?.map(({ kind }) => kind)).toEqual(['toolClientExecution'])
    await says(all, run, part('p'))
    await accepted(all.ann, chat, cancelled('t1'))
    expect(sessionOf(all)).not.toHaveProperty('inputNeeded')
    expect(all.ben.state(session)).toEqual(sessionOf(all))
  })
})
