import type { Action } from '@atrium/protocol/channel'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lazyChat, stepOver, turn } from '../../test/lazy-chat.ts'
import type { LazyChat } from '../../test/lazy-chat.ts'
import { turnsBefore, withTurnsBefore } from './history.ts'
import type { Page } from './history.ts'

const truncated = (turnId?: string) =>
  ({ type: 'chat/truncated', ...(turnId !== undefined && { turnId }) }) as Action

const page = (chat: LazyChat, cursor?: string, limit?: number, longest = 1_048_576) =>
  chat.until(turnsBefore(chat.core({ turnsPageLength: longest }), chat.channel, { cursor, limit }))

const ids = ({ turns }: Page) => turns.map(({ id }) => id)

test('[L9] [L9.5] pages lead from the newest turn to the oldest, and none of them stays in memory', async () => {
  const chat = await lazyChat()
  const first = await page(chat, undefined, 3)
  expect([ids(first), first.turnsNextCursor]).toEqual([['t4', 't5', 't6'], 'before:t4'])
  const second = await page(chat, first.turnsNextCursor, 3)
  expect([ids(second), second.turnsNextCursor]).toEqual([['t1', 't2', 't3'], 'before:t1'])
  const third = await page(chat, second.turnsNextCursor, 3)
  expect(third).toEqual({ turns: chat.head.turns.slice(0, 1) })
  expect([...third.turns, ...second.turns, ...first.turns]).toEqual(chat.head.turns)
  expect(chat.channel.olderRows).toBe(5)
  expect(await page(chat, 'newest')).toEqual({ turns: chat.head.turns })
  expect(await page(chat, 'before:t0')).toEqual({ turns: [] })
})

test('[L9] whatever the page size, the pages contain all turns, each once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(400), { minLength: 7, maxLength: 7 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 2000 }),
      fc.nat(7),
      async (sizes, limit, longest, completed) => {
        const chat = await lazyChat((i) => 'x'.repeat(sizes[i] ?? 0))
        if (completed < 7) await chat.until(chat.log.loadRows(chat.channel, `t${completed}`))
        const found: Page[] = []
        for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
          const one = await page(chat, cursor, limit, longest)
          found.unshift(one)
          cursor = one.turnsNextCursor
        }
        expect(found.flatMap(({ turns }) => turns)).toEqual(chat.head.turns)
        for (const { turns } of found) {
          expect(turns.length).toBeGreaterThan(0)
          expect(turns.length).toBeLessThanOrEqual(limit)
          const length = turns.reduce((sum, one) => sum + JSON.stringify(one).length, 0)
          expect(turns.length === 1 || length <= longest).toBe(true)
        }
      },
    ),
    { numRuns: 60 },
  )
})

/** Returns the newest page of a chat whose newest two turns have this total length, as JSON. */
async function newestTwo(length: number): Promise<Page> {
  const plain = await lazyChat(() => '')
  const bare = plain.head.turns.slice(-2).reduce((sum, one) => sum + JSON.stringify(one).length, 0)
  const chat = await lazyChat((i) => (i === 5 ? 'x'.repeat(length - bare) : ''))
  return page(chat, undefined, 2)
}

test('[S-57 turnsPageLength] at 1,048,576 characters a page is complete', async () => {
  expect(ids(await newestTwo(1_048_576))).toEqual(['t5', 't6'])
})

test('[S-57 turnsPageLength] past 1,048,576 characters the page ends with a cursor', async () => {
  const found = await newestTwo(1_048_577)
  expect([ids(found), found.turnsNextCursor]).toEqual([['t6'], 'before:t6'])
})

test('[L9] [L9.6] an unknown cursor, and one whose turn was removed, are refused', async () => {
  const chat = await lazyChat()
  for (const cursor of ['', 't5', 'before:', 'before:t9', 'before:constructor'])
    await expect(page(chat, cursor)).rejects.toMatchObject({ code: -32602 })
  chat.append([truncated('t5')])
  await chat.until(chat.log.settled())
  await expect(page(chat, 'before:t6')).rejects.toMatchObject({ code: -32602 })
  expect(ids(await page(chat, 'before:t5', 2))).toEqual(['t3', 't4'])
})

test('[L9] a turn that is resumed is still a position in the list', async () => {
  const chat = await lazyChat()
  chat.append([...turn('t7', 'x', 'fail'), { type: 'chat/turnResume', turnId: 't7' } as Action])
  await chat.until(chat.log.settled())
  expect(ids(await page(chat, 'before:t7', 2))).toEqual(['t5', 't6'])
})

test('[L9] a page has no uncommitted turns, and none that are being removed', async () => {
  const chat = await lazyChat()
  chat.holding = true
  chat.append(turn('t7', 'x'))
  const core = chat.core()
  expect(ids(await turnsBefore(core, chat.channel, { limit: 2 }))).toEqual(['t5', 't6'])
  chat.append([truncated('t5')])
  expect(ids(await turnsBefore(core, chat.channel, { limit: 1 }))).toEqual(['t5'])
  expect(ids(await turnsBefore(core, chat.channel, { cursor: 'before:t6', limit: 1 }))).toEqual(['t5'])
  chat.append([truncated()])
  expect(await turnsBefore(core, chat.channel, { cursor: 'before:t6', limit: 1 })).toEqual({ turns: [] })
})

test('[L9] changes while the disk is read are in the page', async () => {
  const asked = async (meanwhile: (chat: LazyChat) => unknown) => {
    const chat = await lazyChat()
    const found = withTurnsBefore(chat.core(), chat.channel, { limit: 4 }, (one) => [
      ...ids(one),
      chat.log.committedSeq,
    ])
    await stepOver()
    meanwhile(chat)
    await chat.log.settled()
    return { found: await chat.until(found), chat }
  }
  const cut = await asked((chat) => chat.append([truncated('t5')]))
  expect(cut.found.slice(0, -1)).toEqual(['t2', 't3', 't4', 't5'])
  const emptied = await asked((chat) => chat.append([truncated()]))
  expect(emptied.found).toHaveLength(1)
  const completed = await asked((chat) => chat.log.loadRows(chat.channel))
  expect(completed.found.slice(0, -1)).toEqual(['t3', 't4', 't5', 't6'])
  await expect(asked((chat) => chat.log.drop(chat.channel))).rejects.toMatchObject({ code: -32008 })
})

test('[L8] F-04: a missing turn is reported, and only where it is needed', async () => {
  const chat = await lazyChat()
  chat.store.rows = async () => ({ rows: [], more: false })
  chat.store.load = async () => ({ damaged: 'number 7 has a wrong checksum' })
  expect(ids(await page(chat, undefined, 2))).toEqual(['t5', 't6'])
  await expect(page(chat, undefined, 3)).rejects.toMatchObject({ code: -32603 })
  expect(chat.world.reports.at(-1)).toMatchObject({ event: 'damaged channel' })
})
