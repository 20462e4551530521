import { memoryStore } from '@atrium/adapters/store/memory'
import type { Action } from '@atrium/protocol/channel'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  RecordingListener,
  chat,
  chatUri,
  complete,
  delta,
  heldLog,
  message,
  part,
  started,
  stepOver,
} from '../../../test/held-log.ts'
import { testWorld } from '../../../test/world.ts'
import type { Channel } from './channel.ts'
import { Log } from './log.ts'
import { leastTail, rebuild } from './rebuild.ts'
import { StepRecords } from './step-records.ts'

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

test.each([
  [999, 1, true],
  [1000, 1, false],
  [1, 4_100_000, true],
  [1, 4_200_000, false],
])(
  '[L8.2] after %i actions of %i characters a load begins at the creation: %s',
  async (count, length, expected) => {
    const { store, log, channel, flush } = await heldLog()
    for (let n = 0; n < count; n++) {
      const draft = { ...message, text: `${n}`.padEnd(length) }
      const edited: Action & Record<string, unknown> = { type: 'chat/draftChanged', draft }
      log.appendChecked(channel, edited)
    }
    while (log.committedSeq < log.last) {
      await stepOver()
      flush()
    }
    expect(await store.log.load(chatUri)).toMatchObject({ fromCreation: expected })
  },
)

test('[L8] [L8.2] a head is written after 25 rows, so that the rows of a woken channel reach back to the head', async () => {
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
  const actions: Record<string, readonly (Action & Record<string, unknown>)[]> = {
    start: [started(`t${i}`), part(`t${i}`)],
    delta: [delta(turnId, `${i} `)],
    complete: [complete(turnId)],
    fail: [{ type: 'chat/error', turnId, duration: 1, part: error }],
    resume: [{ type: 'chat/turnResume', turnId }],
    clear: [{ type: 'chat/truncated' }],
    truncate: [{ type: 'chat/truncated', turnId: turns[n]?.id ?? 'none' }],
    draft: [{ type: 'chat/draftChanged', draft: message }],
  }
  for (const action of actions[what] ?? []) log.appendChecked(channel, action)
}

test('[L7] [L8] [I3] the stored head with its rows, the fold of the whole log, and the state in memory are equal', async () => {
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
