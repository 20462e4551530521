import { describe, expect, test } from 'vitest'
import { quiet } from '../../../host/test/held-flushes.ts'
import { uri, begun, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import type { ScriptedHost } from '../../test/host-and-clients.ts'

describe('[U5] bad hosts', () => {
  /** Says something wrong, answers the question that must follow, and gives what is shown then. */
  async function mended(wrong: (host: ScriptedHost) => void) {
    const { host, guest, chat } = await subscribedClient()
    wrong(host)
    const { id } = await host.asked('subscribe', 1)
    expect(chat.status).toBe('stale')
    host.act(uri, 29, draft('in the snapshot'))
    host.say({ id, result: { snapshot: snapshot(30, { draft: draft('true').draft }) } })
    await chat.until((now) => now.draft?.text === 'true')
    expect(chat.status).toBe('open')
    return guest.problems.map(({ kind }) => kind)
  }

  test.each<[string, object]>([
    ['text for a turn that never began', { type: 'chat/delta', turnId: 't1', partId: 'p', content: 'x' }],
    ['the end of one', { type: 'chat/turnComplete', turnId: 't1', duration: 1 }],
    [
      'a tool call that nobody began',
      { type: 'chat/toolCallReady', turnId: 't1', toolCallId: 'c', invocationMessage: '' },
    ],
  ])('a gap: %s', async (_, action) => {
    expect(await mended((host) => host.act(uri, 11, action))).toEqual(['gap'])
  })

  test('a gap inside a turn: a part that is not there', async () => {
    const wrong = (host: ScriptedHost) => {
      host.act(uri, 11, begun)
      host.act(uri, 12, { type: 'chat/delta', turnId: 't1', partId: 'lost', content: 'x' })
    }
    expect(await mended(wrong)).toEqual(['gap'])
  })

  test('an old number: numbers that began again', async () => {
    const wrong = (host: ScriptedHost) => {
      host.act(uri, 12, draft('twelve'))
      host.act(uri, 11, draft('eleven'))
    }
    expect(await mended(wrong)).toEqual(['old'])
  })

  test.each<[string, object]>([
    [
      'an action without its fields',
      { channel: uri, serverSeq: 11, action: { type: 'chat/draftChanged', draft: 5 } },
    ],
    ['a number that is none', { channel: uri, serverSeq: '11', action: draft('x') }],
    ['an envelope of no channel', { serverSeq: 11, action: draft('x') }],
    ['no envelope at all', []],
  ])('malformed: %s', async (_, params) => {
    expect(await mended((host) => host.say({ method: 'action', params }))).toEqual(['malformed'])
  })

  test('what is doubted when the link is cut is not made up by a replay', async () => {
    const { host, guest, chat } = await subscribedClient()
    host.act(uri, 11, { type: 'chat/turnComplete', turnId: 'nobody', duration: 1 })
    await host.asked('subscribe', 1)
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    expect((await host.asked('reconnect')).params).toMatchObject({ subscriptions: [] })
    await host.answer('reconnect', { type: 'replay', actions: [], missing: [] })
    await host.answer('subscribe', { snapshot: snapshot(30, { draft: draft('true').draft }) }, 2)
    expect((await chat.until(() => chat.status === 'open')).draft?.text).toBe('true')
  })

  test('is asked at most once a second, however much nonsense comes', async () => {
    const { host, guest } = await subscribedClient()
    const nonsense = { type: 'chat/turnComplete', turnId: 'nobody', duration: 1 }
    for (let n = 0; n < 50; n++) {
      host.act(uri, 100 + n, nonsense)
      if (n === 0) await host.answer('subscribe', { snapshot: snapshot(100) }, 1)
      await quiet()
    }
    const asked = () => host.heard.filter(({ method }) => method === 'subscribe').length
    expect(asked()).toBe(2)
    guest.clock.advance(1_000)
    await host.asked('subscribe', 2)
    expect(asked()).toBe(3)
  })

  test('what it does not know changes nothing; what is no message is said, and the link lives', async () => {
    const { host, guest, chat } = await subscribedClient()
    const before = chat.state
    host.act(uri, 11, { type: 'chat/fromTheFuture', turnId: 'x' })
    host.act('ahp-chat:/nobody-follows', 12, draft('x'))
    host.say({ method: 'root/fromTheFuture', params: {} })
    host.say({ id: 777, result: {} })
    host.raw('{"jsonrpc":"2.0"')
    host.raw('[]')
    host.act(uri, 13, draft('after'))
    await chat.until((now) => now.draft?.text === 'after')
    expect(chat.state).not.toBe(before)
    expect(guest.problems.map(({ kind }) => kind)).toEqual(['stray'])
    expect(guest.link.state).toBe('live')
  })

  test('a listener that throws hurts no other, and nothing is thrown at whoever dispatches', async () => {
    const { host, guest, chat } = await subscribedClient()
    let told = 0
    chat.onChange(() => {
      throw new Error('mine')
    })
    chat.onChange(() => told++)
    host.act(uri, 11, draft('on'))
    await chat.until((now) => now.draft?.text === 'on')
    expect(told).toBeGreaterThan(0)
    expect(guest.problems).toContainEqual({ kind: 'app', detail: 'mine' })
    const circle: Record<string, unknown> = { type: 'chat/draftChanged' }
    circle['draft'] = circle
    expect(await chat.dispatch(circle as never)).toMatchObject({ outcome: 'refused' })
  })

  test('a state that cannot be read is not shown', async () => {
    const { host, guest } = await subscribedClient()
    const other = guest.subscribe('chat', 'ahp-chat:/two')
    await host.answer(
      'subscribe',
      { snapshot: { resource: 'ahp-chat:/two', fromSeq: 1, state: { turns: 5 } } },
      1,
    )
    await expect(other.ready()).rejects.toThrow(/state of ahp-chat:\/two/)
    expect(other.state).toBeUndefined()
  })
})
