import { changesOf } from '../../catalog/change-tracking.ts'
import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import {
  beginTurn,
  call,
  capturedSession,
  endTurn,
  recordOf,
} from '../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../test/captures/captured-session.ts'
import { changeset } from '../../../test/captures/changeset-client.ts'
import { session } from '../../../test/held-flushes.ts'
import { moveToSession } from '../../../test/moves.ts'
import { until } from '../../../test/scripted-agent.ts'
import { fork } from '../../../test/several-chats.ts'
import { chat } from '../../../test/two-client-session.ts'
import { beyondBudget } from './capture-budget.ts'
import type { CountedTurn } from './capture-budget.ts'

const counted = (
  turnId: string,
  order: number,
  bytes: number,
  more: Partial<CountedTurn> = {},
): CountedTurn => ({
  chat: 'ahp-chat:/a',
  session: 's:/1',
  turnId,
  order,
  bytes,
  captures: turnId,
  ...more,
})

const lost = (turns: readonly CountedTurn[], session: number, all: number) =>
  beyondBudget(turns, { session, all }).map(({ turnId }) => turnId)

const { sessionCaptureBytes, allCaptureBytes } = limits

test('[S-57 sessionCaptureBytes] at 1,073,741,824 bytes all turns of a session can be undone', () => {
  const turns = [counted('t1', 1, 1000), counted('t2', 2, sessionCaptureBytes - 1000)]
  expect(lost(turns, sessionCaptureBytes, allCaptureBytes)).toEqual([])
})

test('[S-57 sessionCaptureBytes] past 1,073,741,824 bytes the oldest turns of the session lose their captures', () => {
  const turns = [counted('t2', 2, 1), counted('t1', 1, 1), counted('t3', 3, sessionCaptureBytes - 1)]
  expect(lost(turns, sessionCaptureBytes, allCaptureBytes)).toEqual(['t1'])
})

const many = (bytes: number) =>
  Array.from({ length: 8 }, (_, n) => counted(`t${n}`, n + 1, 1_073_741_824, { session: `s:/${n}` })).with(
    7,
    counted('t7', 8, bytes, { session: 's:/7' }),
  )

test('[S-57 allCaptureBytes] at 8,589,934,592 bytes all turns can be undone', () => {
  expect(lost(many(1_073_741_824), sessionCaptureBytes, allCaptureBytes)).toEqual([])
})

test('[S-57 allCaptureBytes] past 8,589,934,592 bytes the turns of the session that was used least recently lose their captures', () => {
  expect(lost(many(1_073_741_825), 2 ** 40, allCaptureBytes)).toEqual(['t0'])
})

test('[O27] sessions that were used least recently come first, and in each the oldest turns', () => {
  const b = { session: 's:/b' }
  const turns = [counted('a1', 1, 10), counted('b1', 2, 10, b), counted('b2', 3, 10, b), counted('a2', 4, 10)]
  expect(lost(turns, 100, 30)).toEqual(['b1'])
  expect(lost(turns, 100, 15)).toEqual(['b1', 'b2', 'a1'])
  expect(lost(turns, 100, 0)).toEqual(['b1', 'b2', 'a1'])
  expect(lost(turns, 10, 100)).toEqual(['b1', 'a1'])
})

test('[O27] a turn and its copies in forks take the space of one', () => {
  const copy = { session: 's:/fork', captures: 'same' }
  const turns = [
    counted('t1', 1, 10, copy),
    counted('t1', 1, 10, { captures: 'same' }),
    counted('t2', 2, 10),
    counted('t3', 3, 10, { session: 's:/new' }),
  ]
  expect(lost(turns, 100, 30)).toEqual([])
  expect(lost(turns, 100, 25)).toEqual(['t1', 't1'])
})

/** A turn whose call writes a file. */
async function turn(all: CapturedSession, id: string, path: string, text: string): Promise<void> {
  const run = await beginTurn(all, id)
  await call(all, run, `call-${id}`, () => all.write(path, text))
  await endTurn(all, run)
}

const problemOf = async (all: CapturedSession, id: string, of = chat) =>
  (await recordOf(all, id, of))?.folders[0]?.problem

const untilLost = async (all: CapturedSession, id: string) => {
  while ((await problemOf(all, id)) === undefined) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** Three turns in a session that has space for two of them. */
async function threeTurns() {
  const all = await capturedSession({ limits: { sessionCaptureBytes: 2000 } })
  for (const id of ['t1', 't2', 't3']) await turn(all, id, `${id}.txt`, id.repeat(400))
  await untilLost(all, 't1')
  return all
}

test('[O27] [O27.3] a turn that has lost its captures says so in a sentence, and newer turns are undone as ever', async () => {
  const all = await threeTurns()
  const first = await changeset(all.ann, `${chat}/changeset/turn/t1`)
  expect(first).toMatchObject({
    status: 'error',
    error: { message: expect.stringMatching(/cannot be shown or undone\. .+ needed the space\.$/) },
  })
  expect(first.operations ?? []).toEqual([])
  expect(await problemOf(all, 't2')).toBeUndefined()
  for (const id of ['t2', 't3'])
    await all.ann.ask('invokeChangesetOperation', {
      channel: `${chat}/changeset/turn/${id}`,
      operationId: 'undo',
    })
  expect([all.text('t1.txt'), all.text('t2.txt'), all.text('t3.txt')]).toEqual([
    't1'.repeat(400),
    undefined,
    undefined,
  ])
})

test('[O27] the contents of captures that are lost are deleted soon after', async () => {
  const all = await threeTurns()
  const kept: ReadonlySet<string>[] = []
  all.captures.collect = async (ids) => void kept.push(ids)
  all.world.advance(60_000)
  await until(() => kept.length > 0)
  const { end = '' } = (await recordOf(all, 't3'))?.folders[0] ?? {}
  expect(kept[0]?.has(end)).toBe(true)
})

test('[O27] [O27.1] a fork in another session keeps the captures that its turns need', async () => {
  const all = await capturedSession({ limits: { sessionCaptureBytes: 2000 } })
  await turn(all, 't1', 't1.txt', 't1'.repeat(400))
  const { start = '', end = '' } = (await recordOf(all, 't1'))?.folders[0] ?? {}
  await fork(all.ann, 'ahp-chat:/b', 't1')
  await all.ann.ask('createSession', { channel: 's:/2', workingDirectories: ['file:///a'] })
  await moveToSession(all.ann, 'ahp-chat:/b', 's:/2')
  for (const id of ['t2', 't3']) await turn(all, id, `${id}.txt`, id.repeat(400))
  await untilLost(all, 't1')
  expect(await problemOf(all, 't1', 'ahp-chat:/b')).toBeUndefined()
  await changesOf(all.core())?.collect()
  expect(await all.captures.compare(start, end)).toHaveLength(1)
})

test('[O27] [O27.1] captures stay while an operation runs, and are taken away after it', async () => {
  const all = await capturedSession({ limits: { sessionCaptureBytes: 2000 } })
  for (const id of ['t1', 't2']) await turn(all, id, `${id}.txt`, id.repeat(400))
  const { applyAll } = all.captures
  let go: (() => void) | undefined
  all.captures.applyAll = async (...given) => {
    await new Promise<void>((resolve) => (go = resolve))
    return applyAll.apply(all.captures, given)
  }
  const channel = `${chat}/changeset/turn/t1`
  const undone = all.ann.ask('invokeChangesetOperation', { channel, operationId: 'undo' })
  await until(() => go !== undefined)
  await turn(all, 't3', 't3.txt', 't3'.repeat(400))
  await all.core().log.settled()
  expect(await problemOf(all, 't1')).toBeUndefined()
  go?.()
  expect((await undone).message).toContain('1 file was set back')
  await untilLost(all, 't1')
  expect(all.text('t1.txt')).toBeUndefined()
})

test('[O22] the contents of a session are deleted soon after it was disposed of', async () => {
  const all = await capturedSession()
  await turn(all, 't1', 'a.txt', 'a')
  const { start = '', end = '' } = (await recordOf(all, 't1'))?.folders[0] ?? {}
  await all.ann.ask('disposeSession', { channel: session })
  while ((await all.core().records.list('capture/')).length > 0)
    await new Promise<void>((resolve) => setImmediate(resolve))
  let isGone = false
  while (!isGone) {
    all.world.advance(60_000)
    await new Promise<void>((resolve) => setImmediate(resolve))
    isGone = await all.captures.compare(start, end).then(
      () => false,
      () => true,
    )
  }
  expect(isGone).toBe(true)
})
