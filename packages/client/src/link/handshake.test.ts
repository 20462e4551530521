import { describe, expect, test } from 'vitest'
import { quiet } from '../../../host/test/held-flushes.ts'
import { uri, state, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import type { ScriptedHost } from '../../test/host-and-clients.ts'

describe('[U4] by number comes back what is known to be true up to it, and nothing else', () => {
  /** The host has lost its memory, or begins anew, and hands over nothing by itself; the client asks, and is cut off. */
  const cases: [string, (host: ScriptedHost) => Promise<void>][] = [
    [
      'after a handshake anew',
      async (host) => {
        const { id } = await host.asked('reconnect')
        host.say({ id, error: { code: -32008, message: 'unknown' } })
        await host.answer('initialize', { protocolVersion: '1.0.0', serverSeq: 90, snapshots: [] }, 1)
      },
    ],
    [
      'after snapshots of other channels',
      async (host) => {
        const other = {
          resource: 'ahp-chat:/two',
          fromSeq: 90,
          state: { ...state, resource: 'ahp-chat:/two' },
        }
        await host.answer('reconnect', { type: 'snapshot', snapshots: [other] })
      },
    ],
  ]
  test.each(cases)('%s', async (_, begin) => {
    const { host, guest, chat } = await subscribedClient()
    const two = guest.subscribe('chat', 'ahp-chat:/two', { view: { turns: 1 } })
    await host.answer('subscribe', { snapshot: { ...snapshot(10), resource: two.uri } }, 1)
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    await begin(host)
    await host.asked('subscribe', 2)
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    const { params } = await host.asked('reconnect', 1)
    expect(params['subscriptions']).not.toContain(chat.uri)
  })

  test('what is being asked for again because it was wrong', async () => {
    const { host, guest } = await subscribedClient()
    host.act(uri, 11, { type: 'chat/delta', turnId: 'none', partId: 'none', content: 'x' })
    await host.asked('subscribe', 1)
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    expect((await host.asked('reconnect')).params['subscriptions']).toEqual([])
  })

  test('what was gone: who wants it again asks for it', async () => {
    const { host, guest, chat } = await subscribedClient()
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    await host.answer('reconnect', { type: 'replay', actions: [], missing: [uri] })
    await quiet()
    expect(chat.status).toBe('gone')
    const again = guest.subscribe('chat', uri)
    await host.answer('subscribe', { snapshot: snapshot(20) }, 1)
    expect((await again.ready()).title).toBe('')
    expect([chat.status, again.status]).toEqual(['gone', 'open'])
    chat.release()
    await quiet()
    expect(host.heard.some(({ method }) => method === 'unsubscribe')).toBe(false)
  })
})
