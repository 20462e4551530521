import type { Action } from '@atrium/protocol/channel'
import { reducers } from '@atrium/protocol/reducers'
import type { ChatState } from '@atrium/protocol/chat/state'
import type { Transport } from '@atrium/protocol/rpc/transport'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testWorld } from '../../test/world.ts'
import { Entry } from '../log/entry.ts'
import { mergeRuns } from './merge-runs.ts'
import { Outbox } from './outbox.ts'

const channels = ['a', 'b']
let last = 0

function entry(channel = '', action: Action & Record<string, unknown>): Entry {
  const seq = ++last
  const parts = { origin: undefined, reason: undefined, only: undefined }
  return new Entry({
    seq,
    last: seq,
    channel,
    kind: 'chat',
    label: JSON.stringify(channel),
    action,
    text: JSON.stringify(action),
    ...parts,
  })
}

const delta = (channel: number, content: string, partId = 'p') =>
  entry(channels[channel], { type: 'chat/delta', turnId: 't', partId, content })

/** A socket that takes nothing until it is drained. */
function stuck() {
  const sent: string[] = []
  const ending = new AbortController()
  let buffered = 0
  let drain: () => void = () => {}
  const transport: Transport & { closedWith?: number } = {
    send(frame) {
      sent.push(typeof frame === 'string' ? frame : new TextDecoder().decode(frame))
      buffered += frame.length
    },
    receive() {},
    close(code) {
      transport.closedWith = code ?? 0
      ending.abort()
    },
    closed: ending.signal,
    get buffered() {
      return buffered
    },
    drained: () => new Promise((resolve) => (drain = resolve)),
  }
  return { transport, sent, drain: () => ((buffered = 0), drain()) }
}

test('[L12] runs of text that stand next to each other are merged, and others are not', () => {
  const merged = mergeRuns([
    delta(0, 'a'),
    delta(0, 'b'),
    delta(0, 'c', 'q'),
    delta(1, 'd'),
    delta(0, 'e'),
    delta(0, 'f'),
  ])
  expect(
    merged.map(({ channel, action }) => [channel, (action as unknown as { content: string }).content]),
  ).toEqual([
    ['a', 'ab'],
    ['a', 'c'],
    ['b', 'd'],
    ['a', 'ef'],
  ])
})

test('[L12] merging changes neither the numbers’ order nor any folded state', () => {
  const startedAt = '2026-01-01T00:00:00Z'
  const chat: ChatState = { resource: '', title: '', status: 8, modifiedAt: startedAt, turns: [] }
  const parts = ['p', 'q'].map((id) => ({ kind: 'markdown' as const, id, content: '' }))
  const activeTurn = {
    id: 't',
    startedAt,
    message: { text: '', origin: { kind: 'user' } },
    responseParts: parts,
  }
  const fold = (entries: readonly Entry[]) =>
    channels.map((channel) =>
      entries
        .filter((one) => one.channel === channel)
        .reduce<ChatState>((state, { action }) => reducers.chat(state, action), { ...chat, activeTurn }),
    )
  const step = fc.tuple(fc.nat(1), fc.constantFrom('p', 'q'), fc.constantFrom('x', 'y'), fc.boolean())
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const entries = steps.map(([at, partId, text, other]) =>
        other ? entry(channels[at], { type: 'chat/usage', turnId: 't', usage: {} }) : delta(at, text, partId),
      )
      const merged = mergeRuns(entries)
      expect(fold(merged)).toEqual(fold(entries))
      const numbers = merged.map(({ seq }) => seq)
      expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
      expect(merged.at(-1)?.seq).toBe(entries.at(-1)?.seq)
    }),
  )
})

test('[L12] F-17: a slow reader costs a bound; what waits is merged and sent when it has read', async () => {
  const { transport, sent, drain } = stuck()
  const outbox = new Outbox(transport, testWorld())
  outbox.send('x'.repeat(300_000))
  for (let i = 0; i < 1000; i++) outbox.deliver(delta(0, 'word '))
  expect(sent).toHaveLength(1)
  drain()
  await Promise.resolve()
  await Promise.resolve()
  expect(sent).toHaveLength(2)
  expect(JSON.parse(sent[1] ?? '')).toMatchObject({ params: { action: { content: 'word '.repeat(1000) } } })
})

test('[L12] F-17: beyond the bound the link ends with 1013', () => {
  const { transport } = stuck()
  const outbox = new Outbox(transport, testWorld())
  outbox.send('x'.repeat(300_000))
  for (let i = 0; i < 50; i++) outbox.deliver(delta(i % 2, 'y'.repeat(100_000)))
  expect(transport).toMatchObject({ closedWith: 1013 })
})

describe('[L12] text that is told in one step', () => {
  const stepOver = () => new Promise<void>((resolve) => setImmediate(resolve))
  const toldOf = (sent: readonly string[]) =>
    sent.map((frame) => {
      const { action, serverSeq } = (JSON.parse(frame) as { params: Told }).params
      return [action.content ?? action.type, serverSeq]
    })
  interface Told {
    readonly action: { readonly type: string; readonly content?: string }
    readonly serverSeq: number
  }
  const usage = () => entry('a', { type: 'chat/usage', turnId: 't', usage: {} })

  test('is one message with the number of the last, where nobody has asked for anything', async () => {
    const { transport, sent } = stuck()
    const outbox = new Outbox(transport, testWorld())
    outbox.latency = undefined
    const told = [delta(0, 'a'), delta(0, 'b'), usage(), delta(0, 'c'), delta(1, 'd'), delta(0, 'e')]
    for (const each of told) outbox.deliver(each)
    // What is no text waits for nothing, and what was told before it goes before it.
    expect(sent).toHaveLength(2)
    await stepOver()
    outbox.deliver(delta(0, 'f'))
    await stepOver()
    const [, b, u, c, d, e] = told.map(({ seq }) => seq)
    expect(toldOf(sent)).toEqual([
      ['ab', b],
      ['chat/usage', u],
      ['c', c],
      ['d', d],
      ['e', e],
      ['f', last],
    ])
  })

  test('is a message each, at once, where 0 was asked for', () => {
    const { transport, sent } = stuck()
    const outbox = new Outbox(transport, testWorld())
    outbox.latency = 0
    for (const word of ['a', 'b', 'c']) outbox.deliver(delta(0, word))
    expect(toldOf(sent).map(([content]) => content)).toEqual(['a', 'b', 'c'])
  })

  test('goes before an answer, and not to a reader who has become slow', async () => {
    const { transport, sent, drain } = stuck()
    const outbox = new Outbox(transport, testWorld())
    outbox.latency = undefined
    outbox.deliver(delta(0, 'before'))
    outbox.send(`{"id":1,"result":"${'x'.repeat(300_000)}"}`)
    expect(sent.map((frame) => frame.includes('before'))).toEqual([true, false])
    for (const word of ['and ', 'after']) outbox.deliver(delta(0, word))
    await stepOver()
    expect(sent).toHaveLength(2)
    drain()
    await stepOver()
    expect(toldOf(sent.slice(2)).map(([content]) => content)).toEqual(['and after'])
  })

  test('waits for no more of it when there is much', () => {
    const { transport, sent } = stuck()
    const outbox = new Outbox(transport, testWorld())
    outbox.latency = undefined
    for (let i = 0; i < 10; i++) outbox.deliver(delta(0, 'x'.repeat(60_000)))
    expect(sent.length).toBeGreaterThan(0)
    expect(transport).not.toHaveProperty('closedWith')
  })

  test('is merged and encoded once for all links', async () => {
    const frames: unknown[] = []
    const outboxes = Array.from({ length: 3 }, () => {
      const { transport } = stuck()
      const outbox = new Outbox({ ...transport, send: (frame) => void frames.push(frame) }, testWorld())
      outbox.latency = undefined
      return outbox
    })
    const told = ['a', 'b', 'c'].map((word) => delta(0, word))
    for (const each of told) for (const outbox of outboxes) outbox.deliver(each)
    await stepOver()
    expect(frames).toHaveLength(3)
    expect(new Set(frames).size).toBe(1)
  })
})

test('[L2] what is told while an answer is being made comes behind it', () => {
  const { transport, sent } = stuck()
  const outbox = new Outbox(transport, testWorld())
  outbox.pause()
  outbox.deliver(delta(0, 'later'))
  outbox.send('answer')
  outbox.resume()
  expect(sent[0]).toBe('answer')
  expect(sent[1]).toContain('later')
})

describe('[L12] S-24: what an unread link may hold', () => {
  const merged = (buffered: number) => {
    const { transport, sent, drain } = stuck()
    const outbox = new Outbox(transport, testWorld())
    outbox.send('x'.repeat(buffered))
    for (const word of ['one ', 'two ']) outbox.deliver(delta(0, word))
    return { sent, drain }
  }
  test('[S-57 slowBytes] at 262,144: what is told goes out at once', () =>
    expect(merged(262_144).sent[1]).toContain('"one "'))
  test('[S-57 slowBytes] past 262,144: it waits and is merged', async () => {
    const { sent, drain } = merged(262_145)
    expect(sent).toHaveLength(1)
    drain()
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(sent.slice(1).map((frame) => JSON.parse(frame) as unknown)).toMatchObject([
      { params: { action: { content: 'one two ' } } },
    ])
  })

  /** What waits is never merged here: it alternates. */
  const waiting = (bytes: number) => {
    const { transport } = stuck()
    const outbox = new Outbox(transport, testWorld())
    outbox.send('x'.repeat(300_000))
    const one = delta(0, 'y'.repeat(1_000_000))
    const rest = bytes - one.text.length
    const other = delta(1, '')
    outbox.deliver(one)
    outbox.deliver(delta(1, 'z'.repeat(rest - other.text.length)))
    return transport
  }
  test('[S-57 unreadBytes] at 4,194,304: the link lives', () =>
    expect(waiting(4_194_304)).not.toHaveProperty('closedWith'))
  test('[S-57 unreadBytes] past 4,194,304: it is closed with 1013', () =>
    expect(waiting(4_194_305)).toMatchObject({ closedWith: 1013 }))

  const answered = (bytes: number) => {
    const { transport } = stuck()
    const outbox = new Outbox(transport, testWorld())
    outbox.send('x'.repeat(bytes - 10))
    outbox.send('y'.repeat(10))
    return transport
  }
  test('[S-57 answerBytes] at 67,108,864: the link lives', () =>
    expect(answered(67_108_864)).not.toHaveProperty('closedWith'))
  test('[S-57 answerBytes] past 67,108,864: it is closed with 1013', () =>
    expect(answered(67_108_865)).toMatchObject({ closedWith: 1013 }))
  test('[L12] a note counts like what is told', () => {
    const { transport } = stuck()
    const outbox = new Outbox(transport, testWorld())
    outbox.send('x'.repeat(300_000))
    outbox.notify('y'.repeat(4_194_304))
    outbox.notify('z')
    expect(transport).not.toHaveProperty('closedWith')
    outbox.notify('z')
    expect(transport).toMatchObject({ closedWith: 1013 })
  })
})

test('[L12] what was sent while it could be is no backlog: a long message, or an answer, ends no link', () => {
  const { transport, drain } = stuck()
  const outbox = new Outbox(transport, testWorld())
  for (const send of [
    () => outbox.deliver(delta(0, 'x'.repeat(6_000_000))),
    () => outbox.notify('x'.repeat(6_000_000)),
    () => outbox.send('x'.repeat(20_000_000)),
  ]) {
    send()
    outbox.deliver(delta(0, 'y'.repeat(1_000_000)))
    outbox.notify('z'.repeat(1_000_000))
    expect(transport).not.toHaveProperty('closedWith')
    drain()
  }
  outbox.deliver(delta(0, 'x'.repeat(6_000_000)))
  for (let i = 0; i < 5; i++) outbox.deliver(delta(i % 2, 'y'.repeat(1_000_000)))
  expect(transport).toMatchObject({ closedWith: 1013 })
})

test('[L12] what is long does not wait for more of it', () => {
  const { transport, sent } = stuck()
  const outbox = new Outbox(transport, testWorld())
  outbox.latency = 50
  outbox.deliver(delta(0, 'short'))
  expect(sent).toHaveLength(0)
  outbox.deliver(delta(1, 'x'.repeat(5_000_000)))
  expect(sent.map((frame) => frame.length > 5_000_000)).toEqual([false, true])
  expect(transport).not.toHaveProperty('closedWith')
})

test('[L12] F-17: what was read long ago excuses nobody', () => {
  const { transport, drain } = stuck()
  const outbox = new Outbox(transport, testWorld())
  for (let i = 0; i < 100; i++) {
    outbox.deliver(delta(0, 'x'.repeat(200_000)))
    drain()
  }
  outbox.send('x'.repeat(300_000))
  for (let i = 0; i < 6; i++) outbox.notify('y'.repeat(1_000_000))
  expect(transport).toMatchObject({ closedWith: 1013 })
})
