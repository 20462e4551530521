import type { SessionState } from '@atrium/protocol/session/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { patientAgent, readyAgent } from '../../test/agents.ts'
import { quiet } from '../../test/held-flushes.ts'
import { until } from '../../test/scripted-agent.ts'
import type { Client, Room } from '../../test/test-host.ts'
import { read, severalChats, turnsIn } from '../../test/several-chats.ts'
import { chat, chatOf, session, sessionOf, started, talk } from '../../test/one-client-session.ts'
import { TurnFailed } from '../ports/agent.ts'
import type { Agent } from '../ports/agent.ts'

const two = 'mock:/two'
const [a, b, c] = ['ahp-chat:/a', 'ahp-chat:/b', 'ahp-chat:/c'] as const

/** Ann, in a session with three chats beside its default chat, and a second session. */
async function several(agent: Agent = severalChats(), options: Parameters<typeof talk>[1] = {}) {
  const found = await talk(agent, options)
  const { ann } = found
  await turnsIn(ann, chat, ['t1'])
  for (const uri of [a, b, c]) await ann.ask('createChat', { channel: session, chat: uri })
  await ann.ask('createSession', { channel: two })
  await ann.ask('subscribe', { channel: two })
  await ann.ask('subscribe', { channel: b })
  await quiet()
  return found
}

/** The same on a disk that blocks while the test says so. */
async function held() {
  let holding = false
  const tasks: (() => void)[] = []
  const soon = (task: () => void) => (holding ? void tasks.push(task) : queueMicrotask(task))
  const found = await several(severalChats(), { soon })
  const release = () => {
    holding = false
    for (const task of tasks.splice(0)) task()
  }
  return { ...found, hold: () => void (holding = true), release }
}

const to = (client: Client, channel: string, destination: object) =>
  client.ask('moveChat', { channel, destination: destination as never })
const toSession = (client: Client, channel: string, uri: string, after?: string) =>
  to(client, channel, { kind: 'session', session: uri, ...(after !== undefined && { after }) })

const chatsOf = (client: Client, uri = session) =>
  (client.state(uri) as unknown as SessionState).chats.map(({ resource }) => resource)

/** Checks that every chat is in exactly one session, the one in the index. */
function oneHome({ core }: Room, ...sessions: readonly string[]): void {
  const { catalog, log } = core()
  const all = sessions.flatMap((uri) =>
    ((log.channel(uri)?.head as SessionState | undefined)?.chats ?? []).map(({ resource }) => [
      resource,
      uri,
    ]),
  )
  expect(new Set(all.map(([uri]) => uri)).size).toBe(all.length)
  for (const [uri = '', home] of all) expect(catalog.sessionOf(uri)).toBe(home)
}

describe('[H12] a move within a session', () => {
  test.each([
    ['first', undefined, [b, chat, a, c]],
    ['behind the default chat', chat, [chat, b, a, c]],
    ['last', c, [chat, a, c, b]],
    ['where it is', a, [chat, a, b, c]],
  ])('%s', async (_, after, order) => {
    const { all, ann } = await several()
    expect(await toSession(ann, b, session, after)).toEqual({ session })
    expect(chatsOf(ann)).toEqual(order)
    expect(sessionOf(ann).defaultChat).toBe(chat)
    await all.restart()
    const ben = await all.join('ben', { subscribe: [session] })
    expect(chatsOf(ben)).toEqual(order)
  })

  test('is one action of the host, with the whole order', async () => {
    const { ann } = await several()
    const before = ann.envelopes.length
    await toSession(ann, b, session)
    const delivered = ann.envelopes.slice(before).map(({ action, origin }) => [action, origin])
    expect(delivered).toEqual([[{ type: 'session/chatsReordered', chats: [b, chat, a, c] }, undefined]])
    const clientSeq = ann.dispatch(session, { type: 'session/chatsReordered', chats: [chat, a, b, c] })
    expect((await ann.echo(clientSeq)).rejectionReason).toMatch(/by the host only/)
  })

  test('changes the order in the session list, too', async () => {
    const { ann } = await several()
    await toSession(ann, b, session)
    const { items } = await ann.ask('listSessions', {})
    const [listed] = items.filter(({ resource }) => resource === session)
    expect(listed?.chats?.map(({ resource }) => resource)).toEqual([b, chat, a, c])
  })
})

describe('[H12] a move to another session', () => {
  test('adds the chat unchanged there, and removes it from its old session', async () => {
    const { all, ann } = await several()
    await turnsIn(ann, b, ['b1'])
    const before = await read(ann, b)
    const entry = sessionOf(ann).chats.find(({ resource }) => resource === b)
    expect(await toSession(ann, b, two, defaultChatUri(two))).toEqual({ session: two })
    expect(chatsOf(ann)).toEqual([chat, a, c])
    expect(chatsOf(ann, two)).toEqual([defaultChatUri(two), b])
    expect((ann.state(two) as unknown as SessionState).chats[1]).toEqual(entry)
    expect(await read(ann, b)).toEqual(before)
    oneHome(all, session, two)
    await turnsIn(ann, b, ['b2'])
    expect(chatOf(ann, b).turns).toHaveLength(2)
    await all.restart()
    const ben = await all.join('ben', { subscribe: [session, two] })
    expect([chatsOf(ben), chatsOf(ben, two)]).toEqual([
      [chat, a, c],
      [defaultChatUri(two), b],
    ])
    expect((await read(ben, b)).turns.map(({ id }) => id)).toEqual(['b1', 'b2'])
    oneHome(all, session, two)
  })

  test('is one step: no client sees the chat in both sessions or in neither for longer', async () => {
    const { ann } = await several()
    const before = ann.envelopes.length
    await toSession(ann, b, two)
    const delivered = ann.envelopes.slice(before).map(({ channel, action }) => [channel, action.type])
    expect(delivered).toEqual([
      [session, 'session/chatRemoved'],
      [two, 'session/chatAdded'],
      [two, 'session/chatsReordered'],
      ['ahp-root://', 'root/activeSessionsChanged'],
    ])
    expect(chatsOf(ann, two)).toEqual([b, defaultChatUri(two)])
  })

  test('announces that session', async () => {
    const { all, ann } = await several()
    await toSession(ann, b, two)
    await listed(all, () => isAdded(ann, two))
    const changed = () => ann.notes.filter(({ method }) => method === 'root/sessionSummaryChanged')
    await listed(all, () => changed().some(({ params }) => params['session'] === session))
    const chats = [chat, a, c].map((resource) => ({ resource }))
    expect(changed().at(-1)?.params).toMatchObject({ changes: { chats } })
  })

  test('lasts when the old session is disposed of at any time', async () => {
    const { all, ann } = await several()
    const moved = toSession(ann, b, two)
    const gone = ann.ask('disposeSession', { channel: session })
    await moved
    await gone
    await turnsIn(ann, b, ['b1'])
    await all.restart()
    const ben = await all.join('ben', { subscribe: [two] })
    expect(chatsOf(ben, two)).toEqual([b, defaultChatUri(two)])
    expect((await read(ben, b)).turns).toHaveLength(1)
    oneHome(all, two)
  })

  test('is not visible before it is committed', async () => {
    const { all, ann, hold, release } = await held()
    await turnsIn(ann, b, ['b1'])
    const ben = await all.join('ben')
    hold()
    const moved = toSession(ann, b, two)
    await quiet()
    expect((await read(ben, b)).title).toBe('say b1')
    release()
    await moved
    expect((await read(ben, b)).title).toBe('say b1')
  })

  test('is not visible before it is committed, also right after a change of title', async () => {
    const { all, ann, hold, release } = await held()
    const ben = await all.join('ben')
    hold()
    ann.dispatch(b, started('b1', 'a name'))
    ann.dispatch(b, { type: 'chat/turnCancelled', turnId: 'b1', duration: 1 })
    const moved = toSession(ann, b, two)
    await quiet()
    expect(all.core().catalog.sessionOf(b)).toBe(two)
    expect(await read(ben, b)).toMatchObject({ title: '', turns: [] })
    release()
    await moved
    expect((await read(ben, b)).title).toBe('a name')
  })

  test('lasts when the old session is disposed of before the commit', async () => {
    const { all, ann, hold, release } = await held()
    hold()
    const moved = toSession(ann, b, two)
    const gone = ann.ask('disposeSession', { channel: session })
    await quiet()
    expect(all.core().log.channel(session)).toBeUndefined()
    const ben = await all.join('ben')
    expect((await read(ben, b)).turns).toEqual([])
    release()
    await Promise.all([moved, gone])
    await turnsIn(ann, b, ['b1'])
    oneHome(all, two)
  })

  test('includes the chats of the workers', async () => {
    const { all, ann } = await several(severalChats(boss))
    ann.dispatch(b, started('b1', 'boss'))
    await ann.until(() => chatOf(ann, b).turns.length === 1)
    const worker = sessionOf(ann).chats.find(({ origin }) => origin?.kind === 'tool')?.resource ?? ''
    await expect(toSession(ann, worker, two)).rejects.toMatchObject({
      code: -32011,
      message: expect.stringMatching(/worker/),
    })
    await toSession(ann, b, two)
    expect(chatsOf(ann)).toEqual([chat, a, c])
    expect(chatsOf(ann, two)).toEqual([b, worker, defaultChatUri(two)])
    oneHome(all, session, two)
    await ann.ask('disposeSession', { channel: two })
    await expect(ann.ask('subscribe', { channel: worker })).rejects.toMatchObject({ code: -32008 })
  })
})

describe('[H12] a move to a new session', () => {
  test('copies the settings of the old one, makes the chat its default, and announces it', async () => {
    const { all, ann } = await several()
    await turnsIn(ann, b, ['b1'])
    const { session: made } = await to(ann, b, { kind: 'newSession' })
    await ann.ask('subscribe', { channel: made })
    expect(ann.state(made)).toMatchObject({
      provider: 'mock',
      lifecycle: 'ready',
      title: 'say b1',
      defaultChat: b,
      chats: [{ resource: b, title: 'say b1', movable: false }],
    })
    expect(chatOf(ann, b)).toMatchObject({ movable: false, origin: { kind: 'user' } })
    await listed(all, () => isAdded(ann, made))
    await expect(toSession(ann, b, session)).rejects.toMatchObject({
      message: expect.stringMatching(/default chat/),
    })
    await turnsIn(ann, b, ['b2'])
    expect(chatOf(ann, b)).toMatchObject({ movable: false })
    await all.restart()
    const ben = await all.join('ben', { subscribe: [made] })
    expect(chatsOf(ben, made)).toEqual([b])
    oneHome(all, session, two, made)
  })

  test('that its agent cannot create leaves the chat where it is, and no session', async () => {
    let fails = false
    const agent: Agent = {
      ...severalChats(),
      create: () => (fails ? Promise.reject(new TurnFailed('x', 'No room in the inn.')) : Promise.resolve()),
    }
    const { all, ann } = await several(agent)
    fails = true
    const { size } = all.core().catalog
    await expect(to(ann, b, { kind: 'newSession' })).rejects.toMatchObject({ message: 'No room in the inn.' })
    await quiet()
    expect(chatsOf(ann)).toEqual([chat, a, b, c])
    expect(all.core().catalog.size).toBe(size)
  })

  test('fails if a turn started meanwhile', async () => {
    let open = () => {}
    let waits = false
    const agent = patientAgent()
    agent.finish('t1')
    const create = () => (waits ? new Promise<void>((resolve) => (open = resolve)) : Promise.resolve())
    const { all, ann } = await several(severalChats({ ...agent, create }))
    const { size } = all.core().catalog
    waits = true
    const moved = to(ann, b, { kind: 'newSession' })
    await until(() => all.core().catalog.size > size)
    // The creation blocks no client: Ann's dispatches are applied meanwhile.
    await ann.echo(ann.dispatch(b, started('b1')))
    open()
    await expect(moved).rejects.toMatchObject({ code: -32011, message: expect.stringMatching(/in progress/) })
    await quiet()
    expect([chatsOf(ann), all.core().catalog.size]).toEqual([[chat, a, b, c], size])
  })

  test('interrupted by a crash leaves an unused session', async () => {
    let waits = false
    const create = () => (waits ? new Promise<void>(() => {}) : Promise.resolve())
    const { all, ann } = await several({ ...severalChats(), create })
    const { size } = all.core().catalog
    waits = true
    to(ann, b, { kind: 'newSession' }).catch(() => {})
    await until(() => all.core().catalog.size > size)
    await quiet()
    await all.restart()
    const ben = await all.join('ben', { subscribe: [session] })
    expect(chatsOf(ben)).toEqual([chat, a, b, c])
    all.world.advance(4 * 3_600_000)
    await until(() => all.core().catalog.size === 1)
  })
})

describe('[H12] `movable` of a chat', () => {
  test('is true in an idle chat and false in a turn, in the same step', async () => {
    const agent = patientAgent()
    agent.finish('t1')
    const { ann } = await several(severalChats(agent))
    const entry = () => sessionOf(ann).chats.find(({ resource }) => resource === b)
    expect([chatOf(ann, b).movable, entry()?.movable]).toEqual([true, true])
    ann.dispatch(b, started('b1'))
    await ann.until(() => chatOf(ann, b).movable === false)
    expect([chatOf(ann, b).activeTurn?.id, entry()]).toMatchObject(['b1', { movable: false, status: 8 }])
    agent.finish('b1')
    await ann.until(() => chatOf(ann, b).movable === true)
    expect([chatOf(ann, b).turns.length, entry()]).toMatchObject([1, { movable: true, status: 1 }])
    expect(chatOf(ann).movable).toBeUndefined()
  })
})

test('[H12] a chat is not movable between a turn and its next queued message', async () => {
  const agent = patientAgent()
  agent.finish('t1')
  const { ann } = await several(severalChats(agent))
  ann.dispatch(b, started('b1'))
  const waiting = { kind: 'queued', id: 'q', message: { text: 'q', origin: { kind: 'user' } } }
  await ann.echo(ann.dispatch(b, { type: 'chat/pendingMessageSet', ...waiting }))
  agent.finish('b1')
  await ann.until(() => chatOf(ann, b).activeTurn?.message.text === 'q')
  agent.finish(chatOf(ann, b).activeTurn?.id ?? '')
  await ann.until(() => chatOf(ann, b).turns.length === 2)
  await quiet()
  const movable = ann.envelopes.flatMap(({ channel, action }) =>
    channel === b && action.type === 'chat/movableChanged' ? [(action as { movable?: boolean }).movable] : [],
  )
  expect(movable).toEqual([false, true])
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

/** Waits for the changes of the session list, which are sent in batches. */
const listed = ({ world }: Room, done: () => boolean) =>
  until(() => {
    world.advance(100)
    return done()
  })

function isAdded({ notes }: Client, uri: string): boolean {
  const added = notes.filter(({ method }) => method === 'root/sessionAdded')
  return added.some(({ params }) => (params['summary'] as { resource: string }).resource === uri)
}
