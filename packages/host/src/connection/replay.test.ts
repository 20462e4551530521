import { memoryStore } from '@atrium/adapters/store/memory'
import type { Envelope } from '@atrium/protocol/channel'
import { limits } from '@atrium/protocol/limits'
import { describe, expect, test } from 'vitest'
import { testWorld } from '../../test/world.ts'
import { StepRecords } from '../kernel/log/step-records.ts'
import { Log } from '../kernel/log/log.ts'
import type { LogStore } from '../ports/log.ts'
import type { TerminalState } from '@atrium/protocol/terminal/state'
import { replay } from './replay.ts'

const terminal: TerminalState = {
  title: '',
  content: [],
  lifecycle: { status: 'running' },
  claim: { kind: 'client', clientId: 'ann' },
}
const data = (text: string) => ({ type: 'terminal/data', data: text }) as const
const resized = (cols: number) => ({ type: 'terminal/resized', cols, rows: 24 }) as const

/** A log with two channels. Without `recentLength` memory keeps no stored action, so that every replay reads the store. */
async function started(recentLength = 0, ahead = 1) {
  const tasks: (() => void)[] = []
  let holding = false
  const store = memoryStore({ soon: (task) => (holding ? void tasks.push(task) : queueMicrotask(task)) })
  const events = { appended: () => {}, committed: () => {}, fatal: () => {} }
  const log = new Log({ ...store.log, ahead }, testWorld(), events, {
    records: new StepRecords(store.records),
    first: 1000,
    recentLength,
  })
  await log.begin()
  const channels = ['a', 'b'].map((uri) => log.create(uri, 'terminal', terminal))
  await log.settled()
  const release = () => {
    holding = false
    for (const task of tasks.splice(0)) task()
  }
  return { store, log, channels, hold: () => void (holding = true), release }
}

const read = (texts: readonly string[] | undefined) =>
  texts?.map((text) => (JSON.parse(text) as Envelope).serverSeq)

test.each([
  ['from the store', 0],
  ['from memory', 10_000],
])(
  '[L13] [L3] a replay %s has the stored and the ephemeral actions of all channels, in order and within its bounds',
  async (_, recentLength) => {
    const { store, log, channels } = await started(recentLength)
    const [a, b] = channels
    if (!a || !b) throw new Error('no channels')
    const seqs = [
      log.append(a, data('1')),
      log.append(b, resized(1)),
      log.append(a, resized(2)),
      log.append(b, data('2')),
      log.append(a, data('3')),
      log.append(b, resized(3)),
    ].map(({ seq }) => seq)
    await log.settled()
    const all = await replay(log, store.log, { channels, after: (seqs[0] ?? 0) - 1, upTo: seqs[5] ?? 0 })
    expect(read(all)).toEqual(seqs)
    const some = await replay(log, store.log, { channels, after: seqs[0] ?? 0, upTo: seqs[4] ?? 0 })
    expect(read(some)).toEqual(seqs.slice(1, 5))
    const one = await replay(log, store.log, { channels: [a], after: (seqs[0] ?? 0) - 1, upTo: seqs[5] ?? 0 })
    expect(read(one)).toEqual([seqs[0], seqs[2], seqs[4]])
  },
)

test('[L13] [L13.6] a replay that is too long is undefined', async () => {
  const { store, log, channels } = await started()
  const [a] = channels
  if (!a) throw new Error('no channel')
  for (let i = 0; i < 50; i++) log.append(a, resized(i))
  expect(
    await replay(log, store.log, { channels, after: 0, upTo: Number.MAX_SAFE_INTEGER }, { longest: 1000 }),
  ).toBeUndefined()
  expect(
    await replay(log, store.log, { channels, after: 0, upTo: Number.MAX_SAFE_INTEGER }, { longest: 100_000 }),
  ).toHaveLength(50)
})

/** Returns a replay of exactly `length` characters. */
async function replayOf(length: number) {
  const { store, log, channels } = await started()
  const [a] = channels
  if (!a) throw new Error('no channel')
  const titled = (title: string) => ({ type: 'terminal/titleChanged', title }) as const
  const whole = async () =>
    (
      await replay(
        log,
        store.log,
        { channels, after: 0, upTo: Number.MAX_SAFE_INTEGER },
        { longest: Infinity },
      )
    )?.join('').length ?? 0
  for (let i = 0; i < 3; i++) log.append(a, titled('x'.repeat(1_000_000)))
  const before = await whole()
  log.append(a, titled(''))
  // The length of an envelope without its title.
  const bare = (await whole()) - before
  log.append(a, titled('y'.repeat(length - (await whole()) - bare)))
  expect(await whole()).toBe(length)
  return replay(log, store.log, { channels, after: 0, upTo: Number.MAX_SAFE_INTEGER })
}
test('[S-57 replayLength] at 4,194,304: a client gets a replay', async () =>
  expect(await replayOf(4_194_304)).toHaveLength(5))
test('[S-57 replayLength] past 4,194,304: it gets snapshots', async () =>
  expect(await replayOf(4_194_305)).toBeUndefined())

test('[L13] text that was delivered before it was durable is in the replay', async () => {
  const { store, log, hold, release } = await started()
  const startedAt = '2026-01-01T00:00:00Z'
  const chat = log.create('c', 'chat', {
    resource: 'c',
    title: '',
    status: 1,
    modifiedAt: startedAt,
    turns: [],
  })
  await log.settled()
  hold()
  const { seq } = log.append(chat, {
    type: 'chat/delta',
    turnId: 't',
    partId: 'p',
    content: 'x',
  })
  const answer = replay(log, store.log, { channels: [chat], after: seq - 1, upTo: seq })
  release()
  expect(read(await answer)).toEqual([seq])
})

/** A store that must not be read. */
const unread = { read: () => Promise.reject(new Error('the store was read')) } as unknown as LogStore

describe('[L13.12] recent actions', () => {
  test('are replayed from memory, also while the disk has not finished', async () => {
    const { log, channels, hold, release } = await started(10_000)
    const [a] = channels
    if (!a) throw new Error('no channel')
    const { seq } = log.append(a, resized(1))
    await log.settled()
    hold()
    log.append(a, resized(2))
    expect(read(await replay(log, unread, { channels, after: seq - 1, upTo: seq }))).toEqual([seq])
    release()
  })

  test('are gone with their channel, and when the store has forgotten them', async () => {
    const { store, log, channels } = await started(10_000)
    const [a, b] = channels
    if (!a || !b) throw new Error('no channels')
    const seqs = [a, b, a, b].map((channel, cols) => log.append(channel, resized(cols)).seq)
    const after = (seqs[0] ?? 0) - 1
    log.drop(a)
    expect(log.recentSince(after)?.map(({ seq }) => seq)).toEqual([seqs[1], seqs[3]])
    log.forgot(seqs[1] ?? 0)
    expect(log.recentSince(after)).toBeUndefined()
    expect(log.recentSince(seqs[1] ?? 0)?.map(({ seq }) => seq)).toEqual([seqs[3]])
    await log.settled()
    expect(read(await replay(log, store.log, { channels: [b], after, upTo: log.last }))).toEqual([
      seqs[1],
      seqs[3],
    ])
  })

  const kept = async (length: number) => {
    const { log, channels } = await started(limits.recentLength)
    const [a] = channels
    if (!a) throw new Error('no channel')
    const titled = (title: string) => log.append(a, { type: 'terminal/titleChanged', title })
    const { seq, text } = titled('')
    titled('x'.repeat(length - 2 * (text.length + 128)))
    return log.recentSince(seq - 1)?.length
  }
  test('[S-57 recentLength] at 1,048,576: all are in memory', async () =>
    expect(await kept(1_048_576)).toBe(2))
  test('[S-57 recentLength] past 1,048,576: the oldest is read from the store', async () =>
    expect(await kept(1_048_577)).toBeUndefined())
})

test('[L4] [L4.1] beyond a bound of unflushed bytes dispatches wait until the flush', async () => {
  const { log, channels, hold, release } = await started()
  const [a] = channels
  if (!a) throw new Error('no channel')
  hold()
  expect(log.congested).toBe(false)
  for (let i = 0; i < 10; i++) log.append(a, { type: 'terminal/titleChanged', title: 'x'.repeat(1_000_000) })
  expect(log.congested).toBe(true)
  const room = log.room()
  await new Promise<void>((resolve) => setImmediate(resolve))
  release()
  await room
  await log.settled()
  expect(log.congested).toBe(false)
})

describe('[L4] entries that wait for the disk', () => {
  const unflushed = async (bytes: number) => {
    const { log, channels, hold, release } = await started()
    const [a] = channels
    if (!a) throw new Error('no channel')
    hold()
    const { text } = log.append(a, { type: 'terminal/titleChanged', title: '' })
    const title = 'x'.repeat(bytes - 2 * text.length)
    log.append(a, { type: 'terminal/titleChanged', title })
    const { congested } = log
    release()
    await log.settled()
    return congested
  }
  test('[L4.1] refusals behind them count, too, so that refused dispatches cannot fill the memory', async () => {
    const { log, channels, hold, release } = await started()
    const [a] = channels
    if (!a) throw new Error('no channel')
    hold()
    log.append(a, { type: 'terminal/titleChanged', title: 'slow' })
    const by = { clientId: 'ann', clientSeq: 1, principal: 'owner' }
    const refuse = () =>
      log.refuse(
        a,
        data('x'.repeat(4_000_000)),
        { by, listener: { deliver: () => {}, notify: () => {} } },
        'no',
      )
    for (let i = 0; i < 2; i++) refuse()
    expect(log.congested).toBe(false)
    refuse()
    expect(log.congested).toBe(true)
    const room = log.room()
    release()
    await room
    expect(log.congested).toBe(false)
  })
  test('[H4.7] their length is the backlog: each with 512 more, and each channel in a flush with 2,048 more', async () => {
    const { log, channels, hold, release } = await started()
    const [a, b] = channels
    if (!a || !b) throw new Error('no channel')
    hold()
    const action = { type: 'terminal/titleChanged', title: 'x'.repeat(100) } as const
    const one = JSON.stringify(action).length + 512
    log.append(a, action)
    log.append(a, action)
    expect(log.backlog).toBe(2 * one + 2048)
    log.append(b, action)
    expect(log.backlog).toBe(3 * one + 2 * 2048)
    const progress = log.progress()
    release()
    await progress
    await log.settled()
    expect(log.backlog).toBe(0)
  })
  test('[H4.7] a store whose commits take long lets more wait', async () => {
    const { log, channels, hold, release } = await started(0, 4)
    const [a] = channels
    if (!a) throw new Error('no channel')
    hold()
    const { text } = log.append(a, { type: 'terminal/titleChanged', title: 'x'.repeat(100) })
    expect(log.backlog).toBe((text.length + 512 + 2048) / 4)
    release()
    await log.settled()
    expect(log.backlog).toBe(0)
  })
  test('[S-57 unflushedBytes] at 8,388,608: there is room', async () =>
    expect(await unflushed(8_388_608)).toBe(false))
  test('[S-57 unflushedBytes] past 8,388,608: dispatches wait', async () =>
    expect(await unflushed(8_388_609)).toBe(true))
})

describe('[L3] [L13.3] ephemeral actions', () => {
  const kept = async (bytes: number) => {
    const { log, channels } = await started()
    const [a] = channels
    if (!a) throw new Error('no channel')
    const first = log.append(a, data('')).seq
    const empty = JSON.stringify(data('')).length
    log.append(a, data('x'.repeat(bytes - 2 * empty)))
    return a.ephemeralSince(first - 1)?.length
  }
  test('[S-57 passingBytes] at 1,048,576: all can be replayed', async () =>
    expect(await kept(1_048_576)).toBe(2))
  test('[S-57 passingBytes] past 1,048,576: the gap is reported', async () =>
    expect(await kept(1_048_577)).toBeUndefined())
})
