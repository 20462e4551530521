import { describe, expect, test } from 'vitest'
import { untilIdle } from '../../../host/test/held-flushes.ts'
import { uri, begun, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import type { ScriptedHost } from '../../test/host-and-clients.ts'

describe('[U5] a faulty host', () => {
  /** Sends something wrong, answers the `subscribe` that must follow, and returns the reported problems. */
  async function healed(wrong: (host: ScriptedHost) => void) {
    const { host, client, chat } = await subscribedClient()
    wrong(host)
    const { id } = await host.request('subscribe', 1)
    expect(chat.status).toBe('stale')
    host.sendAction(uri, 29, draft('in the snapshot'))
    host.send({ id, result: { snapshot: snapshot(30, { draft: draft('true').draft }) } })
    await chat.until((now) => now.draft?.text === 'true')
    expect(chat.status).toBe('open')
    return client.problems.map(({ kind }) => kind)
  }

  test.each<[string, object]>([
    ['text for a turn that never began', { type: 'chat/delta', turnId: 't1', partId: 'p', content: 'x' }],
    ['the end of a turn that never began', { type: 'chat/turnComplete', turnId: 't1', duration: 1 }],
    [
      'a tool call that never began',
      { type: 'chat/toolCallReady', turnId: 't1', toolCallId: 'c', invocationMessage: '' },
    ],
  ])('[U5.1] a gap: %s', async (_, action) => {
    expect(await healed((host) => host.sendAction(uri, 11, action))).toEqual(['gap'])
  })

  test('a gap inside a turn: a part that never began', async () => {
    const wrong = (host: ScriptedHost) => {
      host.sendAction(uri, 11, begun)
      host.sendAction(uri, 12, { type: 'chat/delta', turnId: 't1', partId: 'lost', content: 'x' })
    }
    expect(await healed(wrong)).toEqual(['gap'])
  })

  test('[U5.1] an old number: the sequence began again', async () => {
    const wrong = (host: ScriptedHost) => {
      host.sendAction(uri, 12, draft('twelve'))
      host.sendAction(uri, 11, draft('eleven'))
    }
    expect(await healed(wrong)).toEqual(['old'])
  })

  test.each<[string, object]>([
    [
      'an action without its fields',
      { channel: uri, serverSeq: 11, action: { type: 'chat/draftChanged', draft: 5 } },
    ],
    ['a sequence number that is not a number', { channel: uri, serverSeq: '11', action: draft('x') }],
    ['an envelope without a channel', { serverSeq: 11, action: draft('x') }],
    ['no envelope at all', []],
  ])('[U5.1] malformed: %s', async (_, params) => {
    expect(await healed((host) => host.send({ method: 'action', params }))).toEqual(['malformed'])
  })

  test('an invalid channel is fetched after a lost link, and not replayed', async () => {
    const { host, client, chat } = await subscribedClient()
    host.sendAction(uri, 11, { type: 'chat/turnComplete', turnId: 'nobody', duration: 1 })
    await host.request('subscribe', 1)
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    expect((await host.request('reconnect')).params).toMatchObject({ subscriptions: [] })
    await host.respond('reconnect', { type: 'replay', actions: [], missing: [] })
    await host.respond('subscribe', { snapshot: snapshot(30, { draft: draft('true').draft }) }, 2)
    expect((await chat.until(() => chat.status === 'open')).draft?.text).toBe('true')
  })

  test('[U5.2] gets at most one subscribe request a second, however many wrong actions it sends', async () => {
    const { host, client } = await subscribedClient()
    const nonsense = { type: 'chat/turnComplete', turnId: 'nobody', duration: 1 }
    for (let n = 0; n < 50; n++) {
      host.sendAction(uri, 100 + n, nonsense)
      if (n === 0) await host.respond('subscribe', { snapshot: snapshot(100) }, 1)
      await untilIdle()
    }
    const asked = () => host.received.filter(({ method }) => method === 'subscribe').length
    expect(asked()).toBe(2)
    client.clock.advance(1_000)
    await host.request('subscribe', 2)
    expect(asked()).toBe(3)
  })

  test('unknown actions change nothing; unreadable frames are reported, and the link stays live', async () => {
    const { host, client, chat } = await subscribedClient()
    const before = chat.state
    host.sendAction(uri, 11, { type: 'chat/fromTheFuture', turnId: 'x' })
    host.sendAction('ahp-chat:/nobody-follows', 12, draft('x'))
    host.send({ method: 'root/fromTheFuture', params: {} })
    host.send({ id: 777, result: {} })
    host.sendRaw('{"jsonrpc":"2.0"')
    host.sendRaw('[]')
    host.sendAction(uri, 13, draft('after'))
    await chat.until((now) => now.draft?.text === 'after')
    expect(chat.state).not.toBe(before)
    expect(client.problems.map(({ kind }) => kind)).toEqual(['stray'])
    expect(client.link.state).toBe('live')
  })

  test('[U1.2] a listener that throws does not disturb others, and dispatch never throws', async () => {
    const { host, client, chat } = await subscribedClient()
    let calls = 0
    chat.onChange(() => {
      throw new Error('mine')
    })
    chat.onChange(() => calls++)
    host.sendAction(uri, 11, draft('on'))
    await chat.until((now) => now.draft?.text === 'on')
    expect(calls).toBeGreaterThan(0)
    expect(client.problems).toContainEqual({ kind: 'app', detail: 'mine' })
    const circle: Record<string, unknown> = { type: 'chat/draftChanged' }
    circle['draft'] = circle
    expect(await chat.dispatch(circle as never)).toMatchObject({ outcome: 'refused' })
  })

  test('a malformed state is not shown', async () => {
    const { host, client } = await subscribedClient()
    const other = client.subscribe('chat', 'ahp-chat:/two')
    await host.respond(
      'subscribe',
      { snapshot: { resource: 'ahp-chat:/two', fromSeq: 1, state: { turns: 5 } } },
      1,
    )
    await expect(other.ready()).rejects.toThrow(/state of ahp-chat:\/two/)
    expect(other.state).toBeUndefined()
  })
})
