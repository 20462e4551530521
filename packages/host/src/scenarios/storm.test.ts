import type { Envelope } from '@atrium/protocol/channel'
import type { ChatState } from '@atrium/protocol/chat/state'
import { limits } from '@atrium/protocol/limits'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { describe, expect, test, vi } from 'vitest'
import { Client, testHost } from '../../test/test-host.ts'
import type { TestHost } from '../../test/test-host.ts'

// Many links at once: slow ones, and ones that come and go.

const root = 'ahp-root://'
const session = 'ahp-session:/one'
const title = (text: string) => ({ type: 'session/titleChanged', title: text })
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

/** A transport that can be stopped. Frames under way then wait until it goes on. */
function stoppable() {
  const held: (() => void)[] = []
  let stopped = false
  return {
    schedule: (task: () => void) => (stopped ? void held.push(task) : queueMicrotask(task)),
    stop: () => void (stopped = true),
    go() {
      stopped = false
      for (const task of held.splice(0)) task()
    },
  }
}

/** Records the code each time that the host closes a link. */
function codesOf(near: Transport): readonly (number | undefined)[] {
  const codes: (number | undefined)[] = []
  const close = near.close.bind(near)
  near.close = (code, reason) => {
    codes.push(code)
    close(code, reason)
  }
  return codes
}

async function withSession(all: TestHost): Promise<Client> {
  const ben = await all.join('ben')
  await ben.ask('createSession', { channel: session })
  await ben.ask('subscribe', { channel: session })
  return ben
}

async function comeBack(all: TestHost, gone: Client, subscriptions: readonly string[]): Promise<Client> {
  const back = all.link()
  back.clientId = gone.clientId
  for (const [uri, state] of gone.states) back.states.set(uri, state)
  for (const [uri, kind] of gone.kinds) back.kinds.set(uri, kind)
  const { clientId, lastSeen: lastSeenServerSeq } = gone
  await back.ask('reconnect', { clientId, lastSeenServerSeq, subscriptions })
  return back
}

describe('[L12] F-17, S-24: a reader that stops', () => {
  test('costs a bounded number of bytes, is closed with 1013, and agrees with the others after it has come back', async () => {
    const all = await testHost()
    const ben = await withSession(all)
    const { schedule, stop, go } = stoppable()
    const [near, far] = all.wire('owner', schedule)
    const codes = codesOf(near)
    const ann = new Client(far)
    await ann.initialize('ann', [session])
    stop()
    let most = 0
    for (let i = 0; i < 1000; i++) {
      await ben.echo(ben.dispatch(session, title(`${i} ${'x'.repeat(10_000)}`)))
      most = Math.max(most, near.buffered)
    }
    expect(codes).toEqual([1013])
    expect(most).toBeGreaterThan(limits.slowBytes)
    expect(most).toBeLessThanOrEqual(limits.unreadBytes)
    go()
    await ann.until(() => ann.peer.closed.aborted)
    const back = await comeBack(all, ann, [session])
    expect(back.state(session)).toEqual(ben.state(session))
    await ben.echo(ben.dispatch(session, title('and on')))
    await back.until(() => back.state(session)['title'] === 'and on')
  })

  test('and goes on within the limit gets the same in fewer messages', async () => {
    const all = await testHost()
    const startedAt = '2026-01-01T00:00:00Z'
    const part = { kind: 'markdown' as const, id: 'p', content: '' }
    const activeTurn = {
      id: 't',
      startedAt,
      message: { text: '', origin: { kind: 'user' } },
      responseParts: [part],
    }
    const state: ChatState = {
      resource: '',
      title: '',
      status: 8,
      modifiedAt: startedAt,
      turns: [],
      activeTurn,
    }
    const chat = all.core().log.create('ahp-chat:/1', 'chat', state)
    await all.core().log.settled()
    const { schedule, stop, go } = stoppable()
    const [near, far] = all.wire('owner', schedule)
    const codes = codesOf(near)
    const ann = new Client(far)
    await ann.initialize('ann', [])
    const ben = await all.join('ben')
    // With a higher latency the text would be merged into fewer messages.
    const delivery = { maxLatencyMs: 0 }
    for (const client of [ann, ben]) await client.ask('subscribe', { channel: 'ahp-chat:/1', delivery })
    stop()
    const count = 20_000
    for (let i = 0; i < count; i++) {
      const delta = { type: 'chat/delta', turnId: 't', partId: 'p', content: `${i} ` }
      all.core().log.appendChecked(chat, delta)
      if (i % 100 === 0) await turn()
    }
    await ben.until(() => ben.envelopes.length === count)
    expect(near.buffered).toBeLessThan(limits.slowBytes + 1000)
    go()
    await ann.until(() => ann.lastSeen === ben.lastSeen)
    expect(ann.state('ahp-chat:/1')).toEqual(ben.state('ahp-chat:/1'))
    expect(ann.envelopes.length).toBeLessThan(count / 5)
    expect(codes).toEqual([])
  })
})

describe('[L13] [F-21] many clients that reconnect at once', () => {
  test('get one rendered text of each channel, and all agree', async () => {
    const all = await testHost()
    const ben = await withSession(all)
    await ben.ask('subscribe', { channel: root })
    const ids = Array.from({ length: 300 }, (_, i) => `client ${i}`)
    const clients = await Promise.all(ids.map((id) => all.join(id, { subscribe: [root, session] })))
    for (const client of clients) client.peer.close()
    await ben.echo(ben.dispatch(session, title('missed')))
    await ben.echo(ben.dispatch(root, { type: 'root/configChanged', config: { missed: true } }))
    // The clients name a sequence number of another host, so nothing can be replayed to them.
    for (const client of clients) client.lastSeen = 1
    const made = { root: 0, session: 0 }
    const { stringify } = JSON
    const spy = vi.spyOn(JSON, 'stringify').mockImplementation(((value: object | null, ...rest: []) => {
      if (typeof value === 'object' && value !== null && 'agents' in value) made.root++
      if (typeof value === 'object' && value !== null && 'lifecycle' in value) made.session++
      return stringify(value, ...rest)
    }) as typeof JSON.stringify)
    const back = await Promise.all(clients.map((client) => comeBack(all, client, [root, session])))
    spy.mockRestore()
    expect(made).toEqual({ root: 1, session: 1 })
    for (const client of back)
      for (const uri of [root, session]) expect(client.state(uri)).toEqual(ben.state(uri))
    await ben.echo(ben.dispatch(session, title('on')))
    await Promise.all(back.map((client) => client.until(() => client.state(session)['title'] === 'on')))
  })

  test('get a replay where possible, each action once and in order', async () => {
    const all = await testHost()
    const ben = await withSession(all)
    const ids = Array.from({ length: 200 }, (_, i) => `client ${i}`)
    const clients = await Promise.all(ids.map((id) => all.join(id, { subscribe: [session] })))
    for (const client of clients) client.peer.close()
    for (let i = 0; i < 100; i++) ben.dispatch(session, title(`missed ${i}`))
    const storm = Promise.all(clients.map((client) => comeBack(all, client, [session])))
    for (let i = 0; i < 100; i++) ben.dispatch(session, title(`live ${i}`))
    const back = await storm
    await Promise.all(back.map((client) => client.until(() => client.state(session)['title'] === 'live 99')))
    const numbers = ben.envelopes.map(({ serverSeq }) => serverSeq)
    for (const client of back) {
      const received = client.envelopes.map(({ serverSeq }) => serverSeq)
      expect(received).toEqual(numbers.slice(-received.length))
      expect(received.length).toBeGreaterThanOrEqual(100)
    }
    expect(all.core().log.channel(session)?.listeners.size).toBe(201)
  })
})

describe('[L13] F-23: one client that reconnects again and again', () => {
  test('has one link in the end, and one outcome of each action', async () => {
    const all = await testHost()
    const ben = await withSession(all)
    const links: Client[] = []
    const opening: Promise<unknown>[] = []
    for (let i = 0; i < 100; i++) {
      const link = all.link()
      opening.push(link.initialize('ann', [session]).catch(() => {}))
      link.dispatch(session, title(`by ${i}`), i + 1)
      links.push(link)
      if (i % 7 === 0) await turn()
    }
    await Promise.all(opening)
    for (let i = 0; i < 20; i++) await turn()
    expect(links.filter(({ peer }) => !peer.closed.aborted)).toEqual([links.at(-1)])
    expect(all.core().clients.links.size).toBe(2)
    const last = links.at(-1) as Client
    await last.echo(100)
    await ben.until(() => ben.state(session)['title'] === 'by 99')
    const seqs = ben.envelopes.map(({ origin }) => origin?.clientSeq)
    expect(new Set(seqs).size).toBe(seqs.length)
    // Actions are delivered in the order of their dispatch, from whichever link they came.
    expect(seqs).toEqual(seqs.toSorted((a = 0, b = 0) => a - b))
    expect(all.core().log.channel(session)?.listeners.size).toBe(2)
  })

  test('is ignored on its old link, also what was under way before', async () => {
    const all = await testHost()
    const ben = await withSession(all)
    const { schedule, stop, go } = stoppable()
    const [near, far] = all.wire('owner', schedule)
    const old = new Client(far)
    await old.initialize('ann', [session])
    stop()
    // These messages are still under way when the client reconnects over another link.
    old.dispatch(session, title('from the grave'), 1)
    old.peer.notify('unsubscribe', { channel: session })
    const asked = old.ask('disposeSession', { channel: session }).catch((error: Error) => error.name)
    const now = await all.join('ann', { subscribe: [session] })
    expect(near.closed.aborted).toBe(false)
    go()
    await now.echo(now.dispatch(session, title('alive'), 2))
    expect(await asked).toBe('LinkClosed')
    expect(ben.envelopes.map(({ action }) => action)).toEqual([title('alive')])
    expect(old.envelopes).toEqual([])
    expect(all.core().clients.links.size).toBe(2)
  })
})

test('[L13] [L2.4] F-31: 10,000 actions during a reconnect: none overtakes the response, none is missing, none comes twice', async () => {
  const all = await testHost({ soon: (task) => void setImmediate(task) })
  const ben = await withSession(all)
  const ann = await all.join('ann', { subscribe: [session] })
  ann.peer.close()
  const count = 10_000
  const say = (from: number, to: number) => {
    for (let i = from; i < to; i++) ben.dispatch(session, title(`${i}`))
  }
  say(0, 2000)
  await ben.until(() => ben.envelopes.length === 2000)
  // More actions are written during each read of the disk.
  let said = 2000
  const { log } = all.store()
  const { read, dispatchedBy } = log
  const more = () => {
    say(said, Math.min(said + 1000, count))
    said = Math.min(said + 1000, count)
  }
  log.dispatchedBy = async (...args) => (more(), await turn(), dispatchedBy(...args))
  log.read = async (...args) => (more(), await turn(), more(), read(...args))
  const [, far] = all.wire()
  const frames: { id?: number; result?: { type: string; actions: Envelope[] }; params?: Envelope }[] = []
  far.receive((frame) => frames.push(JSON.parse(frame) as (typeof frames)[number]))
  const params = { clientId: 'ann', lastSeenServerSeq: ann.lastSeen, subscriptions: [session] }
  far.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'reconnect', params }))
  while (frames.length === 0) {
    more()
    await turn()
  }
  say(said, count)
  await ben.until(() => ben.envelopes.length === count)
  while (frames.at(-1)?.params?.serverSeq !== ben.lastSeen) await turn()
  expect(frames[0]).toMatchObject({ id: 1, result: { type: 'replay' } })
  const received = [
    ...(frames[0]?.result?.actions ?? []),
    ...frames.slice(1).flatMap(({ params: envelope }) => envelope ?? []),
  ]
  expect(received.map(({ serverSeq }) => serverSeq)).toEqual(ben.envelopes.map(({ serverSeq }) => serverSeq))
  expect(frames[0]?.result?.actions.length).toBeGreaterThanOrEqual(2000)
  expect(frames.length).toBeGreaterThan(1000)
})

test('[L12] [L12.3] I13: one long message, and the actions that follow from it, close no link that reads', async () => {
  const all = await testHost()
  const ben = await withSession(all)
  await ben.ask('subscribe', { channel: root })
  const cem = await all.join('cem', { subscribe: [root, session] })
  await ben.echo(ben.dispatch(session, title('announced')))
  await cem.until(() => cem.notes.length === 1)
  const long = 'x'.repeat(limits.messageBytes - 200)
  const seqs = [title(long), title('short')].map((action) => ben.dispatch(session, action))
  await ben.until(
    () => ben.peer.closed.aborted || ben.envelopes.some(({ origin }) => origin?.clientSeq === seqs[1]),
  )
  await cem.until(() => cem.peer.closed.aborted || cem.state(session)['title'] === 'short')
  expect([ben, cem].map(({ peer }) => peer.closed.aborted)).toEqual([false, false])
  // Both changes of the session's entry in the list are sent as one notification.
  all.world.advance(100)
  await cem.until(() => cem.notes.length === 2)
})
