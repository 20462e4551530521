import { limits } from '@atrium/protocol/limits'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { describe, expect, test } from 'vitest'
import { Client, testHost } from '../../test/test-host.ts'
import type { TestHost, TestHostOptions } from '../../test/test-host.ts'
import { rateExceeded } from './rate-limit.ts'

const session = 'ahp-session:/one'
const title = (text: string) => ({ type: 'session/titleChanged', title: text })

/**
 * A host with Ann in her session, and the transport of her connection. Her next message begins a new window of the rate
 * limit.
 */
async function oneClient(options: TestHostOptions = {}): Promise<TestHost & { ann: Client; far: Transport }> {
  const all = await testHost(options)
  const [, far] = all.wire()
  const ann = new Client(far)
  await ann.initialize('ann')
  await ann.ask('createSession', { channel: session })
  await ann.ask('subscribe', { channel: session })
  all.world.advance(limits.windowMs)
  return { ...all, ann, far }
}

/** A notification without effect, of a given length. */
const idle = (length = 0) => {
  const bare = '{"jsonrpc":"2.0","method":"x","params":[""]}'
  return bare.replace('""', `"${'x'.repeat(Math.max(0, length - bare.length))}"`)
}

const code = (asked: Promise<unknown>) =>
  asked.then(
    () => 0,
    (error: { code: number }) => error.code,
  )

describe('[H4] [S-22] messages', () => {
  const after = async (count: number) => {
    const all = await oneClient()
    for (let i = 1; i < count; i++) all.far.send(idle())
    return all
  }
  test('[S-57 messages] at 40,000: a request is answered', async () => {
    const { ann } = await after(40_000)
    expect(await code(ann.ask('listSessions', {}))).toBe(0)
  })
  test('[H4.2] [S-57 messages] past 40,000: it is answered with an error, and the connection stays open', async () => {
    const { ann, world } = await after(40_001)
    await expect(ann.ask('listSessions', {})).rejects.toMatchObject({ code: -32009, message: rateExceeded })
    expect(await ann.ask('ping', {})).toBeNull()
    world.advance(limits.windowMs)
    expect(await code(ann.ask('listSessions', {}))).toBe(0)
  })
})

describe('[H4] [S-22] characters', () => {
  const ask = (far: Transport, length: number) => {
    const bare =
      '{"jsonrpc":"2.0","id":"q","method":"listSessions","params":{"channel":"ahp-root://"},"_":""}'
    far.send(bare.replace('"_":""', `"_":"${'x'.repeat(length - bare.length)}"`))
  }
  const after = async (length: number) => {
    const all = await oneClient()
    const [near, far] = all.wire()
    const got: string[] = []
    far.receive((frame) => got.push(frame))
    const open = { protocolVersions: ['1.0.0'], clientId: 'raw' }
    far.send(JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: open }))
    while (got.length === 0) await all.ann.ask('ping', {})
    all.world.advance(limits.windowMs)
    for (let i = 0; i < 8; i++) far.send(idle(4_000_000))
    ask(far, length - 8 * 4_000_000)
    while (got.length === 1) await new Promise((resolve) => setImmediate(resolve))
    expect(near.closed.aborted).toBe(false)
    return got[1]
  }
  test('[S-57 messageLength] at 33,554,432: a request is answered', async () =>
    expect(await after(33_554_432)).toContain('"result"'))
  test('[S-57 messageLength] past 33,554,432: it is answered with an error', async () =>
    expect(await after(33_554_433)).toContain('too fast'))
})

describe('[H4] S-22: pings have a limit of their own', () => {
  const ping = '{"jsonrpc":"2.0","method":"ping","id":0}'
  const after = async (count: number) => {
    const all = await oneClient()
    for (let i = 1; i < count; i++) all.far.send(ping)
    return all
  }
  test('[S-57 pings] at 20,000: one is answered', async () => {
    const { ann } = await after(20_000)
    expect(await code(ann.ask('ping', {}))).toBe(0)
  })
  test('[S-57 pings] past 20,000: a ping is answered with an error, and other requests are not', async () => {
    const { ann } = await after(20_001)
    expect(await code(ann.ask('ping', {}))).toBe(-32009)
    expect(await code(ann.ask('listSessions', {}))).toBe(0)
  })
  test('and do not count as messages', async () => {
    const { ann, far } = await oneClient({ limits: { messages: 10 } })
    for (let i = 0; i < 100; i++) far.send(ping)
    expect(await code(ann.ask('listSessions', {}))).toBe(0)
  })
  test('twice as many: the connection is closed', async () => {
    const { ann } = await after(40_002)
    ann.peer.notify('x', {})
    await ann.until(() => ann.peer.closed.aborted)
  })
})

describe('[H4] [H4.1] S-22: a window', () => {
  const limits3 = { messages: 3 }
  test('[S-57 windowMs] at 4,000: a new one begins', async () => {
    const { ann, far, world } = await oneClient({ limits: limits3 })
    for (let i = 0; i < 3; i++) far.send(idle())
    await ann.ask('ping', {})
    world.advance(4000)
    expect(await code(ann.ask('listSessions', {}))).toBe(0)
  })
  test('[S-57 windowMs] past 4,000: a window lasts 4,000 ms from its first message, neither less nor more', async () => {
    const { ann, far, world } = await oneClient({ limits: limits3 })
    far.send(idle())
    await ann.ask('ping', {})
    world.advance(3999)
    for (let i = 0; i < 2; i++) far.send(idle())
    expect(await code(ann.ask('listSessions', {}))).toBe(-32009)
    world.advance(2)
    expect(await code(ann.ask('listSessions', {}))).toBe(0)
  })
})

describe('[H4] [H4.3] S-22: reports about a connection', () => {
  const after = async (count: number) => {
    const { ann, far, world } = await oneClient()
    for (let i = 0; i < count; i++) far.send('{"jsonrpc":"2.0","method":"dispatchAction"}')
    await ann.ask('listSessions', {})
    const { length } = world.reports
    world.advance(limits.windowMs)
    far.send('{"jsonrpc":"2.0","method":"dispatchAction"}')
    await ann.ask('listSessions', {})
    return [length, world.reports.length - length]
  }
  test('[S-57 reports] at 100: each is made', async () => expect(await after(100)).toEqual([100, 1]))
  test('[S-57 reports] past 100: no more, until the next window', async () =>
    expect(await after(20_000)).toEqual([100, 1]))
})

test('[H4] [H4.2] S-22, I5: a dispatch over the rate limit is refused, in order, and none is dropped silently', async () => {
  const { ann } = await oneClient({ limits: { messages: 10 } })
  const seqs = Array.from({ length: 20 }, (_, i) => ann.dispatch(session, title(`${i}`)))
  await ann.echo(seqs[19] ?? 0)
  expect(ann.envelopes.map(({ origin }) => origin?.clientSeq)).toEqual(seqs)
  expect(ann.envelopes.map(({ rejectionReason }) => rejectionReason)).toEqual(
    seqs.map((_, i) => (i < 10 ? undefined : rateExceeded)),
  )
  expect(ann.state(session)).toMatchObject({ title: '9' })
})

test('[H4] S-22: a dispatch over the rate limit to a sleeping channel is refused, too', async () => {
  const { ann, far, world } = await oneClient({ limits: { messages: 10 } })
  ann.peer.notify('unsubscribe', { channel: session })
  await ann.ask('ping', {})
  world.advance(60_000)
  for (let i = 0; i < 10; i++) far.send(idle())
  expect(await ann.echo(ann.dispatch(session, title('x')))).toMatchObject({ rejectionReason: rateExceeded })
})

test('[H4] [H4.2] S-22: a client over the rate limit can still unsubscribe', async () => {
  const { ann, far, core } = await oneClient({ limits: { messages: 10 } })
  for (let i = 0; i < 10; i++) far.send(idle())
  ann.peer.notify('unsubscribe', { channel: session })
  await ann.ask('ping', {})
  expect(core().log.channel(session)?.listeners.size).toBe(0)
})

test.each([
  ['messages', 21, () => idle()],
  ['frames that are no JSON', 21, () => '{'],
  ['frames that are no message', 21, () => '[]'],
  ['characters', 3, () => idle(1000)],
])(
  '[H4] [H4.3] [H4.4] S-22: a connection with %s beyond twice the limit is closed with 1008',
  async (_, count, frame) => {
    // All frames are processed in one round.
    const all = await oneClient({ limits: { messages: 10, messageLength: 1000, sharedRoundLength: 65_536 } })
    const [near, far] = all.wire()
    const codes: (number | undefined)[] = []
    const { close } = near
    near.close = (given, reason) => {
      codes.push(given)
      close.call(near, given, reason)
    }
    far.receive(() => {})
    for (let i = 1; i < count; i++) far.send(frame())
    await all.ann.ask('ping', {})
    expect(codes).toEqual([])
    far.send(frame())
    await all.ann.ask('ping', {})
    expect(codes).toEqual([1008])
    expect(near.closed.aborted).toBe(true)
  },
)

test('[H4] [F-18] while one client floods, accepted actions reach all, and another client is answered each time', async () => {
  const all = await oneClient({ limits: { messages: 3000 } })
  const { ann, join } = all
  const ben = await join('ben', { subscribe: [session] })
  const flood = Array.from({ length: 5900 }, (_, i) => ann.dispatch(session, title(`flood ${i}`)))
  const work = Array.from({ length: 50 }, (_, i) => `work ${i}`)
  for (const text of work)
    expect((await ben.echo(ben.dispatch(session, title(text)))).rejectionReason).toBeUndefined()
  await ann.until(() => ann.envelopes.length === flood.length + work.length)
  const accepted = ann.envelopes.filter(
    ({ origin, rejectionReason }) => origin?.clientId === 'ann' && !rejectionReason,
  )
  expect(accepted).toHaveLength(3000)
  const received = ben.envelopes.filter(({ origin }) => origin?.clientId === 'ann')
  expect(received.map(({ serverSeq }) => serverSeq)).toEqual(accepted.map(({ serverSeq }) => serverSeq))
  await all.restart('crash')
  const cem = await all.join('cem', { subscribe: [session] })
  expect(cem.state(session)).toEqual(ben.state(session))
})

test('[H4] the limit allows a burst of 5,000 and 2,000 a second', async () => {
  const { ann, world } = await oneClient()
  for (let second = 0; second < 5; second++) {
    const count = second === 0 ? 5000 : 2000
    const before = ann.envelopes.length
    for (let i = 0; i < count; i++) ann.dispatch(session, title(`${second} ${i}`))
    await ann.until(() => ann.envelopes.length === before + count)
    world.advance(1000)
  }
  expect(ann.envelopes.some(({ rejectionReason }) => rejectionReason !== undefined)).toBe(false)
})
