import { describe, expect, test } from 'vitest'
import { quiet } from '../../../host/test/held-flushes.ts'
import { uri, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'

describe('[U3] whoever looks is told', () => {
  test('when the link is gone, and when it is back', async () => {
    const { host, guest, chat } = await subscribedClient()
    const seen: string[] = []
    chat.onChange(() => seen.push(chat.status))
    host.cut()
    await quiet()
    expect(seen).toEqual(['stale'])
    guest.clock.advance(1_000)
    await host.answer('reconnect', { type: 'replay', actions: [], missing: [] })
    await quiet()
    expect(seen.at(-1)).toBe('open')
  })

  test('and may wish something in that moment', async () => {
    const { host, guest, chat } = await subscribedClient()
    host.cut()
    await quiet()
    let wished = false
    chat.onChange(() => {
      if (chat.status !== 'open' || wished) return
      wished = true
      void chat.dispatch(draft('back') as never)
    })
    guest.clock.advance(1_000)
    await host.answer('reconnect', { type: 'replay', actions: [], missing: [] })
    await host.asked('dispatchAction')
    expect(host.heard.filter(({ method }) => method === 'dispatchAction')).toHaveLength(1)
  })

  test('when nobody will ask any more, also who waits for a first state', async () => {
    const { guest, chat } = await subscribedClient()
    const waiting = guest.subscribe('chat', 'ahp-chat:/two').ready()
    guest.close('enough')
    await expect(waiting).rejects.toThrow('enough')
    await expect(chat.until(() => false)).rejects.toThrow('enough')
    expect([chat.status, chat.state?.title]).toEqual(['gone', ''])
    await expect(guest.subscribe('chat', 'ahp-chat:/three').ready()).rejects.toThrow('enough')
  })
})

describe('[U3] handles', () => {
  test.each(['replay', 'snapshot'])('released while a link is being greeted are left (%s)', async (type) => {
    const { host, guest, chat } = await subscribedClient()
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    await host.asked('reconnect')
    chat.release()
    await host.answer('reconnect', { type, actions: [], missing: [], snapshots: [snapshot(20)] })
    expect((await host.asked('unsubscribe')).params).toEqual({ channel: uri })
  })

  test('released and taken again while a link is being greeted are asked for, or are there', async () => {
    const { host, guest, chat } = await subscribedClient()
    for (const [nth, type] of ['replay', 'snapshot'].entries()) {
      host.cut()
      await quiet()
      guest.clock.advance(1_000)
      await host.asked('reconnect', nth)
      if (nth === 0) chat.release()
      const again = guest.subscribe('chat', uri)
      await host.answer('reconnect', { type, actions: [], missing: [], snapshots: [snapshot(20)] }, nth)
      if (nth === 0) await host.answer('subscribe', { snapshot: snapshot(20) }, 1)
      expect((await again.ready()).title).toBe('')
      expect(again.status).toBe('open')
    }
    const said = host.heard.map(({ method }) => method)
    expect(said.filter((method) => method === 'unsubscribe')).toHaveLength(1)
    expect(said.indexOf('unsubscribe')).toBeLessThan(said.lastIndexOf('subscribe'))
  })

  test('are counted: one subscription for all, left when the last is released', async () => {
    const { host, guest, chat } = await subscribedClient()
    const second = guest.subscribe('chat', uri)
    expect(second.state).toBe(chat.state)
    let told = 0
    second.onChange(() => told++)
    second.release()
    second.release()
    host.act(uri, 11, draft('on'))
    await chat.until((now) => now.draft?.text === 'on')
    expect(told).toBe(0)
    expect(host.heard.some(({ method }) => method === 'unsubscribe')).toBe(false)
    const waiting = chat.until(() => false)
    chat.release()
    await expect(waiting).rejects.toThrow('released')
    await host.asked('unsubscribe')
    expect(host.heard.filter(({ method }) => method === 'subscribe')).toHaveLength(1)
  })

  test('on what is not there say so; on what has gone, that what was pending is lost', async () => {
    const { host, guest, chat } = await subscribedClient()
    const nothing = guest.subscribe('chat', 'ahp-chat:/none')
    const { id } = await host.asked('subscribe', 1)
    host.say({ id, error: { code: -32008, message: 'no such channel' } })
    await expect(nothing.ready()).rejects.toThrow('no such channel')
    expect(await nothing.dispatch(draft('x') as never)).toMatchObject({ outcome: 'refused' })
    const wished = chat.dispatch(draft('late') as never)
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    await host.answer('reconnect', { type: 'replay', actions: [], missing: [uri] })
    expect(await wished).toMatchObject({ outcome: 'lost', reason: expect.stringContaining('gone') })
    expect([chat.status, chat.pending]).toEqual(['gone', []])
    expect(guest.pending).toEqual([])
  })
})
