import { describe, expect, test } from 'vitest'
import { quiet } from '../../host/test/held.ts'
import { Guest, Hand } from '../test/house.ts'
import { trusting } from './check.ts'

const uri = 'ahp-chat:/one'
const state = {
  resource: uri,
  title: '',
  status: 1,
  modifiedAt: '2026-01-01T00:00:00Z',
  turns: [],
}
const begun = {
  type: 'chat/turnStarted',
  turnId: 't1',
  startedAt: '2026-01-01T00:00:00Z',
  message: { text: 'go', origin: { kind: 'user' } },
}
const draft = (text: string) => ({ type: 'chat/draftChanged', draft: { text, origin: { kind: 'user' } } })
const snapshot = (fromSeq: number, more: object = {}) => ({
  resource: uri,
  fromSeq,
  state: { ...state, ...more },
})

/** A client of a host by hand, greeted; it follows a chat whose snapshot is 10. */
async function followed(resends = true) {
  const host = new Hand()
  const guest = new Guest(host.open)
  guest.connect()
  const _meta = { 'x-atrium': { resends } }
  await host.answer('initialize', { protocolVersion: '1.0.0', serverSeq: 10, snapshots: [], _meta })
  const chat = guest.subscribe('chat', uri)
  await host.answer('subscribe', { snapshot: snapshot(10) })
  await chat.ready()
  return { host, guest, chat }
}

describe('[U2] order', () => {
  test('what overtakes the answer waits for it, and what the snapshot has in it is skipped', async () => {
    const { host, guest } = await followed()
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
    const { host, guest, chat } = await followed()
    host.act(uri, 9, draft('nine'))
    host.act(uri, 11, draft('eleven'))
    await chat.until((now) => now.draft?.text === 'eleven')
    expect(guest.problems).toEqual([])
  })

  test('what overtakes the answer to a greeting waits too, and what that has no snapshot of is asked for', async () => {
    const host = new Hand()
    const guest = new Guest(host.open)
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

  test('what overtakes the answer to a return comes behind what was missed', async () => {
    const { host, guest, chat } = await followed()
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
    const { host, guest, chat } = await followed()
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

test('[U2] what is asked goes before what is wished behind it', async () => {
  const { host, guest } = await followed()
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
    const { host, guest } = await followed()
    const said = host.heard.length
    const outcome = await guest.dispatch('ahp-root://', action as never)
    expect(outcome).toEqual({ outcome: 'refused', reason: expect.stringMatching(reason) })
    expect(guest.pending).toEqual([])
    await quiet()
    expect(host.heard).toHaveLength(said)
  })

  test('a wrong shape, also where nobody follows the channel yet', async () => {
    const { guest } = await followed()
    const outcome = await guest.dispatch('ahp-chat:/two', { type: 'chat/draftChanged', draft: 5 } as never)
    expect(outcome).toMatchObject({ outcome: 'refused', reason: expect.stringMatching(/draft/) })
  })

  test('what cannot be reduced is sent where nothing is checked, and not shown', async () => {
    const host = new Hand()
    const guest = new Guest(host.open, { check: trusting })
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
    const { host, guest } = await followed()
    void guest.dispatch('ahp-root://', config({ ...deep(50), text: 'x'.repeat(3_000_000) }) as never)
    await host.asked('dispatchAction')
  })
})

describe('[U3] whoever looks is told', () => {
  test('when the link is gone, and when it is back', async () => {
    const { host, guest, chat } = await followed()
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
    const { host, guest, chat } = await followed()
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
    const { guest, chat } = await followed()
    const waiting = guest.subscribe('chat', 'ahp-chat:/two').ready()
    guest.close('enough')
    await expect(waiting).rejects.toThrow('enough')
    await expect(chat.until(() => false)).rejects.toThrow('enough')
    expect([chat.status, chat.state?.title]).toEqual(['gone', ''])
    await expect(guest.subscribe('chat', 'ahp-chat:/three').ready()).rejects.toThrow('enough')
  })
})

describe('[U4] by number comes back what is known to be true up to it, and nothing else', () => {
  /** The host has lost its memory, or begins anew, and hands over nothing by itself; the client asks, and is cut off. */
  const cases: [string, (host: Hand) => Promise<void>][] = [
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
    const { host, guest, chat } = await followed()
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
    const { host, guest } = await followed()
    host.act(uri, 11, { type: 'chat/delta', turnId: 'none', partId: 'none', content: 'x' })
    await host.asked('subscribe', 1)
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    expect((await host.asked('reconnect')).params['subscriptions']).toEqual([])
  })

  test('what was gone: who wants it again asks for it', async () => {
    const { host, guest, chat } = await followed()
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

test('[U1] a refusal ends what it refuses, whatever shape that had', async () => {
  const { host, guest } = await followed()
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

describe('[U3] handles', () => {
  test.each(['replay', 'snapshot'])('released while a link is being greeted are left (%s)', async (type) => {
    const { host, guest, chat } = await followed()
    host.cut()
    await quiet()
    guest.clock.advance(1_000)
    await host.asked('reconnect')
    chat.release()
    await host.answer('reconnect', { type, actions: [], missing: [], snapshots: [snapshot(20)] })
    expect((await host.asked('unsubscribe')).params).toEqual({ channel: uri })
  })

  test('released and taken again while a link is being greeted are asked for, or are there', async () => {
    const { host, guest, chat } = await followed()
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
    const { host, guest, chat } = await followed()
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
    const { host, guest, chat } = await followed()
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

describe('[U4] coming back', () => {
  test('to a host that does not know resends: what it may have is lost, what it never had is sent', async () => {
    const { host, guest, chat } = await followed(false)
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
    const { host, guest, chat } = await followed()
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
    const { host, guest, chat } = await followed()
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
    const { host, guest, chat } = await followed()
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
    const host = new Hand()
    const guest = new Guest(host.open)
    guest.connect()
    const { id } = await host.asked('initialize')
    const asking = guest.ask('ping', {})
    host.say({ id, error: { code: -32005, message: 'this client is too new' } })
    await expect(asking).rejects.toThrow('too new')
    expect(guest.link).toMatchObject({ state: 'closed', reason: 'this client is too new' })
    expect(await guest.dispatch(uri, draft('x'))).toMatchObject({ outcome: 'lost' })
  })
})

describe('[U5] bad hosts', () => {
  /** Says something wrong, answers the question that must follow, and gives what is shown then. */
  async function mended(wrong: (host: Hand) => void) {
    const { host, guest, chat } = await followed()
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
    const wrong = (host: Hand) => {
      host.act(uri, 11, begun)
      host.act(uri, 12, { type: 'chat/delta', turnId: 't1', partId: 'lost', content: 'x' })
    }
    expect(await mended(wrong)).toEqual(['gap'])
  })

  test('an old number: numbers that began again', async () => {
    const wrong = (host: Hand) => {
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
    const { host, guest, chat } = await followed()
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
    const { host, guest } = await followed()
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
    const { host, guest, chat } = await followed()
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
    const { host, guest, chat } = await followed()
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
    const { host, guest } = await followed()
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

test('[U7] what the host asks is answered by what the app offers, and by nothing else', async () => {
  const host = new Hand()
  const offers = {
    resourceRead: ({ uri: asked }: { uri: string }) => {
      if (asked === 'mine:/broken') throw new Error('a secret of the app')
      return { data: `content of ${asked}`, encoding: 'utf-8' as const }
    },
  }
  const guest = new Guest(host.open, { offers: offers as never })
  guest.connect()
  await host.answer('initialize', { protocolVersion: '1.0.0', serverSeq: 10, snapshots: [] })
  host.say({ id: 1, method: 'resourceRead', params: { channel: 'ahp-root://', uri: 'mine:/a' } })
  host.say({ id: 2, method: 'resourceRead', params: { channel: 'ahp-root://', uri: 'mine:/broken' } })
  host.say({ id: 3, method: 'resourceRead', params: { channel: 'ahp-root://' } })
  host.say({ id: 4, method: 'resourceWrite', params: { channel: 'ahp-root://', uri: 'mine:/a' } })
  await quiet()
  const answers = host.heard
    .filter((message) => message.method === undefined)
    .toSorted((a, b) => Number(a.id) - Number(b.id))
  expect(answers).toMatchObject([
    { id: 1, result: { data: 'content of mine:/a' } },
    { id: 2, error: { code: -32603, message: 'internal error' } },
    { id: 3, error: { code: -32602 } },
    { id: 4, error: { code: -32601 } },
  ])
  expect(guest.problems).toEqual([{ kind: 'app', detail: 'a secret of the app' }])
})
