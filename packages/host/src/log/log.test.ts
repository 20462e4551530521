import { memoryStore } from '@atrium/adapters/store/memory'
import type { Action } from '@atrium/protocol/channel'
import { Activity } from '@atrium/protocol/status'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testWorld } from '../../test/world.ts'
import { StepRecords } from './step-records.ts'
import type { Channel } from './channel.ts'
import type { Entry, Listener } from './entry.ts'
import { Log } from './log.ts'
import { leastTail, rebuild } from './rebuild.ts'

const chatUri = 'ahp-chat:/1'
const startedAt = '2026-01-01T00:00:00Z'
const message = { text: 'go', origin: { kind: 'user' } }
const chat = { resource: chatUri, title: '', status: Activity.Idle, modifiedAt: startedAt, turns: [] }
const by = { clientId: 'ann', clientSeq: 1, principal: 'owner' }

const started = (turnId: string): Action =>
  ({ type: 'chat/turnStarted', turnId, startedAt, message }) as Action
const part = (turnId: string): Action =>
  ({ type: 'chat/responsePart', turnId, part: { kind: 'markdown', id: 'p', content: '' } }) as Action
const delta = (turnId: string, content: string): Action =>
  ({ type: 'chat/delta', turnId, partId: 'p', content }) as Action
const complete = (turnId: string): Action => ({ type: 'chat/turnComplete', turnId, duration: 5 }) as Action

/** A log whose flushes end when the test calls `flush`. */
async function heldLog(options: { headEvery?: number } = {}) {
  const flushes: (() => void)[] = []
  let hold = false
  const store = memoryStore({ soon: (task) => (hold ? void flushes.push(task) : queueMicrotask(task)) })
  const committed: Entry[] = []
  const log = new Log(
    store.log,
    testWorld(),
    { appended: () => {}, committed: (_, entry) => void committed.push(entry), fatal: () => {} },
    { records: new StepRecords(store.records), first: 1000, ...options },
  )
  await log.begin()
  const channel = log.create(chatUri, 'chat', chat)
  await log.settled()
  hold = true
  return { store, log, channel, committed, flush: () => flushes.splice(0).forEach((task) => task()), flushes }
}

class RecordingListener implements Listener {
  readonly entries: Entry[] = []
  deliver(entry: Entry): void {
    this.entries.push(entry)
  }
  notify(): void {}
  get types(): readonly string[] {
    return this.entries.map((entry) => entry.action.type)
  }
}

/** Waits for the end of the present step. */
const stepOver = () => new Promise<void>((resolve) => setImmediate(resolve))

test.each([true, false])(
  '[N7] [L8] the pieces of a text are one action, or one each where a listener wants that (%s), and a head between them is right',
  async (wantsEach) => {
    for (const headEvery of [1, 2, 3, 4, 5, 7, 1000]) {
      const { store, log, channel, committed, flush } = await heldLog({ headEvery })
      channel.listeners.add(new RecordingListener())
      channel.listeners.add(Object.assign(new RecordingListener(), { wantsEach }))
      log.appendChecked(channel, started('t'))
      log.appendChecked(channel, part('t'))
      const words = ['one ', 'two ', 'three ', 'four ']
      log.appendText(
        channel,
        delta('t', words.join('')),
        words.map((word) => delta('t', word)),
      )
      await stepOver()
      while (log.committedSeq < log.last) {
        flush()
        await stepOver()
      }
      const deltas = committed.filter(({ action }) => action.type === 'chat/delta')
      const expected = wantsEach ? words : [words.join('')]
      expect(deltas.map(({ text }) => (JSON.parse(text) as { content: string }).content)).toEqual(expected)
      expect(new Set(deltas.map(({ seq }) => seq)).size).toBe(expected.length)
      const loaded = await store.log.load(chatUri)
      if (!loaded || 'damaged' in loaded) throw new Error('not there')
      expect(rebuild(chatUri, loaded).state).toEqual(channel.head)
      expect(channel.committed).toEqual(channel.head)
    }
  },
)

test('[L8] a head is written after 25 rows, so that the rows of a woken channel reach back to the head', async () => {
  const { store, log, channel, flush } = await heldLog()
  for (let turn = 0; turn < 60; turn++)
    for (const action of [started(`t${turn}`), complete(`t${turn}`)]) log.appendChecked(channel, action)
  while (log.committedSeq < log.last) {
    await stepOver()
    flush()
  }
  const loaded = await store.log.load(chatUri, 50)
  if (!loaded || 'damaged' in loaded) throw new Error('not there')
  expect(loaded).toMatchObject({ fromCreation: false, envelopes: { length: 20 } })
  expect(leastTail(loaded)).toBe(11)
  expect(rebuild(chatUri, loaded).newer).toBe(10)
})

test('[L2] I1: a strict action is not delivered, in no snapshot and without effect before it is durable', async () => {
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

test('[L3] streamed text is delivered without waiting for the disk, but never before an earlier strict action', async () => {
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

test('[L1] the actions of one step are stored together or not at all', async () => {
  const { store, log, channel, flush } = await heldLog()
  log.appendChecked(channel, started('t1'))
  log.appendChecked(channel, part('t1'))
  await stepOver()
  log.appendChecked(channel, complete('t1'))
  // The flush ends in the middle of a step.
  flush()
  const reopened = store.reopen()
  const loaded = await reopened.log.load(chatUri)
  if (!loaded || 'damaged' in loaded) throw new Error('not loaded')
  const types = loaded.envelopes.map((envelope) => (JSON.parse(envelope.action) as Action).type)
  expect(types).toEqual(['chat/turnStarted', 'chat/responsePart'])
})

test('[L2] an action that a listener appends during a delivery waits, so that all listeners see one order', async () => {
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
  log.appendChecked(terminal, { type: 'terminal/data', data: 'x' } as Action)
  await stepOver()
  expect(listener.types).toEqual(['terminal/input', 'terminal/data'])
  expect(terminal.ephemeralSince(input.seq - 1)).toHaveLength(2)
  expect(terminal.ephemeralSince(input.seq)).toHaveLength(1)
  log.appendChecked(terminal, { type: 'terminal/cwdChanged', cwd: 'file:///x' } as Action)
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
  const seqs = [1, 2, 3, 4, 5].map(
    () => log.appendChecked(watch, { type: 'terminal/data', data: big } as Action).seq,
  )
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

test('[L2] a refusal is sent to its sender alone, in order, and without the disk', async () => {
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

const script = fc.array(
  fc.oneof(
    fc
      .constantFrom('start', 'delta', 'complete', 'fail', 'resume', 'clear', 'draft')
      .map((what) => ({ what, n: 0 })),
    fc.nat(5).map((n) => ({ what: 'truncate', n })),
  ),
  { minLength: 15, maxLength: 60, size: 'max' },
)

/** Appends actions that add turns, remove them and resume them. */
function play(log: Log, channel: Channel<'chat'>, { what, n }: { what: string; n: number }, i: number): void {
  const { activeTurn, turns } = channel.head
  const turnId = activeTurn?.id ?? turns.at(-1)?.id ?? 'none'
  const error = { kind: 'error', error: { errorType: 'x', message: 'm' }, resumable: true }
  const actions: Record<string, readonly Action[]> = {
    start: [started(`t${i}`), part(`t${i}`)],
    delta: [delta(turnId, `${i} `)],
    complete: [complete(turnId)],
    fail: [{ type: 'chat/error', turnId, duration: 1, part: error } as Action],
    resume: [{ type: 'chat/turnResume', turnId } as Action],
    clear: [{ type: 'chat/truncated' }],
    truncate: [{ type: 'chat/truncated', turnId: turns[n]?.id ?? 'none' } as Action],
    draft: [{ type: 'chat/draftChanged', draft: message } as Action],
  }
  for (const action of actions[what] ?? []) log.appendChecked(channel, action)
}

test('[L7] [L8] I3: the stored head with its rows, the fold of the whole log, and the state in memory are equal', async () => {
  await fc.assert(
    fc.asyncProperty(script, fc.integer({ min: 1, max: 7 }), async (steps, headEvery) => {
      const store = memoryStore()
      const log = new Log(
        store.log,
        testWorld(),
        { appended: () => {}, committed: () => {}, fatal: () => {} },
        { records: new StepRecords(store.records), first: 1000, headEvery },
      )
      await log.begin()
      const channel = log.create(chatUri, 'chat', chat)
      for (const [i, step] of steps.entries()) {
        play(log, channel, step, i)
        await log.settled()
        const loaded = await store.log.load(chatUri)
        if (!loaded) throw new Error('not loaded')
        expect(rebuild(chatUri, loaded).state).toEqual(channel.head)
      }
      const { envelopes } = await store.log.read([chatUri], 0, Number.MAX_SAFE_INTEGER)
      const fold = {
        kind: 'chat',
        seq: 0,
        state: JSON.stringify(chat),
        rowIds: [],
        rows: [],
        fromCreation: true,
        envelopes,
      }
      expect(rebuild(chatUri, fold).state).toEqual(channel.head)
    }),
  )
})

test('[L9] a channel sleeps when nothing needs it, and wakes with the same state', async () => {
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
