import { catalogOf } from '../../catalog/catalog.ts'
import { describe, expect, test } from 'vitest'
import { patientAgent } from '../../../test/agents.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import {
  a,
  b,
  c,
  chatsOf,
  expectOneSession,
  isAdded,
  listed,
  move,
  moveToSession,
  two,
  withChats,
} from '../../../test/moves.ts'
import { until } from '../../../test/scripted-agent.ts'
import { severalChats, turnsIn } from '../../../test/several-chats.ts'
import { chat, chatOf, session, sessionOf, started } from '../../../test/one-client-session.ts'
import { TurnFailed } from '../../ports/agent.ts'
import type { Agent } from '../../ports/agent.ts'

describe('[H12] [H12.5] a move to a new session', () => {
  test('copies the settings of the old one, makes the chat its default, and announces it', async () => {
    const { all, ann } = await withChats()
    await turnsIn(ann, b, ['b1'])
    const { session: made } = await move(ann, b, { kind: 'newSession' })
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
    await expect(moveToSession(ann, b, session)).rejects.toMatchObject({
      message: expect.stringMatching(/default chat/),
    })
    await turnsIn(ann, b, ['b2'])
    expect(chatOf(ann, b)).toMatchObject({ movable: false })
    await all.restart()
    const ben = await all.join('ben', { subscribe: [made] })
    expect(chatsOf(ben, made)).toEqual([b])
    expectOneSession(all, session, two, made)
  })

  test('that its agent cannot create leaves the chat where it is, and no session', async () => {
    let fails = false
    const agent: Agent = {
      ...severalChats(),
      create: () => (fails ? Promise.reject(new TurnFailed('x', 'No room in the inn.')) : Promise.resolve()),
    }
    const { all, ann } = await withChats(agent)
    fails = true
    const { size } = catalogOf(all.core())
    await expect(move(ann, b, { kind: 'newSession' })).rejects.toMatchObject({
      message: 'No room in the inn.',
    })
    await untilIdle()
    expect(chatsOf(ann)).toEqual([chat, a, b, c])
    expect(catalogOf(all.core()).size).toBe(size)
  })

  test('fails if a turn started meanwhile', async () => {
    let open = () => {}
    let waits = false
    const agent = patientAgent()
    agent.finish('t1')
    const create = () => (waits ? new Promise<void>((resolve) => (open = resolve)) : Promise.resolve())
    const { all, ann } = await withChats(severalChats({ ...agent, create }))
    const { size } = catalogOf(all.core())
    waits = true
    const moved = move(ann, b, { kind: 'newSession' })
    await until(() => catalogOf(all.core()).size > size)
    // The creation blocks no client: Ann's dispatches are applied meanwhile.
    await ann.echo(ann.dispatch(b, started('b1')))
    open()
    await expect(moved).rejects.toMatchObject({ code: -32011, message: expect.stringMatching(/in progress/) })
    await untilIdle()
    expect([chatsOf(ann), catalogOf(all.core()).size]).toEqual([[chat, a, b, c], size])
  })

  test('interrupted by a crash leaves an unused session', async () => {
    let waits = false
    const create = () => (waits ? new Promise<void>(() => {}) : Promise.resolve())
    const { all, ann } = await withChats({ ...severalChats(), create })
    const { size } = catalogOf(all.core())
    waits = true
    move(ann, b, { kind: 'newSession' }).catch(() => {})
    await until(() => catalogOf(all.core()).size > size)
    await untilIdle()
    await all.restart()
    const ben = await all.join('ben', { subscribe: [session] })
    expect(chatsOf(ben)).toEqual([chat, a, b, c])
    all.world.advance(4 * 3_600_000)
    await until(() => catalogOf(all.core()).size === size)
  })
})

describe('[H12] [H12.1] `movable` of a chat', () => {
  test('is true in an idle chat and false in a turn, in the same step', async () => {
    const agent = patientAgent()
    agent.finish('t1')
    const { ann } = await withChats(severalChats(agent))
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
  const { ann } = await withChats(severalChats(agent))
  ann.dispatch(b, started('b1'))
  const waiting = { kind: 'queued', id: 'q', message: { text: 'q', origin: { kind: 'user' } } }
  await ann.echo(ann.dispatch(b, { type: 'chat/pendingMessageSet', ...waiting }))
  agent.finish('b1')
  await ann.until(() => chatOf(ann, b).activeTurn?.message.text === 'q')
  agent.finish(chatOf(ann, b).activeTurn?.id ?? '')
  await ann.until(() => chatOf(ann, b).turns.length === 2)
  await untilIdle()
  const movable = ann.envelopes.flatMap(({ channel, action }) =>
    channel === b && action.type === 'chat/movableChanged' ? [(action as { movable?: boolean }).movable] : [],
  )
  expect(movable).toEqual([false, true])
})
