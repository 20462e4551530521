import { memoryStore } from '@atrium/adapters/store/memory'
import type { MemoryStore } from '@atrium/adapters/store/memory'
import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { ChatState } from '@atrium/protocol/chat/state'
import { describe, expect, test } from 'vitest'
import { untilIdle } from '../../../test/held-flushes.ts'
import { until } from '../../../test/scripted-agent.ts'
import { fork, idsOf, read, severalChats, turnsIn } from '../../../test/several-chats.ts'
import {
  chat,
  chatOf,
  session,
  sessionOf,
  started,
  oneClientSession,
} from '../../../test/one-client-session.ts'
import type { Step } from '../../ports/log.ts'

const copy = 'ahp-chat:/copy'
const many = Array.from({ length: 12 }, (_, i) => `t${i + 1}`)
/** A page size at which twelve turns take several pages. */
const limits = { turnsPageLength: 1000 }
const reduce = kinds.chat.reduce as (state: unknown, action: Action) => unknown

/** A disk that records all writes. While the test holds it, writes wait to be flushed. */
function watched() {
  const steps: Step[] = []
  const held: (() => void)[] = []
  const at = { holding: false, flushes: 0 }
  const soon = (task: () => void) => {
    at.flushes++
    if (at.holding) held.push(task)
    else queueMicrotask(task)
  }
  const disk = memoryStore({ soon })
  const append = (step: Step) => {
    steps.push(step)
    disk.log.append(step)
  }
  const log = { ...disk.log, append }
  const flush = () => {
    for (const task of held.splice(0)) task()
  }
  return { disk: { ...disk, log } as MemoryStore, steps, at, held, flush }
}

async function twelve() {
  const { disk, ...watching } = watched()
  const found = await oneClientSession(severalChats(), { disk, limits })
  await turnsIn(found.ann, chat, many)
  return { ...found, ...watching }
}

test('[H11] [I3] the log of a fork reduces to the state of its source, from its creation', async () => {
  const { ann, steps } = await twelve()
  await fork(ann, copy, 't11')
  await read(ann, copy)
  await turnsIn(ann, copy, ['more'])
  const births = steps.flatMap(({ created }) => created).filter(({ channel }) => channel === copy)
  const stored = steps.flatMap(({ envelopes }) => envelopes).filter(({ channel }) => channel === copy)
  expect(births.map(({ state }) => (JSON.parse(state) as ChatState).turns)).toEqual([[]])
  const created = JSON.parse(births[0]?.state ?? '') as ChatState
  const folded = stored.reduce<unknown>(
    (state, { action }) => reduce(state, JSON.parse(action) as Action),
    created,
  )
  expect(folded).toEqual(chatOf(ann, copy))
  expect((folded as ChatState).turns.slice(0, 11)).toEqual(chatOf(ann).turns.slice(0, 11))
})

test('[H11] [H11.4] no step of a copy is larger than a page', async () => {
  const { ann, steps } = await twelve()
  const before = steps.length
  await fork(ann, copy, 't12')
  const sizes = steps.slice(before).map((step) => {
    const texts = [...step.rows.map(({ text = '' }) => text), ...step.envelopes.map(({ action }) => action)]
    return texts.reduce((sum, text) => sum + text.length, 0)
  })
  expect(sizes.filter((size) => size > 0).length).toBeGreaterThan(6)
  expect(Math.max(...sizes)).toBeLessThan(limits.turnsPageLength + 100)
})

test('[H11] a fork of a chat with only its newest turns in memory has all of them', async () => {
  const { all, ann } = await oneClientSession(severalChats())
  const ids = Array.from({ length: 120 }, (_, i) => `t${i}`)
  await turnsIn(ann, chat, ids)
  await all.restart()
  const ben = await all.join('ben')
  await fork(ben, copy, 't100')
  expect(all.core().log.channel(chat)?.olderRows).toBe(70)
  expect(all.core().log.channel(copy)?.olderRows).toBe(51)
  expect(idsOf(await read(ben, copy))).toEqual(ids.slice(0, 101))
  await all.restart()
  const eve = await all.join('eve')
  const state = await read(eve, copy)
  expect(state.turns).toEqual((await read(eve, chat)).turns.slice(0, 101))
  await eve.echo(eve.dispatch(copy, { type: 'chat/truncated', turnId: 't3' }))
  await turnsIn(eve, copy, ['other'])
  expect(idsOf(chatOf(eve, copy))).toEqual(['t0', 't1', 't2', 't3', 'other'])
  expect(idsOf(chatOf(eve))).toEqual(ids)
})

test('[H11] [L8] the rows of a fork are a cache: all of them are in its log', async () => {
  const { all, ann } = await twelve()
  await fork(ann, copy, 't12')
  const { log } = all.store()
  const loaded = await log.load(copy)
  expect(loaded).toMatchObject({ rowIds: many, fromCreation: false, envelopes: [] })
  const { envelopes } = await log.read([copy], 0, Number.MAX_SAFE_INTEGER)
  const pages = envelopes.map(({ action }) => JSON.parse(action) as { turns: readonly { id: string }[] })
  expect(pages.toReversed().flatMap(({ turns }) => turns.map(({ id }) => id))).toEqual(many)
})

describe('[H11] [H11.4] an unfinished fork is not found', () => {
  test('by another client, and its URI is not free', async () => {
    const { all, ann, at, held, flush } = await twelve()
    const ben = await all.join('ben')
    at.holding = true
    const made = fork(ann, copy, 't12')
    for (let i = 0; i < 6; i++) {
      await until(() => held.length > 0)
      flush()
      await expect(ben.ask('subscribe', { channel: copy })).rejects.toMatchObject({ code: -32008 })
    }
    const asked = ben.ask('createChat', { channel: session, chat: copy })
    await expect(asked).rejects.toMatchObject({ code: -32010 })
    expect(sessionOf(ann).chats).toHaveLength(1)
    at.holding = false
    flush()
    await made
    expect(idsOf(await read(ben, copy))).toEqual(many)
  })

  test.each(Array.from({ length: 24 }, (_, i) => i))(
    'and where the host dies before that, after %i flushes, it never was, and can be made again',
    async (count) => {
      const { all, ann, at, held, flush } = await twelve()
      at.holding = true
      let done = false
      const gone = () => {}
      void fork(ann, copy, 't12').then(() => (done = true), gone)
      for (let i = 0; i < count && !done; i++) {
        await until(() => held.length > 0 || done)
        flush()
        await untilIdle()
      }
      at.holding = false
      await all.restart()
      const ben = await all.join('ben', { subscribe: [session] })
      const there = sessionOf(ben).chats.some(({ resource }) => resource === copy)
      expect(there || !done).toBe(true)
      if (!there) {
        await expect(ben.ask('subscribe', { channel: copy })).rejects.toMatchObject({ code: -32008 })
        expect(await all.store().log.load(copy)).toBeUndefined()
        await fork(ben, copy, 't12')
      }
      expect(await all.core().records.list('copy/')).toEqual([])
      expect(idsOf(await read(ben, copy))).toEqual(many)
      expect(all.world.reports.filter(({ event }) => event === 'damaged channel')).toEqual([])
    },
  )

  test('after a restart as a read-only host', async () => {
    const { all, ann, at, held, flush } = await twelve()
    at.holding = true
    fork(ann, copy, 't12').catch(() => {})
    for (let i = 0; i < 4; i++) {
      await until(() => held.length > 0)
      flush()
    }
    await untilIdle()
    at.holding = false
    await all.restart('crash', 'read only')
    expect(await all.store().log.load(copy)).toBeDefined()
    const ben = await all.join('ben')
    await expect(ben.ask('subscribe', { channel: copy })).rejects.toMatchObject({ code: -32008 })
  })
})

describe('[H11] [H11.4] while a fork is copied', () => {
  async function halfway() {
    const found = await twelve()
    found.at.holding = true
    const made = fork(found.ann, copy, 't12').then(
      () => 'made',
      ({ message }: Error) => message,
    )
    await until(() => found.held.length > 0)
    const eve = await found.all.join('eve')
    const release = () => {
      found.at.holding = false
      found.flush()
    }
    return { ...found, made, eve, release }
  }

  test.each([
    ['cut', { type: 'chat/truncated', turnId: 't3' }],
    ['emptied', { type: 'chat/truncated' }],
  ])('its source is %s: the fork is refused, and its URI is free again', async (_, action) => {
    const { all, eve, made, release } = await halfway()
    eve.dispatch(chat, action)
    await untilIdle()
    release()
    expect(await made).toMatch(/changed meanwhile/)
    await until(() => !all.core().log.staged.has(copy))
    await eve.ask('createChat', { channel: session, chat: copy })
    expect((await read(eve, copy)).turns).toEqual([])
  })

  test('its session is disposed of: neither exists', async () => {
    const { all, eve, made, release } = await halfway()
    const gone = eve.ask('disposeSession', { channel: session })
    await untilIdle()
    release()
    await gone
    expect(await made).toMatch(/changed meanwhile|no session/)
    await untilIdle()
    expect(await all.store().log.load(copy)).toBeUndefined()
    expect(await all.core().records.list('copy/')).toEqual([])
  })

  test('a turn starts and ends in its source: the fork does not have it', async () => {
    const { ann, eve, made, release } = await halfway()
    eve.dispatch(chat, started('late'))
    await untilIdle()
    release()
    expect(await made).toBe('made')
    expect(idsOf(await read(ann, copy))).toEqual(many)
    await ann.until(() => chatOf(ann).turns.length === 13)
  })

  test('its source stays awake', async () => {
    const { all, ann, at, held, flush } = await twelve()
    for (const channel of [chat, session]) ann.peer.notify('unsubscribe', { channel })
    await ann.ask('listSessions', {})
    at.holding = true
    const made = fork(ann, copy, 't12')
    await until(() => held.length > 0)
    for (let i = 0; i < 3; i++) {
      all.world.advance(61_000)
      await untilIdle()
    }
    expect(all.core().log.channel(chat)).toBeDefined()
    at.holding = false
    flush()
    await made
    await until(() => {
      all.world.advance(61_000)
      return all.core().log.channel(chat) === undefined
    })
  })
})
