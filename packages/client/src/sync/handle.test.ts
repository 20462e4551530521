import { describe, expect, test } from 'vitest'
import { untilIdle } from '../../../host/test/held-flushes.ts'
import { uri, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'

describe('[U3] [U3.2] listeners are called', () => {
  test('when the link is lost, and when it is live again', async () => {
    const { host, client, chat } = await subscribedClient()
    const seen: string[] = []
    chat.onChange(() => seen.push(chat.status))
    host.cut()
    await untilIdle()
    expect(seen).toEqual(['stale'])
    client.clock.advance(1_000)
    await host.respond('reconnect', { type: 'replay', actions: [], missing: [] })
    await untilIdle()
    expect(seen.at(-1)).toBe('open')
  })

  test('and may dispatch during the call', async () => {
    const { host, client, chat } = await subscribedClient()
    host.cut()
    await untilIdle()
    let dispatched = false
    chat.onChange(() => {
      if (chat.status !== 'open' || dispatched) return
      dispatched = true
      void chat.dispatch(draft('back') as never)
    })
    client.clock.advance(1_000)
    await host.respond('reconnect', { type: 'replay', actions: [], missing: [] })
    await host.request('dispatchAction')
    expect(host.received.filter(({ method }) => method === 'dispatchAction')).toHaveLength(1)
  })

  test('[U3.1] when the client is closed; pending until and ready calls reject', async () => {
    const { client, chat } = await subscribedClient()
    const waiting = client.subscribe('chat', 'ahp-chat:/two').ready()
    client.close('enough')
    await expect(waiting).rejects.toThrow('enough')
    await expect(chat.until(() => false)).rejects.toThrow('enough')
    expect([chat.status, chat.state?.title]).toEqual(['gone', ''])
    await expect(client.subscribe('chat', 'ahp-chat:/three').ready()).rejects.toThrow('enough')
  })
})

describe('[U3] handles', () => {
  test.each(['replay', 'snapshot'])('released during a handshake are unsubscribed (%s)', async (type) => {
    const { host, client, chat } = await subscribedClient()
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    await host.request('reconnect')
    chat.release()
    await host.respond('reconnect', { type, actions: [], missing: [], snapshots: [snapshot(20)] })
    expect((await host.request('unsubscribe')).params).toEqual({ channel: uri })
  })

  test('released and taken again during a handshake are fetched, or are in the response', async () => {
    const { host, client, chat } = await subscribedClient()
    for (const [nth, type] of ['replay', 'snapshot'].entries()) {
      host.cut()
      await untilIdle()
      client.clock.advance(1_000)
      await host.request('reconnect', nth)
      if (nth === 0) chat.release()
      const again = client.subscribe('chat', uri)
      await host.respond('reconnect', { type, actions: [], missing: [], snapshots: [snapshot(20)] }, nth)
      if (nth === 0) await host.respond('subscribe', { snapshot: snapshot(20) }, 1)
      expect((await again.ready()).title).toBe('')
      expect(again.status).toBe('open')
    }
    const methods = host.received.map(({ method }) => method)
    expect(methods.filter((method) => method === 'unsubscribe')).toHaveLength(1)
    expect(methods.indexOf('unsubscribe')).toBeLessThan(methods.lastIndexOf('subscribe'))
  })

  test('share one subscription, which ends when the last is released', async () => {
    const { host, client, chat } = await subscribedClient()
    const second = client.subscribe('chat', uri)
    expect(second.state).toBe(chat.state)
    let calls = 0
    second.onChange(() => calls++)
    second.release()
    second.release()
    host.sendAction(uri, 11, draft('on'))
    await chat.until((now) => now.draft?.text === 'on')
    expect(calls).toBe(0)
    expect(host.received.some(({ method }) => method === 'unsubscribe')).toBe(false)
    const waiting = chat.until(() => false)
    chat.release()
    await expect(waiting).rejects.toThrow('released')
    await host.request('unsubscribe')
    expect(host.received.filter(({ method }) => method === 'subscribe')).toHaveLength(1)
  })

  test('[U3.1] on a missing channel reject; on a channel that has gone, pending actions are lost', async () => {
    const { host, client, chat } = await subscribedClient()
    const nothing = client.subscribe('chat', 'ahp-chat:/none')
    const { id } = await host.request('subscribe', 1)
    host.send({ id, error: { code: -32008, message: 'no such channel' } })
    await expect(nothing.ready()).rejects.toThrow('no such channel')
    expect(await nothing.dispatch(draft('x') as never)).toMatchObject({ outcome: 'refused' })
    const dispatched = chat.dispatch(draft('late') as never)
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    await host.respond('reconnect', { type: 'replay', actions: [], missing: [uri] })
    expect(await dispatched).toMatchObject({
      outcome: 'lost',
      reason: expect.stringContaining('cannot be used any more'),
    })
    expect([chat.status, chat.pending]).toEqual(['gone', []])
    expect(client.pending).toEqual([])
  })
})
