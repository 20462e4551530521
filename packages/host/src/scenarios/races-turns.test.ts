import fc from 'fast-check'
import type { Scheduler } from 'fast-check'
import { expect, test } from 'vitest'
import { untilIdle, session } from '../../test/held-flushes.ts'
import { until } from '../../test/scripted-agent.ts'
import type { Run } from '../../test/scripted-agent.ts'
import { racingClients } from '../../test/racing-clients.ts'
import type { RacingClient, RacingClients } from '../../test/racing-clients.ts'
import {
  cancelled,
  chat,
  chatOf,
  delta,
  message,
  part,
  resume,
  started,
  truncated,
} from '../../test/two-client-session.ts'
import { TurnFailed } from '../ports/agent.ts'

// Races of clients and agents for something that only one of them can have, in every order that a scheduler finds. A
// failure names its seed and path.

const noTurn = 'no such turn is in progress'
const inProgress = 'a turn is in progress: cancel it, or queue the message'

interface Start extends RacingClients {
  readonly ann: RacingClient
  readonly ben: RacingClient
}

/** Runs the same race again and again, with two clients and with five. */
function races(
  what: string,
  prepare: (all: Start) => Promise<void>,
  run: (all: Start) => Promise<string>,
): void {
  test.each([2, 5])(`${what} (%i clients)`, async (count) => {
    const won = new Set<string>()
    const once = async (s: Scheduler) => {
      const found = await racingClients(s, count)
      const [ann, ben] = found.racers as [RacingClient, RacingClient]
      const all = { ...found, ann, ben }
      await prepare(all)
      await untilIdle()
      won.add(await run(all))
    }
    await fc.assert(fc.asyncProperty(fc.scheduler(), once), { numRuns: 20 })
    // A race that the same side always wins tests nothing.
    expect(won.size).toBeGreaterThan(1)
  })
}

/** Starts a turn whose agent has begun to stream. */
async function begun(all: Start, turnId = 't1'): Promise<Run> {
  const before = all.agent.runs.length
  await all.ann.dispatch(chat, started(turnId))
  const run = await all.agent.given(before)
  run.say(part(`p${turnId}`))
  await until(() => run.waits)
  return run
}

async function ended(all: Start, turns: number): Promise<void> {
  await until(() => chatOf(all.all).turns.length === turns && !chatOf(all.all).activeTurn)
}

const acts = async (all: Start, act: () => void) => {
  await all.moment()
  act()
}

races(
  '[H9] S-17: a turn is cancelled while its agent ends it: one of them does',
  async (all) => void (await begun(all)),
  async (all) => {
    const [run] = all.agent.runs as [Run]
    const [{ rejectionReason }] = await all.race(
      () => all.ann.dispatch(chat, cancelled('t1')),
      () => acts(all, () => run.end()),
    )
    await ended(all, 1)
    const [{ state } = { state: '' }] = chatOf(all.all).turns
    expect([state, rejectionReason]).toEqual(
      state === 'cancelled' ? ['cancelled', undefined] : ['complete', noTurn],
    )
    await all.converged()
    return state
  },
)

races(
  '[H9] S-17: a turn is cancelled by two clients: one of them does',
  async (all) => void (await begun(all)),
  async (all) => {
    const both = await all.race(
      () => all.ann.dispatch(chat, cancelled('t1')),
      () => all.ben.dispatch(chat, cancelled('t1')),
    )
    const reasons = both.map(({ rejectionReason }) => rejectionReason ?? '')
    expect(reasons.toSorted()).toEqual(['', noTurn])
    expect(chatOf(all.all).turns).toHaveLength(1)
    await all.converged()
    return String(reasons)
  },
)

races(
  '[H9] S-17: two clients start a turn: one does',
  () => Promise.resolve(),
  async (all) => {
    const both = await all.race(
      () => all.ann.dispatch(chat, started('a')),
      () => all.ben.dispatch(chat, started('b')),
    )
    const reasons = both.map(({ rejectionReason }) => rejectionReason ?? '')
    expect(reasons.toSorted()).toEqual(['', inProgress])
    expect(chatOf(all.all).activeTurn?.id).toBe(reasons[0] === '' ? 'a' : 'b')
    expect(all.agent.runs).toHaveLength(1)
    await all.converged()
    return String(reasons)
  },
)

races(
  '[H9] S-17: a turn is resumed while another starts: one of them wins',
  async (all) => {
    ;(await begun(all, 't0')).fail(new TurnFailed('x', 'again', true))
    await ended(all, 1)
  },
  async (all) => {
    const [on, other] = await all.race(
      () => all.ann.dispatch(chat, resume('t0')),
      () => all.ben.dispatch(chat, started('t1')),
    )
    const won = chatOf(all.all).activeTurn?.id
    expect([on.rejectionReason, other.rejectionReason]).toEqual(
      won === 't0'
        ? [undefined, inProgress]
        : ['a turn is in progress: wait for its end, or cancel it', undefined],
    )
    expect(all.agent.runs).toHaveLength(2)
    await all.converged()
    return String(won)
  },
)

races(
  '[H9] a chat is truncated while its agent streams: nothing of the turn is left',
  async (all) => {
    ;(await begun(all, 't0')).end()
    await ended(all, 1)
    await begun(all, 't1')
  },
  async (all) => {
    const run = all.agent.runs[1] as Run
    const [{ rejectionReason }] = await all.race(
      () => all.ben.dispatch(chat, truncated('t0')),
      () => acts(all, () => run.say(delta('pt1', 'a'), delta('pt1', 'b'))),
      // Text alone is held back for a moment. The usage makes the host append the text at once.
      () => acts(all, () => run.say(delta('pt1', 'c'), { type: 'chat/usage', usage: { outputTokens: 3 } })),
    )
    expect(rejectionReason).toBeUndefined()
    expect(chatOf(all.all)).toMatchObject({ status: 1, turns: [{ id: 't0' }] })
    expect([chatOf(all.all).activeTurn, run.signal.aborted]).toEqual([undefined, true])
    await all.converged()
    return all.ben.link.envelopes.map(({ action }) => action.type).join()
  },
)

races(
  '[H9] a message is queued while the turn before it ends: it is answered once',
  async (all) => void (await begun(all)),
  async (all) => {
    const [run] = all.agent.runs as [Run]
    const queued = { type: 'chat/pendingMessageSet', kind: 'queued', id: 'q', message: message('next') }
    await all.race(
      () => all.ben.dispatch(chat, queued),
      () => acts(all, () => run.end()),
    )
    const second = await all.agent.given(1)
    expect(chatOf(all.all).activeTurn?.message.text).toBe('next')
    expect(chatOf(all.all).queuedMessages).toBeUndefined()
    second.end()
    await ended(all, 2)
    expect(all.agent.runs).toHaveLength(2)
    await all.converged()
    return all.ben.link.envelopes.map(({ action }) => action.type).join()
  },
)

races(
  '[H7] a session is disposed of while a client subscribes: the client gets a snapshot or none, and no more actions',
  async (all) => {
    all.ben.link.say({ method: 'unsubscribe', params: { channel: session } })
    await all.ben.ask('listSessions', {})
  },
  async (all) => {
    const [gone, snapshot] = await all.race(
      () => all.ann.ask('disposeSession', { channel: session }),
      () => all.ben.ask('subscribe', { channel: session }),
      () => all.ben.ask('subscribe', { channel: chat }),
    )
    expect(gone).toBe(null)
    if (typeof snapshot === 'number') expect(snapshot).toBe(-32001)
    else expect(snapshot).toMatchObject({ snapshot: { resource: session } })
    await nothingLeft(all)
    return typeof snapshot
  },
)

races(
  '[H8] a chat is created while its session is disposed of: it is disposed of too, or never created',
  () => Promise.resolve(),
  async (all) => {
    const [made, gone] = await all.race(
      () => all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/new', initialMessage: message() }),
      () => all.ben.ask('disposeSession', { channel: session }),
    )
    expect([null, -32001]).toContain(made)
    expect(gone).toBe(null)
    await nothingLeft(all)
    for (const run of all.agent.runs) expect(run.signal.aborted).toBe(true)
    return String(made)
  },
)

/** Checks that of a disposed session only the used-URI records are left. */
async function nothingLeft({ all, racers }: Start): Promise<void> {
  for (const channel of [session, chat, 'ahp-chat:/new']) {
    expect(all.core().log.channel(channel)).toBeUndefined()
    for (const racer of racers)
      expect(await racer.ask('subscribe', { channel })).toBe(channel === session ? -32001 : -32008)
  }
  for (const { link } of racers) expect(link.problems).toEqual([])
  const kept = await Promise.all(
    ['session/', 'quiet/', 'open/', 'guest/'].map((prefix) => all.store().records.list(prefix)),
  )
  expect(kept.flat()).toEqual([])
  expect(all.world.reports).toEqual([])
}
