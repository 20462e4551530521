import { changesOf } from '../../catalog/change-tracking.ts'
import { MemoryCaptures, MemoryFolders } from '@atrium/adapters/captures/memory'
import { limits } from '@atrium/protocol/limits'
import { testWorld } from '../../../test/world.ts'
import { CapturedTurn } from './captured-turn.ts'
import { Taking } from './taking.ts'
import { expect, test } from 'vitest'
import {
  beginTurn,
  capturedSession,
  endTurn,
  endedRecord,
  recordOf,
} from '../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../test/captures/captured-session.ts'
import { until } from '../../../test/scripted-agent.ts'
import { TurnFailed } from '../../ports/agent.ts'
import { session } from '../../../test/held-flushes.ts'
import { accepted, chat, resume, started } from '../../../test/two-client-session.ts'

/** A session with one turn, so that the last capture of its folder is known. */
async function withTurn(): Promise<CapturedSession> {
  const all = await capturedSession()
  all.write('one.txt', 'one\n')
  await endTurn(all, await beginTurn(all, 't1'))
  return all
}

/** The records of turns that the host stores from now on, by key. */
function storedIn({ core }: CapturedSession): readonly string[] {
  const { records } = core()
  const put = records.put.bind(records)
  const keys: string[] = []
  records.put = (key, text) => {
    if (key.startsWith('capture/')) keys.push(key)
    put(key, text)
  }
  return keys
}

/** Lets captures wait until they are released. */
function held({ captures }: CapturedSession) {
  const take = captures.take.bind(captures)
  const waiting: (() => void)[] = []
  captures.take = async (...given) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return take(...given)
  }
  return {
    waiting,
    release: () => {
      captures.take = take
      for (const resolve of waiting) resolve()
    },
  }
}

test('[O30.3] [O30] a turn in an unchanged folder has its record in the step that starts it, and stores no other', async () => {
  const all = await withTurn()
  const { end } = (await endedRecord(all, 't1'))?.folders[0] ?? {}
  const stored = storedIn(all)
  const captures = held(all)
  await accepted(all.ann, chat, started('t2'))
  expect(await recordOf(all, 't2')).toEqual({
    folders: [{ directory: '/a', start: end, last: end, uncertain: [] }],
  })
  await until(() => captures.waiting.length > 0)
  expect(all.agent.runs).toHaveLength(1)
  captures.release()
  await all.agent.given(1)
  expect(stored).toHaveLength(1)
})

test('[O30.3] [O30] the start capture begins before the step that starts the turn is handed to the store', async () => {
  const all = await withTurn()
  const order: string[] = []
  const { captures } = all
  const { log } = all.store()
  const [take, append] = [captures.take.bind(captures), log.append.bind(log)]
  captures.take = (...given) => {
    order.push('capture')
    return take(...given)
  }
  log.append = (step) => {
    order.push('step')
    append(step)
  }
  await beginTurn(all, 't2')
  expect(order.slice(0, 2)).toEqual(['capture', 'step'])
})

test('[O30.3] [O30] a file that changed between two turns is no change of the second one, and the agent waits for its record', async () => {
  const all = await withTurn()
  all.write('two.txt', 'by a person\n')
  const stored = storedIn(all)
  const run = await beginTurn(all, 't2')
  expect(stored).toHaveLength(2)
  await endTurn(all, run)
  const [folder] = (await endedRecord(all, 't2'))?.folders ?? []
  expect(folder?.start).toBe(folder?.end)
  expect(folder).not.toHaveProperty('shared')
})

test('[O30.3] [O30] a file that changed before a crash came during the start capture counts as changed by others', async () => {
  const all = await withTurn()
  all.write('two.txt', 'by a person\n')
  const captures = held(all)
  await accepted(all.ann, chat, started('t2'))
  await until(() => captures.waiting.length > 0)
  // The capture of the killed host is never taken.
  captures.waiting.length = 0
  captures.release()
  await all.restart('crash')
  expect(await endedRecord(all, 't2')).toMatchObject({ late: true, folders: [{ shared: ['two.txt'] }] })
  expect(all.agent.runs).toHaveLength(1)
  expect(all.text('two.txt')).toBe('by a person\n')
})

test('[O30] no capture is expected that may have been deleted', async () => {
  const all = await withTurn()
  await changesOf(all.core())?.collect()
  const captures = held(all)
  await accepted(all.ann, chat, started('t2'))
  expect(await recordOf(all, 't2')).toBeUndefined()
  captures.release()
  await all.agent.given(1)
  expect(await recordOf(all, 't2')).toMatchObject({ folders: [{ directory: '/a' }] })
})

test('[O30.1] [O30] the agent is not started for a turn that was cancelled during its start capture', async () => {
  const all = await withTurn()
  const captures = held(all)
  await accepted(all.ann, chat, started('t2'))
  await until(() => captures.waiting.length > 0)
  await accepted(all.ann, chat, { type: 'chat/turnCancelled', turnId: 't2', duration: 1 })
  captures.release()
  await changesOf(all.core())?.settled()
  await endTurn(all, await beginTurn(all, 't3'))
  // The agent had the turns t1 and t3.
  expect(all.agent.runs).toHaveLength(2)
})

const cancelled = (turnId: string) => ({ type: 'chat/turnCancelled', turnId, duration: 1 })

test('[O32.4] [O32] a turn that is resumed during its late end capture, and cancelled before its agent begins, keeps its captures', async () => {
  const all = await withTurn()
  await beginTurn(all, 't2')
  const captures = held(all)
  await all.restart('crash')
  await until(() => captures.waiting.length > 0)
  const ann = await all.join('ann')
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  await accepted(ann, chat, resume('t2'))
  await accepted(ann, chat, cancelled('t2'))
  captures.release()
  const record = await endedRecord(all, 't2')
  await endTurn({ ...all, ann }, await beginTurn({ ...all, ann }, 't3'))
  expect(record).toMatchObject({ late: true, folders: [{ end: expect.any(String) }] })
  expect(await recordOf(all, 't2')).toMatchObject({ folders: record?.folders ?? [] })
  expect(all.agent.runs).toHaveLength(3)
})

test('[O32.4] [O32] a turn that is resumed, and cancelled before its agent begins, has no late end capture', async () => {
  const all = await withTurn()
  const run = await beginTurn(all, 't2')
  run.fail(new TurnFailed('busy', 'Try again.', true))
  await until(() => all.core().log.channel(chat, 'chat')?.committed?.activeTurn === undefined)
  const { order, ...before } = (await endedRecord(all, 't2')) ?? {}
  const captures = held(all)
  await accepted(all.ann, chat, resume('t2'))
  await accepted(all.ann, chat, cancelled('t2'))
  all.write('later.txt', 'by a person')
  captures.release()
  expect(order).toBeDefined()
  expect(await endedRecord(all, 't2')).toEqual({ ...before, order: expect.any(Number) })
  expect(all.agent.runs).toHaveLength(2)
})

test('[O34] a turn that is truncated during its end capture keeps no record', async () => {
  const all = await withTurn()
  const run = await beginTurn(all, 't2')
  all.write('two.txt', 'two\n')
  const captures = held(all)
  run.end()
  await until(() => captures.waiting.length > 0)
  await accepted(all.ann, chat, { type: 'chat/truncated', turnId: 't1' })
  captures.release()
  await changesOf(all.core())?.settled()
  expect(await recordOf(all, 't2')).toBeUndefined()
  expect(await recordOf(all, 't1')).toBeDefined()
})

const bytes = new TextEncoder().encode('text')

/** A turn whose call has changed the file `own`, and whose files are about to be read, because the call ends. */
async function endingCall() {
  const disk = new MemoryFolders()
  const files = new Map()
  disk.folders.set('/work', files)
  let isHeld = false
  let release = () => {}
  const pause = () => (isHeld ? new Promise<void>((resolve) => (release = resolve)) : Promise.resolve())
  const taking = new Taking(new MemoryCaptures(disk, pause), { world: testWorld(), limits })
  const turn = new CapturedTurn('t', ['/work'], taking, () => {})
  await turn.begin(undefined)
  await turn.callsRun([{ id: 'c', label: 'Write' }])
  turn.writesOnly('c', ['file:///work/own'])
  const write = (path: string) => files.set(path, { bytes, mode: '100644' })
  write('own')
  isHeld = true
  const looked = turn.callsRun([])
  // The capture has begun, and waits.
  await new Promise(setImmediate)
  isHeld = false
  return { turn, write, looked, release: () => release() }
}

test('[O33] a file that a terminal changes while the files are read is shared', async () => {
  const { turn, write, looked, release } = await endingCall()
  write('typed')
  turn.disturbed()
  release()
  await looked
  expect(turn.record.folders[0]?.shared).toEqual(['own', 'typed'])
})

test('[O33] the files that a call has changed are its own if nobody else is active', async () => {
  const { turn, looked, release } = await endingCall()
  release()
  await looked
  expect(turn.record.folders[0]?.shared).toBeUndefined()
})

test('[O33.1] [O33] calls that begin or end while a capture waits for another one share it', async () => {
  const waiting: (() => void)[] = []
  const disk = new MemoryFolders()
  disk.folders.set('/work', new Map())
  const pause = () => new Promise<void>((resolve) => waiting.push(resolve))
  const taking = new Taking(new MemoryCaptures(disk, pause), { world: testWorld(), limits })
  const turn = new CapturedTurn('t', ['/work'], taking, () => {})
  let taken = 0
  const settled = async (looked: Promise<void>) => {
    const release = setInterval(() => waiting.splice(0).forEach((go) => (taken++, go())))
    await looked
    clearInterval(release)
    return taken
  }
  const calls = (...ids: readonly string[]) => turn.callsRun(ids.map((id) => ({ id, label: id })))
  expect(await settled(turn.begin(undefined))).toBe(1)
  const first = calls('a')
  // Its capture has begun, and the next one waits for it.
  await new Promise(setImmediate)
  const both = [calls('a', 'b'), calls('a', 'b', 'c')]
  expect(await settled(Promise.all([first, ...both]).then(() => {}))).toBe(3)
  const ends = [calls('b', 'c'), calls('c'), calls()]
  expect(await settled(Promise.all(ends).then(() => {}))).toBe(4)
})
