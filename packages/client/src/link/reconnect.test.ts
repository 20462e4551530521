import { describe, expect, test } from 'vitest'
import { untilIdle } from '../../../host/test/held-flushes.ts'
import { uri, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import { TestClient, ScriptedHost } from '../../test/host-and-clients.ts'

describe('[U4] a reconnecting client', () => {
  test('[U1.2] [U4.3] of a host without resends: an action that was sent is lost, one that was not is sent', async () => {
    const { host, client, chat } = await subscribedClient(false)
    const maybe = chat.dispatch(draft('maybe') as never)
    host.cut()
    await untilIdle()
    const never = chat.dispatch(draft('never sent') as never)
    client.clock.advance(1_000)
    await host.respond('reconnect', { type: 'replay', actions: [], missing: [] })
    expect(await maybe).toMatchObject({ outcome: 'lost' })
    expect(chat.pending).toHaveLength(1)
    const { params } = await host.request('dispatchAction', 1)
    expect(params).toMatchObject({ clientSeq: 2 })
    host.sendAction(uri, 12, draft('never sent'), { origin: { clientId: 'client', clientSeq: 2 } })
    expect(await never).toEqual({ outcome: 'accepted', serverSeq: 12 })
  })

  test('[U4.3] whose action was accepted before the cut, and is in the snapshot, gets it accepted, not refused', async () => {
    const { host, client, chat } = await subscribedClient()
    const dispatched = chat.dispatch(draft('mine') as never)
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    await host.respond('reconnect', {
      type: 'snapshot',
      snapshots: [snapshot(20, { draft: draft('mine').draft })],
    })
    await host.request('dispatchAction', 1)
    host.sendAction(uri, 21, draft('mine'), {
      origin: { clientId: 'client', clientSeq: 1 },
      rejectionReason: 'already accepted as 15',
    })
    expect(await dispatched).toEqual({ outcome: 'accepted', serverSeq: 15 })
    expect(chat.state).toEqual(chat.confirmed)
  })

  test('[U4.1] that the host has forgotten sends initialize on the same link; numbers may begin again', async () => {
    const { host, client, chat } = await subscribedClient()
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    const { id } = await host.request('reconnect')
    host.send({ id, error: { code: -32008, message: 'unknown client' } })
    await host.respond('initialize', { protocolVersion: '1.0.0', serverSeq: 2, snapshots: [snapshot(2)] }, 1)
    await untilIdle()
    expect(client.links).toBe(2)
    host.sendAction(uri, 3, draft('three'))
    await chat.until((now) => now.draft?.text === 'three')
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    expect((await host.request('reconnect', 1)).params).toMatchObject({ lastSeenServerSeq: 3 })
  })

  test('[U4.2] pings a silent host, becomes stale, then reconnects; any frame makes it live again', async () => {
    const { host, client, chat } = await subscribedClient()
    // The frames of the handshake count as activity in the first five seconds.
    client.clock.advance(10_000)
    await host.request('ping')
    client.clock.advance(5_000)
    expect(client.link.state).toBe('stale')
    host.sendAction(uri, 11, draft('here'))
    await chat.until((now) => now.draft?.text === 'here')
    expect(client.link.state).toBe('live')
    client.clock.advance(20_000)
    await host.request('ping', 1)
    client.clock.advance(20_000)
    await host.request('reconnect')
    expect(client.links).toBe(2)
  })

  test('[U4.4] without a common version is closed for good, with the reason', async () => {
    const host = new ScriptedHost()
    const client = new TestClient(host.open)
    client.connect()
    const { id } = await host.request('initialize')
    const asking = client.ask('ping', {})
    host.send({ id, error: { code: -32005, message: 'this client is too new' } })
    await expect(asking).rejects.toThrow('too new')
    expect(client.link).toMatchObject({ state: 'closed', reason: 'this client is too new' })
    expect(await client.dispatch(uri, draft('x'))).toMatchObject({ outcome: 'lost' })
  })
})

describe('[U14] a client that wakes', () => {
  test('replaces a dead link at once, gets what it missed, and sends what was pending', async () => {
    const { host, client, chat } = await subscribedClient()
    const dispatched = chat.dispatch(draft('mine') as never)
    // The host does not answer: this end of the link cannot see that the other one is gone.
    client.wake()
    expect(client.link).toMatchObject({ state: 'stale', reason: 'the link is being replaced' })
    const missed = { channel: uri, action: draft('theirs'), serverSeq: 11 }
    await host.respond('reconnect', { type: 'replay', actions: [missed], missing: [] })
    await untilIdle()
    expect(client.link.state).toBe('live')
    expect(client.links).toBe(2)
    expect(chat.confirmed?.draft?.text).toBe('theirs')
    await host.request('dispatchAction', 1)
    host.sendAction(uri, 12, draft('mine'), { origin: { clientId: 'client', clientSeq: 1 } })
    expect(await dispatched).toEqual({ outcome: 'accepted', serverSeq: 12 })
  })

  test('does not wait for the timer of its next attempt, and stays closed once it is closed', async () => {
    const { host, client } = await subscribedClient()
    host.cut()
    await untilIdle()
    expect(client.link.state).toBe('stale')
    client.wake()
    await host.respond('reconnect', { type: 'replay', actions: [], missing: [] })
    await untilIdle()
    expect(client.link.state).toBe('live')
    client.close()
    client.wake()
    await untilIdle()
    expect({ state: client.link.state, links: client.links }).toEqual({ state: 'closed', links: 2 })
  })
})
