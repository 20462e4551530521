import type { Transport } from '@atrium/protocol/rpc/transport'
import { describe, expect, test } from 'vitest'
import { delta, entry, lastSeq } from '../../test/text-entries.ts'
import { testWorld } from '../../test/world.ts'
import { Outbox } from './outbox.ts'

/** A transport whose client reads nothing until `drain`. */
function unreadTransport() {
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

test('[L12] [F-17] for a slow client a bounded number of entries waits, and is merged and sent after it has read', async () => {
  const { transport, sent, drain } = unreadTransport()
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

test('[L12] [F-17] beyond the bound the connection is closed with 1013', () => {
  const { transport } = unreadTransport()
  const outbox = new Outbox(transport, testWorld())
  outbox.send('x'.repeat(300_000))
  for (let i = 0; i < 50; i++) outbox.deliver(delta(i % 2, 'y'.repeat(100_000)))
  expect(transport).toMatchObject({ closedWith: 1013 })
})

describe('[L12] text that is delivered in one step', () => {
  const stepOver = () => new Promise<void>((resolve) => setImmediate(resolve))
  const contentsOf = (sent: readonly string[]) =>
    sent.map((frame) => {
      const { action, serverSeq } = (JSON.parse(frame) as { params: Params }).params
      return [action.content ?? action.type, serverSeq]
    })
  interface Params {
    readonly action: { readonly type: string; readonly content?: string }
    readonly serverSeq: number
  }
  const usage = () => entry('a', { type: 'chat/usage', turnId: 't', usage: {} })

  test('[L12.5] is one message with the last number, where no latency was requested', async () => {
    const { transport, sent } = unreadTransport()
    const outbox = new Outbox(transport, testWorld())
    outbox.latency = undefined
    const entries = [delta(0, 'a'), delta(0, 'b'), usage(), delta(0, 'c'), delta(1, 'd'), delta(0, 'e')]
    for (const each of entries) outbox.deliver(each)
    // An action that is not text does not wait, and the text before it is sent first.
    expect(sent).toHaveLength(2)
    await stepOver()
    outbox.deliver(delta(0, 'f'))
    await stepOver()
    const [, b, u, c, d, e] = entries.map(({ seq }) => seq)
    expect(contentsOf(sent)).toEqual([
      ['ab', b],
      ['chat/usage', u],
      ['c', c],
      ['d', d],
      ['e', e],
      ['f', lastSeq()],
    ])
  })

  test('[L12.6] is one message for each piece, at once, where latency 0 was requested', () => {
    const { transport, sent } = unreadTransport()
    const outbox = new Outbox(transport, testWorld())
    outbox.latency = 0
    for (const word of ['a', 'b', 'c']) outbox.deliver(delta(0, word))
    expect(contentsOf(sent).map(([content]) => content)).toEqual(['a', 'b', 'c'])
  })

  test('is sent before a response, and not to a client that has become slow', async () => {
    const { transport, sent, drain } = unreadTransport()
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
    expect(contentsOf(sent.slice(2)).map(([content]) => content)).toEqual(['and after'])
  })

  test('is sent at once when it is long', () => {
    const { transport, sent } = unreadTransport()
    const outbox = new Outbox(transport, testWorld())
    outbox.latency = undefined
    for (let i = 0; i < 10; i++) outbox.deliver(delta(0, 'x'.repeat(60_000)))
    expect(sent.length).toBeGreaterThan(0)
    expect(transport).not.toHaveProperty('closedWith')
  })

  test('is merged and encoded once for all connections', async () => {
    const frames: unknown[] = []
    const outboxes = Array.from({ length: 3 }, () => {
      const { transport } = unreadTransport()
      const outbox = new Outbox({ ...transport, send: (frame) => void frames.push(frame) }, testWorld())
      outbox.latency = undefined
      return outbox
    })
    const entries = ['a', 'b', 'c'].map((word) => delta(0, word))
    for (const each of entries) for (const outbox of outboxes) outbox.deliver(each)
    await stepOver()
    expect(frames).toHaveLength(3)
    expect(new Set(frames).size).toBe(1)
  })
})

test('[L2] [L2.4] entries that are delivered while a response is under way are sent after it', () => {
  const { transport, sent } = unreadTransport()
  const outbox = new Outbox(transport, testWorld())
  outbox.pause()
  outbox.deliver(delta(0, 'later'))
  outbox.send('answer')
  outbox.resume()
  expect(sent[0]).toBe('answer')
  expect(sent[1]).toContain('later')
})

describe('[L12] [S-24] unread messages of a connection', () => {
  const merged = (buffered: number) => {
    const { transport, sent, drain } = unreadTransport()
    const outbox = new Outbox(transport, testWorld())
    outbox.send('x'.repeat(buffered))
    for (const word of ['one ', 'two ']) outbox.deliver(delta(0, word))
    return { sent, drain }
  }
  test('[S-57 slowBytes] at 262,144: an entry is sent at once', () =>
    expect(merged(262_144).sent[1]).toContain('"one "'))
  test('[L12.1] [S-57 slowBytes] past 262,144: it waits and is merged', async () => {
    const { sent, drain } = merged(262_145)
    expect(sent).toHaveLength(1)
    drain()
    await new Promise<void>((resolve) => setImmediate(resolve))
    expect(sent.slice(1).map((frame) => JSON.parse(frame) as unknown)).toMatchObject([
      { params: { action: { content: 'one two ' } } },
    ])
  })

  /** Entries of alternating channels. Such entries are never merged. */
  const waiting = (bytes: number) => {
    const { transport } = unreadTransport()
    const outbox = new Outbox(transport, testWorld())
    outbox.send('x'.repeat(300_000))
    const one = delta(0, 'y'.repeat(1_000_000))
    const rest = bytes - one.text.length
    const other = delta(1, '')
    outbox.deliver(one)
    outbox.deliver(delta(1, 'z'.repeat(rest - other.text.length)))
    return transport
  }
  test('[S-57 unreadBytes] at 4,194,304: the connection stays open', () =>
    expect(waiting(4_194_304)).not.toHaveProperty('closedWith'))
  test('[L12.2] [S-57 unreadBytes] past 4,194,304: it is closed with 1013', () =>
    expect(waiting(4_194_305)).toMatchObject({ closedWith: 1013 }))

  const answered = (bytes: number) => {
    const { transport } = unreadTransport()
    const outbox = new Outbox(transport, testWorld())
    outbox.send('x'.repeat(bytes - 10))
    outbox.send('y'.repeat(10))
    return transport
  }
  test('[S-57 answerBytes] at 67,108,864: the connection stays open', () =>
    expect(answered(67_108_864)).not.toHaveProperty('closedWith'))
  test('[L12.3] [S-57 answerBytes] past 67,108,864: it is closed with 1013', () =>
    expect(answered(67_108_865)).toMatchObject({ closedWith: 1013 }))
  test('[L12] a notification counts like an entry', () => {
    const { transport } = unreadTransport()
    const outbox = new Outbox(transport, testWorld())
    outbox.send('x'.repeat(300_000))
    outbox.notify('y'.repeat(4_194_304))
    outbox.notify('z')
    expect(transport).not.toHaveProperty('closedWith')
    outbox.notify('z')
    expect(transport).toMatchObject({ closedWith: 1013 })
  })
})

test('[L12] [L12.3] messages to a client that has read everything are no backlog: neither a long one nor a response closes the connection', () => {
  const { transport, drain } = unreadTransport()
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

test('[L12] long text does not wait for more', () => {
  const { transport, sent } = unreadTransport()
  const outbox = new Outbox(transport, testWorld())
  outbox.latency = 50
  outbox.deliver(delta(0, 'short'))
  expect(sent).toHaveLength(0)
  outbox.deliver(delta(1, 'x'.repeat(5_000_000)))
  expect(sent.map((frame) => frame.length > 5_000_000)).toEqual([false, true])
  expect(transport).not.toHaveProperty('closedWith')
})

test('[L12] F-17: messages that were read earlier do not raise the bound', () => {
  const { transport, drain } = unreadTransport()
  const outbox = new Outbox(transport, testWorld())
  for (let i = 0; i < 100; i++) {
    outbox.deliver(delta(0, 'x'.repeat(200_000)))
    drain()
  }
  outbox.send('x'.repeat(300_000))
  for (let i = 0; i < 6; i++) outbox.notify('y'.repeat(1_000_000))
  expect(transport).toMatchObject({ closedWith: 1013 })
})
