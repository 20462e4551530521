import { memoryStore } from '@atrium/adapters/store/memory'
import type { Action } from '@atrium/protocol/channel'
import { expect, test } from 'vitest'
import {
  RecordingListener,
  by,
  chat,
  chatUri,
  complete,
  delta,
  heldLog,
  part,
  started,
  stepOver,
} from '../../../test/held-log.ts'
import { testWorld } from '../../../test/world.ts'
import type { Listener } from './entry.ts'
import { Log } from './log.ts'
import { StepRecords } from './step-records.ts'

test('[L2] [L2.2] I1: a strict action is not delivered, in no snapshot and without effect before it is durable', async () => {
  const { log, channel, committed, flush } = await heldLog()
  const listener = new RecordingListener()
  channel.listeners.add(listener)
  const { seq } = log.appendChecked(channel, started('t1'))
  await stepOver()
  expect(listener.entries).toEqual([])
  expect(committed).toEqual([])
  expect(channel.committed).toEqual(chat)
  expect(log.committedSeq).toBeLessThan(seq)
  flush()
  await log.reached(seq)
  expect(listener.types).toEqual(['chat/turnStarted'])
  expect(committed).toHaveLength(1)
  expect(channel.committed).toMatchObject({ activeTurn: { id: 't1' } })
})

test('[L3] [F-10] streamed text is delivered without waiting for the disk, but never before an earlier strict action', async () => {
  const { log, channel, flush, flushes } = await heldLog()
  const listener = new RecordingListener()
  channel.listeners.add(listener)
  log.appendChecked(channel, started('t1'))
  log.appendChecked(channel, part('t1'))
  await stepOver()
  flush()
  await stepOver()
  log.appendChecked(channel, delta('t1', 'a'))
  await stepOver()
  expect(listener.types).toEqual(['chat/turnStarted', 'chat/responsePart', 'chat/delta'])
  expect(flushes.length).toBeGreaterThan(0)
  log.appendChecked(channel, complete('t1'))
  log.appendChecked(channel, delta('t1', 'late'))
  await stepOver()
  expect(listener.entries).toHaveLength(3)
  flush()
  await stepOver()
  flush()
  await stepOver()
  expect(listener.types.slice(3)).toEqual(['chat/turnComplete', 'chat/delta'])
})

test('[L4.4] a failed flush that is no full disk ends the host, and is not repeated', async () => {
  const store = memoryStore()
  const failures: unknown[] = []
  const events = {
    appended: () => {},
    committed: () => {},
    fatal: (error: unknown) => void failures.push(error),
  }
  const log = new Log(store.log, testWorld(), events, {
    records: new StepRecords(store.records),
    first: 1000,
  })
  await log.begin()
  const channel = log.create(chatUri, 'chat', chat)
  await log.settled()
  let flushes = 0
  const broken = new Error('EIO')
  store.log.flush = () => (flushes++, Promise.reject(broken))
  for (const id of ['t1', 't2']) {
    log.appendChecked(channel, started(id))
    await stepOver()
  }
  expect([failures, flushes]).toEqual([[broken], 1])
})

test('[L1] the actions of one step are stored together or not at all', async () => {
  const { store, log, channel, flush } = await heldLog()
  log.appendChecked(channel, started('t1'))
  log.appendChecked(channel, part('t1'))
  await stepOver()
  log.appendChecked(channel, complete('t1'))
  // The flush is completed in the middle of a step.
  flush()
  const reopened = store.reopen()
  const loaded = await reopened.log.load(chatUri)
  if (!loaded || 'damaged' in loaded) throw new Error('not loaded')
  const types = loaded.envelopes.map((envelope) => (JSON.parse(envelope.action) as Action).type)
  expect(types).toEqual(['chat/turnStarted', 'chat/responsePart'])
})

test('[L2] [L2.1] an action that a listener appends during a delivery waits, so that all listeners see one order', async () => {
  const { log, channel, flush } = await heldLog()
  const later = new RecordingListener()
  const first: Listener = {
    notify() {},
    deliver: (entry) =>
      void (entry.action.type === 'chat/activityChanged' && log.appendChecked(channel, part('t'))),
  }
  channel.listeners.add(first)
  channel.listeners.add(later)
  log.append(channel, { type: 'chat/activityChanged' })
  await stepOver()
  flush()
  await stepOver()
  flush()
  await stepOver()
  expect(later.types).toEqual(['chat/activityChanged', 'chat/responsePart'])
})

test('[L3] an ephemeral action is numbered, delivered and kept in memory, and never stored', async () => {
  const { store, log, flush } = await heldLog()
  const terminal = log.create('ahp-terminal:/1', 'terminal', {
    title: '',
    content: [],
    lifecycle: { status: 'running' },
    claim: { kind: 'client', clientId: 'ann' },
  })
  await stepOver()
  flush()
  await stepOver()
  const listener = new RecordingListener()
  terminal.listeners.add(listener)
  const input = log.accept(terminal, { type: 'terminal/input', data: 'secret' } as Action, {
    by,
    listener,
  })
  log.append(terminal, { type: 'terminal/data', data: 'x' })
  await stepOver()
  expect(listener.types).toEqual(['terminal/input', 'terminal/data'])
  expect(terminal.ephemeralSince(input.seq - 1)).toHaveLength(2)
  expect(terminal.ephemeralSince(input.seq)).toHaveLength(1)
  log.append(terminal, { type: 'terminal/cwdChanged', cwd: 'file:///x' })
  await stepOver()
  flush()
  await log.settled()
  const { envelopes } = await store.log.read([terminal.uri], 0, Number.MAX_SAFE_INTEGER)
  expect(envelopes.map((envelope) => envelope.action).join()).not.toContain('secret')
  expect(envelopes).toHaveLength(1)
})

test('[L3] only the last MiB of ephemeral actions is kept, and a gap is reported', async () => {
  const { log } = await heldLog()
  const watch = log.create('w', 'terminal', {
    title: '',
    content: [],
    lifecycle: { status: 'running' },
    claim: { kind: 'client', clientId: 'a' },
  })
  const big = 'x'.repeat(300_000)
  const seqs = [1, 2, 3, 4, 5].map(() => log.append(watch, { type: 'terminal/data', data: big }).seq)
  expect(watch.ephemeralSince((seqs[0] ?? 0) - 1)).toBeUndefined()
  expect(watch.ephemeralSince(seqs[2] ?? 0)).toHaveLength(2)
})

test('[L15] a dispatched action that changes nothing is echoed to its sender alone and not stored', async () => {
  const { log, channel, flush, store } = await heldLog()
  const [ann, ben] = [new RecordingListener(), new RecordingListener()]
  channel.listeners.add(ann)
  channel.listeners.add(ben)
  log.accept(channel, { type: 'chat/isArchivedChanged', isArchived: false } as Action, { by, listener: ann })
  await stepOver()
  flush()
  await log.settled()
  expect(ann.entries).toMatchObject([{ origin: { clientId: 'ann', clientSeq: 1 } }])
  expect(ben.entries).toEqual([])
  expect((await store.log.read([chatUri], 0, Number.MAX_SAFE_INTEGER)).envelopes).toEqual([])
})

test('[L2] [L2.7] a refusal is sent to its sender alone, in order, and without the disk', async () => {
  const { log, channel } = await heldLog()
  const [ann, ben] = [new RecordingListener(), new RecordingListener()]
  channel.listeners.add(ann)
  channel.listeners.add(ben)
  log.refuse(channel, delta('t', 'x'), { by, listener: ann }, 'because')
  await stepOver()
  expect(ann.entries).toMatchObject([{ reason: 'because', origin: { clientSeq: 1 } }])
  expect(ben.entries).toEqual([])
  expect(channel.head).toBe(channel.committed)
})

test('[L9] [L9.1] a channel sleeps when nothing needs it, and wakes with the same state', async () => {
  const { log, channel, flush } = await heldLog()
  const listener = new RecordingListener()
  channel.listeners.add(listener)
  log.appendChecked(channel, started('t1'))
  expect(log.sleep(channel)).toBe(false)
  await stepOver()
  flush()
  await log.settled()
  expect(log.sleep(channel)).toBe(false)
  channel.listeners.delete(listener)
  expect(log.sleep(channel)).toBe(true)
  await stepOver()
  flush()
  await log.settled()
  const woken = await log.wake(chatUri)
  expect(woken).not.toBe(channel)
  expect(woken?.head).toEqual(channel.head)
  expect(await log.wake('ahp-chat:/nowhere')).toBeUndefined()
})

test('[L9] a channel with delivered text that is not durable stays awake, because a wake would show less', async () => {
  const { log, channel, flush } = await heldLog()
  log.appendChecked(channel, started('t1'))
  log.appendChecked(channel, part('t1'))
  await stepOver()
  flush()
  await stepOver()
  log.appendChecked(channel, delta('t1', 'delivered at once'))
  await stepOver()
  expect(channel.uncommitted).toBe(0)
  expect(log.sleep(channel)).toBe(false)
  flush()
  await log.settled()
  expect(log.sleep(channel)).toBe(true)
})
