import { describe, expect, test } from 'vitest'
import { untilIdle } from '../../../host/test/held-flushes.ts'
import { uri, state, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import { TestClient, ScriptedHost } from '../../test/host-and-clients.ts'

describe('[U2] order', () => {
  test('[U2.1] actions that overtake the snapshot are held; those that it contains are skipped', async () => {
    const { host, client } = await subscribedClient()
    const other = client.subscribe('chat', 'ahp-chat:/two')
    const { id } = await host.request('subscribe', 1)
    host.sendAction('ahp-chat:/two', 11, draft('eleven'))
    host.sendAction('ahp-chat:/two', 12, draft('twelve'))
    await untilIdle()
    expect(other.state).toBeUndefined()
    host.send({
      id,
      result: {
        snapshot: {
          resource: 'ahp-chat:/two',
          fromSeq: 11,
          state: { ...state, draft: draft('eleven').draft },
        },
      },
    })
    expect((await other.ready()).draft?.text).toBe('twelve')
    expect(client.problems).toEqual([])
  })

  test('an action that arrives after a snapshot that contains it is skipped without a problem', async () => {
    const { host, client, chat } = await subscribedClient()
    host.sendAction(uri, 9, draft('nine'))
    host.sendAction(uri, 11, draft('eleven'))
    await chat.until((now) => now.draft?.text === 'eleven')
    expect(client.problems).toEqual([])
  })

  test('[U2.1] actions that overtake the response to initialize are held; a channel without a snapshot is fetched', async () => {
    const host = new ScriptedHost()
    const client = new TestClient(host.open)
    const [chat, other] = [client.subscribe('chat', uri), client.subscribe('chat', 'ahp-chat:/two')]
    client.connect()
    await host.request('initialize')
    host.sendAction(uri, 11, draft('eleven'))
    await host.respond('initialize', { protocolVersion: '1.0.0', serverSeq: 10, snapshots: [snapshot(10)] })
    await chat.until((now) => now.draft?.text === 'eleven')
    expect((await host.request('subscribe')).params).toMatchObject({ channel: 'ahp-chat:/two' })
    await host.respond('subscribe', { snapshot: { resource: 'ahp-chat:/two', fromSeq: 11, state } })
    await other.ready()
    expect(client.problems).toEqual([])
  })

  test('[U2.1] an action held for a response that never came is replayed over the next link, once', async () => {
    const { host, client, chat } = await subscribedClient()
    host.cut()
    client.clock.advance(60_000)
    await host.request('reconnect')
    host.sendAction(uri, 12, draft('early'))
    await untilIdle()
    host.cut()
    client.clock.advance(60_000)
    const { params } = await host.request('reconnect', 1)
    expect(params['lastSeenServerSeq']).toBe(10)
    const missed = { channel: uri, serverSeq: 12, action: draft('early') }
    await host.respond('reconnect', { type: 'replay', actions: [missed], missing: [] }, 1)
    await chat.until(({ draft: shown }) => shown?.text === 'early')
    expect([chat.seq, chat.status, client.problems.filter(({ kind }) => kind !== 'link')]).toEqual([
      12,
      'open',
      [],
    ])
  })

  test('actions that overtake the response to reconnect are applied after the replay', async () => {
    const { host, client, chat } = await subscribedClient()
    host.cut()
    await untilIdle()
    client.clock.advance(1_000)
    await host.request('reconnect')
    host.sendAction(uri, 13, draft('thirteen'))
    const missed = { channel: uri, serverSeq: 12, action: draft('twelve') }
    await host.respond('reconnect', { type: 'replay', actions: [missed], missing: [] })
    await chat.until((now) => now.draft?.text === 'thirteen')
    expect(client.problems.filter(({ kind }) => kind !== 'link')).toEqual([])
  })

  test('[U2.2] pending actions are sent over a new link before those dispatched by its listeners', async () => {
    const { host, client, chat } = await subscribedClient()
    void chat.dispatch(draft('first') as never)
    host.cut()
    await untilIdle()
    void chat.dispatch(draft('second') as never)
    client.onLink(({ state: link }) => void (link === 'live' && chat.dispatch(draft('third') as never)))
    client.clock.advance(1_000)
    await host.respond('reconnect', { type: 'replay', actions: [], missing: [] })
    await untilIdle()
    const sent = host.received
      .filter(({ method }) => method === 'dispatchAction')
      .map(({ params }) => params as unknown)
    expect(sent.map((one) => (one as { action: { draft: { text: string } } }).action.draft.text)).toEqual([
      'first',
      'first',
      'second',
      'third',
    ])
    expect(chat.state?.draft?.text).toBe('third')
  })
})
