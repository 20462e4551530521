import { expect, test } from 'vitest'
import {
  beginTurn,
  call,
  capturedSession,
  endTurn,
  recordOf,
} from '../../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../../test/captures/captured-session.ts'
import { fork } from '../../../../test/several-chats.ts'
import { accepted, chat } from '../../../../test/two-client-session.ts'

/** A session that has space for the captures of two turns. */
const withRoomForTwo = () => capturedSession({ limits: { sessionCaptureBytes: 2000 } })

async function turn(all: CapturedSession, id: string): Promise<void> {
  const run = await beginTurn(all, id)
  await call(all, run, `${id}-call`, () => all.write(`${id}.txt`, id.repeat(400)))
  await endTurn(all, run)
}

/** Restarts the host, and connects Ann again. */
async function restarted(all: CapturedSession): Promise<CapturedSession> {
  await all.restart('crash')
  const ann = await all.join('ann')
  await ann.ask('subscribe', { channel: chat })
  return { ...all, ann }
}

/** The sums of the chats that have one. */
async function sums({ core }: CapturedSession): Promise<readonly unknown[]> {
  const stored = await core().records.list('capture-sum/')
  return stored.flatMap(([key, text]) => (key === 'capture-sum/' ? [] : [JSON.parse(text) as unknown]))
}

/** The number of times that the records of all turns are read from now on. */
function readsIn({ core }: CapturedSession): () => number {
  const { records } = core()
  const list = records.list.bind(records)
  let count = 0
  records.list = (prefix) => {
    if (prefix === 'capture/') count++
    return list(prefix)
  }
  return () => count
}

async function untilLost(all: CapturedSession, id: string): Promise<void> {
  while ((await recordOf(all, id))?.folders[0]?.problem === undefined)
    await new Promise<void>((resolve) => setImmediate(resolve))
}

test('[O27] after a restart the records of all turns are not read while the sums are within the budget', async () => {
  const all = await withRoomForTwo()
  await turn(all, 't1')
  const again = await restarted(all)
  const reads = readsIn(again)
  await turn(again, 't2')
  expect(await sums(again)).toEqual([{ bytes: 1600, order: 2 }])
  expect(reads()).toBe(0)
})

test('[O27] after a restart the turns of earlier runs count, and the oldest one loses its captures', async () => {
  const all = await withRoomForTwo()
  for (const id of ['t1', 't2']) await turn(all, id)
  const again = await restarted(all)
  await turn(again, 't3')
  await untilLost(again, 't1')
  expect(await sums(again)).toEqual([{ bytes: 1600, order: 3 }])
  expect((await recordOf(again, 't2'))?.folders[0]?.problem).toBeUndefined()
})

test('[O27] a store of an earlier version, which has no sums, gets them', async () => {
  const all = await withRoomForTwo()
  for (const id of ['t1', 't2']) await turn(all, id)
  const { records, log } = all.core()
  for (const [key] of await records.list('capture-sum/')) records.delete(key)
  log.scheduleFlush()
  await log.settled()
  const again = await restarted(all)
  await turn(again, 't3')
  await untilLost(again, 't1')
  expect(await sums(again)).toEqual([{ bytes: 1600, order: 3 }])
})

test('[O27] a fork counts its copies; a truncation counts no more, and a disposed chat has no sum', async () => {
  const all = await withRoomForTwo()
  for (const id of ['t1', 't2']) await turn(all, id)
  await fork(all.ann, 'ahp-chat:/b', 't1')
  expect(await sums(all)).toEqual([
    { bytes: 1600, order: 2 },
    { bytes: 800, order: 1 },
  ])
  await all.ann.ask('disposeChat', { channel: 'ahp-chat:/b' })
  await accepted(all.ann, chat, { type: 'chat/truncated', turnId: 't1' })
  const wanted = JSON.stringify([{ bytes: 800, order: 2 }])
  while (JSON.stringify(await sums(all)) !== wanted)
    await new Promise<void>((resolve) => setImmediate(resolve))
  expect(JSON.stringify(await sums(all))).toBe(wanted)
})
