import { changesOf } from '../../catalog/change-tracking.ts'
import { expect, test } from 'vitest'
import { CaptureRefused } from '../../ports/captures.ts'
import {
  beginTurn,
  call,
  capturedSession,
  endTurn,
  endedRecord,
  recordOf,
  recordText,
} from '../../../test/captures/captured-session.ts'
import type { CapturedSession } from '../../../test/captures/captured-session.ts'
import { until } from '../../../test/scripted-agent.ts'
import { fork } from '../../../test/several-chats.ts'
import { moveToSession } from '../../../test/moves.ts'
import {
  accepted,
  chat,
  chatOf,
  resume,
  started,
  truncated,
  turn,
  twoClientSession,
} from '../../../test/two-client-session.ts'
import { session, untilIdle } from '../../../test/held-flushes.ts'

const folderOf = async (all: Parameters<typeof endedRecord>[0], turnId: string, of = chat) =>
  (await endedRecord(all, turnId, of))?.folders[0]

test('[O30] a turn has a capture of its folder before its agent begins, and one after its end', async () => {
  const all = await capturedSession()
  all.write('old.txt', 'one\n')
  const run = await beginTurn(all, 't1')
  const { start, end } = (await recordOf(all, 't1'))?.folders[0] ?? {}
  expect(start).toBeDefined()
  expect(end).toBeUndefined()
  await call(all, run, 'c1', () => all.write('new.txt', 'two\n'))
  await endTurn(all, run)
  const folder = await folderOf(all, 't1')
  expect(folder).toMatchObject({ directory: '/a', start })
  const changes = await all.captures.compare(folder?.start ?? '', folder?.end ?? '')
  expect(changes.map(({ path }) => path)).toEqual(['new.txt'])
})

test('[O30.1] [O30] the start of a turn is echoed at once; the agent waits for the capture', async () => {
  const all = await capturedSession()
  let release: (() => void) | undefined
  const take = all.captures.take.bind(all.captures)
  all.captures.take = async (...given) => {
    await new Promise<void>((resolve) => (release = resolve))
    return take(...given)
  }
  await accepted(all.ann, chat, started('t1'))
  expect(chatOf(all).activeTurn?.id).toBe('t1')
  await until(() => release !== undefined)
  expect(all.agent.runs).toHaveLength(0)
  release?.()
  await all.agent.given(0)
  expect(await recordOf(all, 't1')).toBeDefined()
})

test('[O30.2] [O30] the record of a turn has a checksum; a damaged record counts as missing, and nothing is deleted', async () => {
  const all = await capturedSession()
  await endTurn(all, await beginTurn(all, 't1'))
  const key = `capture/${encodeURIComponent(chat)}/t1`
  const text = (await recordText(all, 't1')) ?? ''
  all.core().records.put(key, text.replace('"directory":"/a"', '"directory":"/b"'))
  expect(await recordOf(all, 't1')).toBeUndefined()
  let collected = 0
  all.captures.collect = async () => void collected++
  await changesOf(all.core())?.collect()
  expect(collected).toBe(0)
  expect(all.world.reports.map(({ event }) => event)).toContain('damaged record of a turn')
})

test.each([
  ['fails', ({ captures }: CapturedSession) => void (captures.failing = 'No room.')],
  ['is refused', ({ captures }: CapturedSession) => captures.folders.clear()],
])('[O31.1] [O31] a turn whose capture %s goes on, and says that it cannot be undone', async (_, breaks) => {
  const all = await capturedSession()
  breaks(all)
  const run = await beginTurn(all, 't1')
  await endTurn(all, run)
  const [turn] = chatOf(all).turns
  expect(turn).toMatchObject({ state: 'complete' })
  expect(JSON.stringify(turn?.responseParts)).toContain('cannot be shown or undone')
  expect((await folderOf(all, 't1'))?.problem).toBeDefined()
})

test('[O31.2] [O31] a turn in a folder that is never captured does not mention it, and its record does', async () => {
  const all = await capturedSession()
  all.captures.take = () =>
    Promise.reject(new CaptureRefused('The files of the home folder are not recorded.'))
  await endTurn(all, await beginTurn(all, 't1'))
  expect(chatOf(all).turns).toMatchObject([{ state: 'complete', responseParts: [] }])
  expect(await folderOf(all, 't1')).toMatchObject({
    problem: 'The files of the home folder are not recorded.',
  })
})

test('[O31.1] [O31] an end capture that fails leaves the turn complete, and its record says why it cannot be undone', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  all.captures.failing = 'The disk is full.'
  await endTurn(all, run)
  expect(chatOf(all).turns).toMatchObject([{ state: 'complete', responseParts: [] }])
  expect(await folderOf(all, 't1')).toMatchObject({ problem: 'The disk is full.' })
})

test('[O31.3] what changed around a capture that failed during the turn is shared', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('before.txt', 'x'))
  all.captures.failing = 'No room.'
  await call(all, run, 'c2', () => {
    all.captures.failing = undefined
    all.write('around.txt', 'x')
  })
  await call(all, run, 'c3', () => all.write('after.txt', 'x'))
  await endTurn(all, run)
  expect(await folderOf(all, 't1')).toMatchObject({ shared: ['around.txt'] })
})

test('[O32] the end of a turn records that its end capture is owed, in the same step', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  const take = all.captures.take.bind(all.captures)
  let hanging = true
  all.captures.take = (...given) => (hanging ? new Promise(() => {}) : take(...given))
  run.end()
  await until(() => chatOf(all).activeTurn === undefined)
  all.write('later.txt', 'by a person\n')
  hanging = false
  await all.restart('crash')
  const record = await endedRecord(all, 't1')
  expect(record).toMatchObject({ late: true, folders: [{ directory: '/a', shared: ['later.txt'] }] })
  expect(record?.folders[0]?.end).toBeDefined()
  expect(await all.core().records.list('capture-owed/')).toEqual([])
})

test('[O32.2] [O32] a turn that a crash interrupted gets a late end capture; what changed since its last capture is shared', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => all.write('by-call.txt', 'x'))
  await all.core().log.settled()
  all.write('after.txt', 'y')
  await all.restart('crash')
  const record = await endedRecord(all, 't1')
  expect(record).toMatchObject({ late: true, folders: [{ shared: ['after.txt'] }] })
})

test('[O32.3] [O32] a resumed turn keeps its start; what changed before it went on is shared', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  const { start } = (await recordOf(all, 't1'))?.folders[0] ?? {}
  await call(all, run, 'c1', () => all.write('one.txt', 'x'))
  await all.core().log.settled()
  await all.restart('crash')
  await endedRecord(all, 't1')
  all.write('between.txt', 'a person')
  const ann = await all.join('ann')
  for (const channel of [session, chat]) await ann.ask('subscribe', { channel })
  await accepted(ann, chat, resume('t1'))
  await all.agent.given(1)
  const again = { ...all, ann }
  await endTurn(again, await all.agent.given(1))
  expect(await folderOf(all, 't1')).toMatchObject({ start, shared: ['between.txt'] })
})

test('[O33.1] [O33] a path is shared if it changed while none of the turn’s calls ran', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  all.write('before-call.txt', 'a person')
  await call(all, run, 'c1', () => all.write('call.txt', 'the call'))
  all.write('after-call.txt', 'a person')
  await endTurn(all, run)
  expect(await folderOf(all, 't1')).toMatchObject({ shared: ['after-call.txt', 'before-call.txt'] })
})

test('[O33] a path is shared if it changed while another turn was active in the folder', async () => {
  const all = await capturedSession()
  await all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/b' })
  const run = await beginTurn(all, 't1')
  await accepted(all.ann, 'ahp-chat:/b', started('u1'))
  await all.agent.given(1)
  await call(all, run, 'c1', () => all.write('call.txt', 'which of them?'))
  await endTurn(all, run)
  expect(await folderOf(all, 't1')).toMatchObject({ shared: ['call.txt'] })
})

test('[O33] a path is shared if it changed while a terminal was used in the folder', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  await call(all, run, 'c1', () => {
    changesOf(all.core())?.terminalUsed('/a/below', undefined)
    all.write('call.txt', 'which of them?')
  })
  await call(all, run, 'c2', () => {
    changesOf(all.core())?.terminalUsed('/elsewhere', undefined)
    changesOf(all.core())?.terminalUsed('/a', chat)
    all.write('own.txt', 'the call')
  })
  await endTurn(all, run)
  expect(await folderOf(all, 't1')).toMatchObject({ shared: ['call.txt'] })
})

test('[O34] a fork has the records of its turns; a truncation and a disposal drop those of theirs', async () => {
  const all = await capturedSession()
  for (const id of ['t1', 't2', 't3']) await endTurn(all, await beginTurn(all, id))
  await fork(all.ann, 'ahp-chat:/b', 't2')
  const copied = await recordOf(all, 't1', 'ahp-chat:/b')
  expect(copied).toEqual(await recordOf(all, 't1'))
  expect(await recordOf(all, 't3', 'ahp-chat:/b')).toBeUndefined()
  await accepted(all.ann, chat, truncated('t1'))
  const listed = async (of: string) => all.core().records.list(`capture/${encodeURIComponent(of)}/`)
  const keys = async (of: string) => (await listed(of)).map(([key]) => key.slice(key.lastIndexOf('/') + 1))
  await untilAsync(async () => (await keys(chat)).length === 1)
  expect(await keys(chat)).toEqual(['t1'])
  expect(await keys('ahp-chat:/b')).toEqual(['t1', 't2'])
  await all.ann.ask('disposeChat', { channel: 'ahp-chat:/b' })
  await untilAsync(async () => (await keys('ahp-chat:/b')).length === 0)
  await all.ann.ask('disposeSession', { channel: session })
  await untilAsync(async () => (await keys(chat)).length === 0)
  expect(await all.core().records.list('capture-sweep/')).toEqual([])
})

test('[O34] a fork of a turn whose end capture is being taken gets that capture, too', async () => {
  const all = await capturedSession()
  const run = await beginTurn(all, 't1')
  all.write('new.txt', 'new\n')
  const { take } = all.captures
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  all.captures.take = (...given) => held.then(() => take.apply(all.captures, given))
  run.end()
  await until(() => chatOf(all).activeTurn === undefined)
  const forked = fork(all.ann, 'ahp-chat:/b', 't1')
  await untilIdle()
  release()
  await forked
  const { end } = (await folderOf(all, 't1')) ?? {}
  expect(end).toBeDefined()
  expect((await recordOf(all, 't1', 'ahp-chat:/b'))?.folders[0]?.end).toBe(end)
})

test('[O34] a crash right after a truncation does not keep the records of the removed turns', async () => {
  const all = await capturedSession()
  for (const id of ['t1', 't2']) await endTurn(all, await beginTurn(all, id))
  const { list } = all.core().records
  all.core().records.list = () => new Promise(() => {})
  await accepted(all.ann, chat, truncated('t1'))
  all.core().records.list = list
  await all.restart('crash')
  await untilAsync(async () => (await recordText(all, 't2')) === undefined)
  expect(await recordText(all, 't1')).toBeDefined()
})

test('[O34] contents that no record names are deleted; those of the records stay', async () => {
  const all = await capturedSession()
  await endTurn(all, await beginTurn(all, 't1'))
  const kept: ReadonlySet<string>[] = []
  all.captures.collect = async (ids) => void kept.push(ids)
  await changesOf(all.core())?.collect()
  const { start, end } = (await folderOf(all, 't1')) ?? {}
  expect(kept).toEqual([new Set([start, end])])
})

test('[O34] a chat that moves to another session keeps the records of its turns', async () => {
  const all = await capturedSession()
  await all.ann.ask('createChat', { channel: session, chat: 'ahp-chat:/b' })
  await all.ann.ask('createSession', { channel: 's:/2', workingDirectories: ['file:///a'] })
  await all.ann.ask('subscribe', { channel: 'ahp-chat:/b' })
  await accepted(all.ann, 'ahp-chat:/b', started('u1'))
  const run = await all.agent.given(0)
  run.end()
  await until(() => chatOf(all, 'ahp-chat:/b').activeTurn === undefined)
  const before = await endedRecord(all, 'u1', 'ahp-chat:/b')
  await moveToSession(all.ann, 'ahp-chat:/b', 's:/2')
  await all.ann.ask('disposeSession', { channel: session })
  expect(before?.folders[0]?.end).toBeDefined()
  expect(await recordOf(all, 'u1', 'ahp-chat:/b')).toEqual(before)
})

test('[O30] a host without captures records nothing', async () => {
  const all = await twoClientSession()
  const run = await turn(all, 't1')
  run.end()
  await until(() => chatOf(all).activeTurn === undefined)
  expect(changesOf(all.core())).toBeUndefined()
  expect(await all.core().records.list('capture')).toEqual([])
})

async function untilAsync(done: () => Promise<boolean>): Promise<void> {
  while (!(await done())) await new Promise<void>((resolve) => setImmediate(resolve))
}
