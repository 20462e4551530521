import type { Action } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { LazyChat, lazyChat, turn } from '../../test/lazy-chat.ts'
import { Channel, kindOf } from '../kernel/log/channel.ts'
import type { Core } from '../kernel/core.ts'
import { ChatIndex } from '../catalog/chat-index.ts'
import { needsRows, snapshotText } from './snapshot.ts'
import type { View } from '../kernel/link.ts'
import { loadRowsFor, wake } from './wake.ts'

const turns = ['a', 'b', 'c'].map((id) => ({ id }))
const core = {
  log: { committedSeq: 7 },
  limits,
  parts: { get: () => ({ chatIndex: new ChatIndex(), sessionOf: () => undefined }) },
} as unknown as Core

function chatOf(part: object): Channel<'chat'> {
  // Snapshots use only the turns.
  const state = part as ChatState
  const channel = new Channel<'chat'>('ahp-chat:/1', kindOf('chat'), state)
  channel.commit(state, 0)
  return channel
}

function shown(of: Core, channel: Channel, view?: View) {
  const { resource, state, fromSeq } = JSON.parse(snapshotText(of, channel, view)) as {
    resource: string
    state: ChatState
    fromSeq: number
  }
  return { resource, fromSeq, state, ids: state.turns.map(({ id }) => id), cursor: state.turnsNextCursor }
}

test.each([
  [undefined, ['a', 'b', 'c'], undefined],
  [5, ['a', 'b', 'c'], undefined],
  [3, ['a', 'b', 'c'], undefined],
  [2, ['b', 'c'], 'before:b'],
  [0, [], 'newest'],
])('[L9] [L9.4] a view of %s turns shows %j, and a cursor where there are more', (wanted, ids, cursor) => {
  const view = wanted === undefined ? {} : { turns: wanted }
  expect(shown(core, chatOf({ turns }), view)).toMatchObject({
    resource: 'ahp-chat:/1',
    fromSeq: 7,
    ids,
    cursor,
  })
  expect(shown(core, chatOf({ turns: [] }), view)).toMatchObject({ ids: [], state: { turns: [] } })
  expect(shown(core, chatOf({ turns: [], title: 'x' }), view).state).toEqual({ turns: [], title: 'x' })
})

/** Returns turns that have this total length as JSON. */
function turnsOf(length: number): readonly object[] {
  const plain = { id: 'a', text: '' }
  const lengths = Array.from({ length: 16 }, () => Math.floor(length / 16))
  lengths[0] = length - 15 * Math.floor(length / 16)
  return lengths.map((wanted, i) => {
    const id = String.fromCharCode(97 + i)
    return { id, text: 'x'.repeat(wanted - JSON.stringify(plain).length) }
  })
}

test('[S-57 turnsLength] at 16,777,216 characters a snapshot has all turns', () => {
  const { ids, cursor } = shown(core, chatOf({ turns: turnsOf(16_777_216) }))
  expect([ids.length, cursor]).toEqual([16, undefined])
})

test('[L9.4] [S-57 turnsLength] past 16,777,216 characters it has the newest, with a cursor', () => {
  const chat = chatOf({ turns: turnsOf(16_777_217) })
  for (const view of [{}, { turns: 16 }]) {
    const { ids, cursor } = shown(core, chat, view)
    expect([ids.length, ids[0], cursor]).toEqual([15, 'b', 'before:b'])
  }
})

test('[L9] a single turn above the limit is in the snapshot', () => {
  const { ids, cursor } = shown({ ...core, limits: { ...limits, turnsLength: 1 } }, chatOf({ turns }))
  expect([ids, cursor]).toEqual([['c'], 'before:c'])
})

test('[L9] turns that are not in memory are behind the cursor; once loaded, the text is rendered again', async () => {
  const chat = await lazyChat()
  const { channel } = chat
  const of = chat.core()
  expect(shown(of, channel)).toMatchObject({ ids: ['t5', 't6'], cursor: 'before:t5' })
  expect(needsRows(of, channel)).toBe(true)
  await chat.until(loadRowsFor(of, channel))
  expect(needsRows(of, channel)).toBe(false)
  expect(shown(of, channel).state).toEqual(chat.head)
})

test('[L9] a view loads as many turns as it shows', async () => {
  const chat = await lazyChat()
  const of = chat.core()
  expect([1, 2, 3].map((n) => needsRows(of, chat.channel, { turns: n }))).toEqual([false, false, true])
  await chat.until(loadRowsFor(of, chat.channel, { turns: 4 }))
  expect(chat.channel.olderRows).toBe(3)
  expect(shown(of, chat.channel, { turns: 4 })).toMatchObject({
    ids: ['t3', 't4', 't5', 't6'],
    cursor: 'before:t3',
  })
  await chat.until(loadRowsFor(of, chat.channel, { turns: 9 }))
  expect(shown(of, chat.channel, { turns: 9 }).state).toEqual(chat.head)
})

test('[L9] turns that a snapshot could not hold are not loaded', async () => {
  const chat = await lazyChat((i) => 'x'.repeat(100 * i))
  const of = chat.core({ turnsLength: 900 })
  await chat.until(loadRowsFor(of, chat.channel))
  expect(chat.channel.olderRows).toBe(5)
  expect(shown(of, chat.channel)).toMatchObject({ ids: ['t6'], cursor: 'before:t6' })
})

test('[L9] until a removal of all turns is committed, the snapshot has a cursor; then it has none', async () => {
  const chat = await lazyChat()
  chat.holding = true
  chat.append([{ type: 'chat/truncated' }])
  const of = chat.core()
  expect(needsRows(of, chat.channel)).toBe(true)
  expect(shown(of, chat.channel)).toMatchObject({ ids: ['t5', 't6'], cursor: 'before:t5' })
  await chat.until(chat.log.settled())
  expect(shown(of, chat.channel)).toMatchObject({ ids: [], state: chat.head })
})

test('[L9] a chat whose only loaded turn is resumed has a cursor to the others, which stay', async () => {
  const chat = await new LazyChat({ tail: 1, headEvery: 1000 }).begin()
  chat.append([...turn('t0', 'a'), ...turn('t1', 'b'), ...turn('t2', 'c', 'fail')])
  await chat.sleepAndWake()
  chat.append([{ type: 'chat/turnResume', turnId: 't2' } as Action])
  await chat.until(chat.log.settled())
  expect(shown(chat.core(), chat.channel)).toMatchObject({ ids: [], cursor: 'newest' })
  await chat.until(loadRowsFor(chat.core(), chat.channel))
  expect(shown(chat.core(), chat.channel).state).toEqual(chat.head)
  expect(chat.head).toMatchObject({ turns: [{ id: 't0' }, { id: 't1' }], activeTurn: { id: 't2' } })
})

test('[L9] waking a chat for a view returns one that is awake, also if it fell asleep or was dropped meanwhile', async () => {
  const whole = async (meanwhile: (chat: LazyChat) => void) => {
    const chat = await lazyChat()
    const woken = wake(chat.core(), chat.channel.uri, {})
    await Promise.resolve()
    meanwhile(chat)
    return { chat, woken: await chat.until(woken) }
  }
  const slept = await whole((chat) => void chat.log.sleep(chat.channel))
  expect(slept.woken).toBe(slept.chat.log.channel(slept.chat.channel.uri))
  expect(slept.woken?.olderRows).toBe(0)
  const gone = await whole((chat) => void chat.log.drop(chat.channel))
  expect(gone.woken).toBeUndefined()
})
