import { defaultChatUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { quiet } from '../../../host/test/held-flushes.ts'
import { uri, draft, snapshot, subscribedClient } from '../../test/subscribed-client.ts'
import { TestClient, ScriptedHost } from '../../test/host-and-clients.ts'
import { hostAndClients } from '../../test/host-and-clients.ts'
import { trusting } from '../shared/check.ts'

test('[U2] what is asked goes before what is wished behind it', async () => {
  const { host, guest } = await subscribedClient()
  void guest.ask('createSession', { channel: 'ahp-session:/new' }).catch(() => {})
  void guest.dispatch('ahp-session:/new', { type: 'session/titleChanged', title: 'x' } as never)
  await quiet()
  expect(host.heard.slice(-2).map(({ method }) => method)).toEqual(['createSession', 'dispatchAction'])
})

describe('[U1] what no host would look at is refused before it is sent, and not for ever after', () => {
  const config = (value: unknown) => ({ type: 'root/configChanged', config: value })
  const deep = (levels: number): object => (levels === 0 ? {} : { value: deep(levels - 1) })
  test.each([
    ['a key that no frame may have', config(JSON.parse('{"__proto__":1}')), /__proto__/],
    ['too deep', config(deep(64)), /deeper/],
    ['too many keys', config(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [n, n]))), /keys/],
    ['too long', config({ text: 'x'.repeat(4_194_304) }), /longer/],
    ['too long in bytes', config({ text: '€'.repeat(1_400_000) }), /longer/],
    ['no type', { config: {} }, /type/],
    ['nothing', null, /type/],
  ])('%s', async (_, action, reason) => {
    const { host, guest } = await subscribedClient()
    const said = host.heard.length
    const outcome = await guest.dispatch('ahp-root://', action as never)
    expect(outcome).toEqual({ outcome: 'refused', reason: expect.stringMatching(reason) })
    expect(guest.pending).toEqual([])
    await quiet()
    expect(host.heard).toHaveLength(said)
  })

  test('a wrong shape, also where nobody follows the channel yet', async () => {
    const { guest } = await subscribedClient()
    const outcome = await guest.dispatch('ahp-chat:/two', { type: 'chat/draftChanged', draft: 5 } as never)
    expect(outcome).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(/draft/) })
  })

  test('what cannot be reduced is sent where nothing is checked, and not shown', async () => {
    const host = new ScriptedHost()
    const guest = new TestClient(host.open, { check: trusting })
    guest.connect()
    await host.answer('initialize', { protocolVersion: '1.0.0', serverSeq: 10, snapshots: [] })
    const chat = guest.subscribe('chat', uri)
    await host.answer('subscribe', { snapshot: snapshot(10, { activeTurn: { id: 't1' } }) })
    await chat.ready()
    void chat.dispatch({ type: 'chat/delta', turnId: 't1', partId: 'p', content: 'x' } as never)
    void chat.dispatch(draft('behind it') as never)
    await host.asked('dispatchAction', 1)
    expect(chat.state?.draft?.text).toBe('behind it')
    expect(chat.pending).toHaveLength(2)
  })

  test('what is long, deep and strange, and still may be sent, is', async () => {
    const { host, guest } = await subscribedClient()
    void guest.dispatch('ahp-root://', config({ ...deep(50), text: 'x'.repeat(3_000_000) }) as never)
    await host.asked('dispatchAction')
  })
})

test('[U1] a refusal ends what it refuses, whatever shape that had', async () => {
  const { host, guest } = await subscribedClient()
  const two = 'ahp-chat:/two'
  const wished = guest.dispatch(two, draft('five') as never)
  const chat = guest.subscribe('chat', two)
  await host.answer('subscribe', { snapshot: { ...snapshot(10), resource: two } }, 1)
  const origin = { clientId: 'guest', clientSeq: 1 }
  host.act(two, 11, { type: 'chat/draftChanged', draft: 5 }, { origin, rejectionReason: 'no' })
  expect(await wished).toEqual({ outcome: 'refused', reason: 'no' })
  expect(guest.problems).toEqual([])
  expect(chat.status).toBe('open')
})

describe('[U1] what is wished in a channel that the host has not', () => {
  test('is lost when that is found out, whether somebody follows it or not', async () => {
    const all = await hostAndClients()
    const ann = all.guest('ann')
    const session = 'ahp-session:/one'
    await ann.ask('createSession', { channel: session, provider: 'mock' })
    const handle = ann.subscribe('session', session)
    await handle.ready()
    await ann.ask('disposeSession', { channel: session })
    const title = { type: 'session/titleChanged', title: 'x' } as const
    const wishes = [handle.dispatch(title), ann.dispatch('ahp-session:/never', title)]
    await quiet()
    expect(ann.pending).toHaveLength(2)
    // The second is asked after with the next look.
    ann.clock.advance(15_000)
    expect(await Promise.all(wishes)).toMatchObject([{ outcome: 'lost' }, { outcome: 'lost' }])
    expect([handle.status, ann.pending]).toEqual(['gone', []])
  })

  test('and so is what is wished in a chat', async () => {
    const all = await hostAndClients()
    const ann = all.guest('ann')
    const session = 'ahp-session:/one'
    await ann.ask('createSession', { channel: session, provider: 'mock' })
    const handle = ann.subscribe('chat', defaultChatUri(session), { view: { turns: 1 } })
    await handle.ready()
    await ann.ask('disposeSession', { channel: session })
    const wish = handle.dispatch(draft('late') as never)
    await quiet()
    ann.clock.advance(5_000)
    expect(await wish).toMatchObject({ outcome: 'lost' })
    expect(handle.status).toBe('gone')
  })

  test('one that takes long is asked after, again and again and less and less, and is not given up', async () => {
    const { host, guest, chat } = await subscribedClient()
    const wished = chat.dispatch(draft('slow') as never)
    for (const [nth, ms] of [5_000, 10_000, 20_000].entries()) {
      guest.clock.advance(ms - 1)
      host.act('ahp-chat:/other', 11 + nth, draft('a sign of life'))
      await quiet()
      expect(host.heard.filter(({ method }) => method === 'fetchTurns')).toHaveLength(nth)
      guest.clock.advance(1)
      const { id } = await host.asked('fetchTurns', nth)
      host.say({ id, error: { code: -32602, message: 'an unknown cursor' } })
    }
    // Which turns it has the host knows from what it handed over, and that was once.
    expect(host.heard.filter(({ method }) => method === 'subscribe')).toHaveLength(1)
    host.act(uri, 20, draft('slow'), { origin: { clientId: 'guest', clientSeq: 1 } })
    expect(await wished).toEqual({ outcome: 'accepted', serverSeq: 20 })
  })
})
