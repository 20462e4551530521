import { describe, expect, test } from 'vitest'
import { quiet } from '../../../host/test/held-flushes.ts'
import { uri, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import { TestClient, ScriptedHost } from '../../test/host-and-clients.ts'

describe('[U4] coming back', () => {
  test('to a host that does not know resends: what it may have is lost, what it never had is sent', async () => {
    const { host, guest, chat } = await subscribedClient(false)
    const maybe = chat.dispatch(draft('maybe') as never)
    host.cut()
    await quiet()
    const never = chat.dispatch(draft('never sent') as never)
    guest.clock.advance(1_000)
    await host.answer('reconnect', { type: 'replay', actions: [], missing: [] })
    expect(await maybe).toMatchObject({ outcome: 'lost' })
    expect(chat.pending).toHaveLength(1)
    const { params } = await host.asked('dispatchAction', 1)
    expect(params).toMatchObject({ clientSeq: 2 })
    host.act(uri, 12, draft('never sent'), { origin: { clientId: 'guest', clientSeq: 2 } })
    expect(await never).toEqual({ outcome: 'accepted', serverSeq: 12 })
  })

  test('what was accepted before the cut and is in a snapshot is accepted, not refused', async () => {
    const { host, guest, chat } = await subscribedClient()
    const wished = chat.dispatch(draft('mine') as never)
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    await host.answer('reconnect', {
      type: 'snapshot',
      snapshots: [snapshot(20, { draft: draft('mine').draft })],
    })
    await host.asked('dispatchAction', 1)
    host.act(uri, 21, draft('mine'), {
      origin: { clientId: 'guest', clientSeq: 1 },
      rejectionReason: 'already accepted as 15',
    })
    expect(await wished).toEqual({ outcome: 'accepted', serverSeq: 15 })
    expect(chat.state).toEqual(chat.confirmed)
  })

  test('a host that has forgotten it is greeted anew on the same link; numbers may begin again', async () => {
    const { host, guest, chat } = await subscribedClient()
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    const { id } = await host.asked('reconnect')
    host.say({ id, error: { code: -32008, message: 'unknown client' } })
    await host.answer('initialize', { protocolVersion: '1.0.0', serverSeq: 2, snapshots: [snapshot(2)] }, 1)
    await quiet()
    expect(guest.links).toBe(2)
    host.act(uri, 3, draft('three'))
    await chat.until((now) => now.draft?.text === 'three')
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    expect((await host.asked('reconnect', 1)).params).toMatchObject({ lastSeenServerSeq: 3 })
  })

  test('silence is asked about, doubted, and ended; a word in between is enough', async () => {
    const { host, guest, chat } = await subscribedClient()
    // What came with the handshake counts for the first five seconds.
    guest.clock.advance(10_000)
    await host.asked('ping')
    guest.clock.advance(5_000)
    expect(guest.link.state).toBe('stale')
    host.act(uri, 11, draft('here'))
    await chat.until((now) => now.draft?.text === 'here')
    expect(guest.link.state).toBe('live')
    guest.clock.advance(20_000)
    await host.asked('ping', 1)
    guest.clock.advance(20_000)
    await host.asked('reconnect')
    expect(guest.links).toBe(2)
  })

  test('a version that nobody shares ends it for good, with the reason', async () => {
    const host = new ScriptedHost()
    const guest = new TestClient(host.open)
    guest.connect()
    const { id } = await host.asked('initialize')
    const asking = guest.ask('ping', {})
    host.say({ id, error: { code: -32005, message: 'this client is too new' } })
    await expect(asking).rejects.toThrow('too new')
    expect(guest.link).toMatchObject({ state: 'closed', reason: 'this client is too new' })
    expect(await guest.dispatch(uri, draft('x'))).toMatchObject({ outcome: 'lost' })
  })
})
