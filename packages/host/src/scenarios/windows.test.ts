import type { ChatState } from '@atrium/protocol/chat/state'
import { describe, expect, test } from 'vitest'
import { reconnectClient, untilIdle, session, title } from '../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../test/scripted-agent.ts'
import type { Client, TestHostOptions } from '../../test/test-host.ts'
import {
  accepted,
  chat,
  chatOf,
  delta,
  part,
  resume,
  twoClientSession,
  started,
  truncated,
  turn,
} from '../../test/two-client-session.ts'
import type { TwoClientSession } from '../../test/two-client-session.ts'
import { TurnFailed } from '../ports/agent.ts'

/** A chat with this number of turns, the last of which failed and can be resumed. */
async function chatWithTurns(count: number, options: TestHostOptions = {}): Promise<TwoClientSession> {
  const all = await twoClientSession(new ScriptedAgent({ resumes: true }), options)
  for (let n = 0; n < count; n++) {
    const run = await turn(all, `t${n}`, part(`p${n}`), delta(`p${n}`, `Turn ${n}`))
    if (n === count - 1) run.fail(new TurnFailed('x', 'again', true))
    else run.end()
    await until(() => chatOf(all).turns.length === n + 1)
  }
  return all
}

/** A client that wants only the newest few turns. */
async function peeping(all: TwoClientSession, turns: number, name = 'cem'): Promise<Client> {
  const client = await all.join(name)
  await client.ask('subscribe', { channel: session })
  await client.ask('subscribe', { channel: chat, view: { turns } })
  return client
}

const state = (client: Client) => client.states.get(chat) as ChatState
const ids = (client: Client) => state(client).turns.map(({ id }) => id)
const loads = (client: Client) => client.envelopes.filter(({ action }) => action.type === 'chat/turnsLoaded')

/**
 * Fetches pages back to the first turn, and checks that the client then has what the host has. Returns the number of pages.
 */
async function readAll(all: TwoClientSession, client: Client): Promise<number> {
  let pages = 0
  for (; state(client).turnsNextCursor !== undefined; pages++) {
    const { turnsNextCursor: cursor = '' } = state(client)
    const before = ids(client).length
    await client.ask('fetchTurns', { channel: chat, cursor })
    // The page comes before the response. So by now the client has more turns, or at least another cursor.
    if (ids(client).length === before) expect(state(client).turnsNextCursor).not.toBe(cursor)
  }
  await untilIdle()
  const { log } = all.core()
  const channel = log.channel(chat)
  if (channel) await log.loadRows(channel)
  const { turns, activeTurn, status, modifiedAt } = chatOf(all)
  expect(state(client)).toMatchObject({ turns, status, modifiedAt })
  expect(state(client).turns).toHaveLength(turns.length)
  expect(state(client).activeTurn).toEqual(activeTurn)
  return pages
}

describe('[L9] a view of the newest turns', () => {
  test.each([
    [0, []],
    [1, ['t6']],
    [3, ['t4', 't5', 't6']],
    [7, ['t0', 't1', 't2', 't3', 't4', 't5', 't6']],
    [100, ['t0', 't1', 't2', 't3', 't4', 't5', 't6']],
  ])('[L9.5] of %i turns has the newest, and pages lead to the beginning', async (turns, seen) => {
    const all = await chatWithTurns(7, { limits: { turnsPageLength: 700 } })
    const cem = await peeping(all, turns)
    expect(ids(cem)).toEqual(seen)
    const pages = await readAll(all, cem)
    expect(pages > 1).toBe(turns < 4)
    expect(loads(cem)).toHaveLength(pages)
    expect([loads(all.ann), loads(all.ben)]).toEqual([[], []])
  })

  test.each(['', 'before:', 'before:t9', 'newes', 'before:constructor', '0'])(
    'has no page before %j',
    async (cursor) => {
      const all = await chatWithTurns(3)
      const cem = await peeping(all, 1)
      const asked = cem.ask('fetchTurns', { channel: chat, cursor })
      await expect(asked).rejects.toMatchObject({ code: -32602 })
      expect(loads(cem)).toEqual([])
      await readAll(all, cem)
    },
  )

  test('is refused pages of a channel that is no chat', async () => {
    const all = await chatWithTurns(1)
    for (const channel of [session, 'ahp-chat:/none', 'ahp-root://'])
      await expect(all.ann.ask('fetchTurns', { channel })).rejects.toMatchObject({ code: -32008 })
  })

  test('follows new turns', async () => {
    const all = await chatWithTurns(4)
    const cem = await peeping(all, 2)
    const run = await turn(all, 'new', part('p'))
    run.end()
    await until(() => chatOf(all).turns.length === 5)
    await cem.until(() => ids(cem).at(-1) === 'new')
    expect(ids(cem)).toEqual(['t2', 't3', 'new'])
    await readAll(all, cem)
  })
})

describe('[L9] [L9.7] I4: an action on a turn outside the view', () => {
  test.each(['t0', 't2', 't3'])(
    'as the chat that ends at %s: it is given first, to those who lack it',
    async (turnId) => {
      const all = await chatWithTurns(6)
      const [cem, dora] = [await peeping(all, 2), await peeping(all, 3, 'dora')]
      await accepted(all.ann, chat, truncated(turnId))
      await cem.until(() => ids(cem).at(-1) === turnId)
      const types = cem.envelopes.filter(({ channel }) => channel === chat).map(({ action }) => action.type)
      expect(types).toEqual(['chat/turnsLoaded', 'chat/truncated'])
      expect(loads(dora)).toHaveLength(turnId === 't3' ? 0 : 1)
      expect(loads(all.ben)).toEqual([])
      for (const client of [cem, dora, all.ben]) await readAll(all, client)
    },
  )

  test('is preceded by the turn also where it is only on the disk', async () => {
    const all = await chatWithTurns(60)
    for (const client of [all.ann, all.ben]) {
      client.peer.notify('unsubscribe', { channel: chat })
      await client.ask('listSessions', {})
    }
    all.world.advance(60_000)
    expect(chatOf(all)).toBeUndefined()
    const cem = await peeping(all, 1)
    await accepted(all.ann, chat, truncated('t3'))
    await cem.until(() => ids(cem).at(-1) === 't3')
    await readAll(all, cem)
    expect(ids(cem)).toEqual(['t0', 't1', 't2', 't3'])
  })

  test('that resumes it, for a client with a view of no turns', async () => {
    const all = await chatWithTurns(3)
    const cem = await peeping(all, 0)
    await accepted(all.ann, chat, resume('t2'))
    ;(await all.agent.given(3)).end()
    await until(() => chatOf(all).turns.length === 3 && !chatOf(all).activeTurn)
    await cem.until(() => ids(cem).includes('t2'))
    await readAll(all, cem)
  })

  test('that removes all turns: nothing is sent before it', async () => {
    const all = await chatWithTurns(4)
    const cem = await peeping(all, 1)
    await accepted(all.ann, chat, truncated())
    await cem.until(() => ids(cem).length === 0)
    expect(loads(cem)).toEqual([])
    await readAll(all, cem)
  })
})

describe('[L13] I4: a client that reconnects to a view', () => {
  const meanwhile: readonly (readonly [what: string, act: (all: TwoClientSession) => Promise<unknown>])[] = [
    ['nothing happened', () => Promise.resolve()],
    ['it was named', (all) => accepted(all.ann, session, title('named'))],
    ['a turn was begun', (all) => accepted(all.ann, chat, started('new'))],
    ['the chat ended at a turn it has', (all) => accepted(all.ann, chat, truncated('t4'))],
    ['the chat ended at one that it lacks', (all) => accepted(all.ann, chat, truncated('t1'))],
    ['the last turn went on', (all) => accepted(all.ann, chat, resume('t5'))],
    [
      'the chat ended at one that it lacks, and went on',
      async (all) => {
        await accepted(all.ann, chat, truncated('t1'))
        await accepted(all.ann, chat, started('new'))
      },
    ],
  ]
  for (const turns of [0, 2])
    test.each(meanwhile)(`of ${turns} turns, and %s: it has what the host has`, async (_, act) => {
      const all = await chatWithTurns(6)
      const cem = await peeping(all, turns)
      cem.peer.close()
      await act(all)
      const { link } = await reconnectClient(all, cem, cem.lastSeen, [session, chat])
      // A client that got a replay keeps the turns that it had before.
      for (const channel of [session, chat]) if (!link.states.has(channel)) inherit(link, cem, channel)
      await untilIdle()
      await readAll(all, link)
    })

  test('after a restart, too, gets no more turns than it asked for', async () => {
    const all = await chatWithTurns(6)
    const cem = await peeping(all, 2)
    cem.peer.close()
    await all.restart('close')
    const { link, result } = await reconnectClient(all, cem, 1, [session, chat])
    expect(result.type).toBe('snapshot')
    expect(ids(link)).toEqual(['t4', 't5'])
    await readAll(all, link)
  })
})

/** Gives a new link the state of the link before it, and reduces the actions that the new link was sent. */
function inherit(link: Client, before: Client, channel: string): void {
  link.kinds.set(channel, channel === chat ? 'chat' : 'session')
  link.states.set(channel, before.states.get(channel))
  const missed = link.envelopes.filter((envelope) => envelope.channel === channel)
  for (const { action, rejectionReason } of missed)
    if (rejectionReason === undefined) link.fold(channel, action)
}
