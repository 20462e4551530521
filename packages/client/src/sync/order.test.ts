import { describe, expect, test } from 'vitest'
import { quiet } from '../../../host/test/held-flushes.ts'
import { uri, state, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import { TestClient, ScriptedHost } from '../../test/host-and-clients.ts'

describe('[U2] order', () => {
  test('what overtakes the answer waits for it, and what the snapshot has in it is skipped', async () => {
    const { host, guest } = await subscribedClient()
    const other = guest.subscribe('chat', 'ahp-chat:/two')
    const { id } = await host.asked('subscribe', 1)
    host.act('ahp-chat:/two', 11, draft('eleven'))
    host.act('ahp-chat:/two', 12, draft('twelve'))
    await quiet()
    expect(other.state).toBeUndefined()
    host.say({
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
    expect(guest.problems).toEqual([])
  })

  test('what a snapshot overtook is skipped when it comes at last, and nobody minds', async () => {
    const { host, guest, chat } = await subscribedClient()
    host.act(uri, 9, draft('nine'))
    host.act(uri, 11, draft('eleven'))
    await chat.until((now) => now.draft?.text === 'eleven')
    expect(guest.problems).toEqual([])
  })

  test('what overtakes the answer to a greeting waits too, and what that has no snapshot of is asked for', async () => {
    const host = new ScriptedHost()
    const guest = new TestClient(host.open)
    const [chat, other] = [guest.subscribe('chat', uri), guest.subscribe('chat', 'ahp-chat:/two')]
    guest.connect()
    await host.asked('initialize')
    host.act(uri, 11, draft('eleven'))
    await host.answer('initialize', { protocolVersion: '1.0.0', serverSeq: 10, snapshots: [snapshot(10)] })
    await chat.until((now) => now.draft?.text === 'eleven')
    expect((await host.asked('subscribe')).params).toMatchObject({ channel: 'ahp-chat:/two' })
    await host.answer('subscribe', { snapshot: { resource: 'ahp-chat:/two', fromSeq: 11, state } })
    await other.ready()
    expect(guest.problems).toEqual([])
  })

  test('what came before an answer that never came comes again on the next link, and is heard once', async () => {
    const { host, guest, chat } = await subscribedClient()
    host.cut()
    guest.clock.advance(60_000)
    await host.asked('reconnect')
    host.act(uri, 12, draft('early'))
    await quiet()
    host.cut()
    guest.clock.advance(60_000)
    const { params } = await host.asked('reconnect', 1)
    expect(params['lastSeenServerSeq']).toBe(10)
    const missed = { channel: uri, serverSeq: 12, action: draft('early') }
    await host.answer('reconnect', { type: 'replay', actions: [missed], missing: [] }, 1)
    await chat.until(({ draft: shown }) => shown?.text === 'early')
    expect([chat.seq, chat.status, guest.problems.filter(({ kind }) => kind !== 'link')]).toEqual([
      12,
      'open',
      [],
    ])
  })

  test('what overtakes the answer to a return comes behind what was missed', async () => {
    const { host, guest, chat } = await subscribedClient()
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    await host.asked('reconnect')
    host.act(uri, 13, draft('thirteen'))
    const missed = { channel: uri, serverSeq: 12, action: draft('twelve') }
    await host.answer('reconnect', { type: 'replay', actions: [missed], missing: [] })
    await chat.until((now) => now.draft?.text === 'thirteen')
    expect(guest.problems.filter(({ kind }) => kind !== 'link')).toEqual([])
  })

  test('what was wished goes over a new link before what is wished when it is there', async () => {
    const { host, guest, chat } = await subscribedClient()
    void chat.dispatch(draft('first') as never)
    host.cut()
    await quiet()
    void chat.dispatch(draft('second') as never)
    guest.onLink(({ state: link }) => void (link === 'live' && chat.dispatch(draft('third') as never)))
    guest.clock.advance(1_000)
    await host.answer('reconnect', { type: 'replay', actions: [], missing: [] })
    await quiet()
    const said = host.heard
      .filter(({ method }) => method === 'dispatchAction')
      .map(({ params }) => params as unknown)
    expect(said.map((wish) => (wish as { action: { draft: { text: string } } }).action.draft.text)).toEqual([
      'first',
      'first',
      'second',
      'third',
    ])
    expect(chat.state?.draft?.text).toBe('third')
  })
})
