import type { Action } from '@atrium/protocol/channel'
import { kinds } from '@atrium/protocol/channels'
import type { AhpError } from '@atrium/protocol/errors'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { room } from '../../test/test-host.ts'
import type { Client, Room } from '../../test/test-host.ts'

const root = 'ahp-root://'
const session = 'ahp-session:/one'
const title = (text: string): Action & Record<string, unknown> => ({
  type: 'session/titleChanged',
  title: text,
})

/** Ann and Ben in one session, both subscribed. */
async function together(made?: Room): Promise<Room & { ann: Client; ben: Client }> {
  const all = made ?? (await room())
  const ann = await all.join('ann')
  await ann.ask('createSession', { channel: session })
  const ben = await all.join('ben')
  for (const client of [ann, ben]) await client.ask('subscribe', { channel: session })
  return { ...all, ann, ben }
}

/** The link of a client breaks; it comes back with what it knows. */
async function comeBack(all: Room, gone: Client, subscriptions: readonly string[] = [session]) {
  gone.peer.close()
  const back = all.link()
  back.clientId = gone.clientId
  for (const [uri, state] of gone.states) back.states.set(uri, state)
  for (const [uri, kind] of gone.kinds) back.kinds.set(uri, kind)
  const result = await back.ask('reconnect', {
    clientId: gone.clientId,
    lastSeenServerSeq: gone.lastSeen,
    subscriptions,
  })
  return { back, result }
}

describe('[L13] a client that comes back', () => {
  test('is told exactly what it missed, and then what happens, with nothing between', async () => {
    const all = await together()
    const { ann, ben } = all
    ann.peer.close()
    const missed = ['a', 'b', 'c'].map((text) => ben.dispatch(session, title(text)))
    await ben.echo(missed[2] ?? 0)
    const { back, result } = await comeBack(all, ann)
    expect(result).toMatchObject({ type: 'replay', missing: [] })
    if (result.type !== 'replay') return
    expect(result.actions).toEqual(ben.envelopes)
    const seq = ben.dispatch(session, title('d'))
    await ben.echo(seq)
    await back.until(() => back.state(session)['title'] === 'd')
    expect(back.state(session)).toEqual(ben.state(session))
  })

  test('is told what it missed also by a host that was killed and started again', async () => {
    const all = await together()
    const { ann, ben } = all
    ann.peer.close()
    await ben.echo(ben.dispatch(session, title('before the crash')))
    await all.restart('crash')
    const { result } = await comeBack(all, ann)
    expect(result).toMatchObject({ type: 'replay', actions: [{ action: title('before the crash') }] })
  })

  test('gets snapshots when its number lies in a hole or in the future', async () => {
    const all = await together()
    const { ann } = all
    const last = ann.lastSeen
    await all.restart('crash')
    for (const lastSeen of [last + 10, Number.MAX_SAFE_INTEGER, 0]) {
      ann.lastSeen = lastSeen
      const { result } = await comeBack(all, ann)
      expect(result).toMatchObject({ type: 'snapshot', snapshots: [{ resource: session }] })
    }
  })

  test('gets snapshots when it was never handed a channel that it lists', async () => {
    const all = await together()
    const { result } = await comeBack(all, all.ann, [session, root])
    expect(result.type === 'snapshot' && result.snapshots.map(({ resource }) => resource)).toEqual([
      session,
      root,
    ])
  })

  test('is told which channels are gone', async () => {
    const all = await together()
    await all.ben.ask('disposeSession', { channel: session })
    const { result } = await comeBack(all, all.ann, [session, 'ahp-session:/never'])
    expect(result).toEqual({ type: 'replay', actions: [], missing: [session, 'ahp-session:/never'] })
  })

  test('and is unknown is sent to initialize', async () => {
    const { link } = await room()
    const asked = link().ask('reconnect', { clientId: 'x', lastSeenServerSeq: 1, subscriptions: [] })
    await expect(asked).rejects.toMatchObject({ code: -32008 })
  })

  test('F-31: while others write is told each action once and in order', async () => {
    const all = await together()
    const { ann, ben } = all
    const before = ben.envelopes.length
    for (let i = 0; i < 300; i++) ben.dispatch(session, title(`missed ${i}`))
    await ben.until(() => ben.envelopes.length === before + 100)
    const seen = ann.envelopes.length
    const coming = comeBack(all, ann)
    for (let i = 0; i < 300; i++) ben.dispatch(session, title(`live ${i}`))
    const { back, result } = await coming
    expect(result.type).toBe('replay')
    await back.until(() => back.state(session)['title'] === 'live 299')
    const heard = [...ann.envelopes.slice(0, seen), ...back.envelopes].map(({ serverSeq }) => serverSeq)
    await ben.until(() => ben.state(session)['title'] === 'live 299')
    expect(heard).toEqual(ben.envelopes.map(({ serverSeq }) => serverSeq))
  })

  test('F-23: closes its older link, and nothing of that is applied any more', async () => {
    const all = await together()
    const { ann, ben } = all
    const back = all.link()
    const coming = back.ask('reconnect', {
      clientId: 'ann',
      lastSeenServerSeq: ann.lastSeen,
      subscriptions: [session],
    })
    await coming
    ann.dispatch(session, title('from the grave'))
    await ann.until(() => ann.peer.closed.aborted)
    await ben.echo(ben.dispatch(session, title('alive')))
    expect(ben.envelopes.map(({ action }) => action)).toEqual([title('alive')])
  })
})

describe('[L6] F-22: what a client sends again', () => {
  test('has no second effect when its echo was in the replay', async () => {
    const all = await together()
    const { ann, ben } = all
    const seq = ann.dispatch(session, title('once'))
    await ben.until(() => ben.state(session)['title'] === 'once')
    ann.lastSeen = Math.min(...ben.envelopes.map(({ serverSeq }) => serverSeq)) - 1
    const { back, result } = await comeBack(all, ann)
    expect(result).toMatchObject({ type: 'replay', actions: [{ origin: { clientSeq: seq } }] })
    back.dispatch(session, title('once'), seq)
    back.dispatch(session, title('twice'), seq + 1)
    await ben.until(() => ben.state(session)['title'] === 'twice')
    expect(ben.envelopes.map(({ action }) => action)).toEqual([title('once'), title('twice')])
    await back.echo(seq + 1)
    expect(back.envelopes.filter(({ origin }) => origin?.clientSeq === seq)).toHaveLength(1)
  })

  test('is answered "already accepted" when it had to begin anew', async () => {
    const all = await together()
    const { ann, ben } = all
    const seq = ann.dispatch(session, title('once'))
    await ben.until(() => ben.state(session)['title'] === 'once')
    ann.peer.close()
    await all.restart('crash')
    const again = await all.join('ann', { subscribe: [session] })
    again.dispatch(session, title('once'), seq)
    expect(await again.echo(seq)).toMatchObject({
      rejectionReason: expect.stringMatching(/^already accepted as \d+$/),
    })
  })

  test('with another payload is a new action, and clientSeq 0 is never the same', async () => {
    const all = await together()
    const { ann, ben } = all
    const seq = ann.dispatch(session, title('one'))
    ann.dispatch(session, title('zero'), 0)
    await ben.until(() => ben.state(session)['title'] === 'zero')
    ann.lastSeen = Math.min(...ben.envelopes.map(({ serverSeq }) => serverSeq)) - 1
    const { back } = await comeBack(all, ann)
    back.dispatch(session, title('other'), seq)
    back.dispatch(session, title('zero'), 0)
    await ben.until(() => ben.envelopes.length === 4)
    expect(ben.envelopes.map(({ action }) => action)).toEqual([
      title('one'),
      title('zero'),
      title('other'),
      title('zero'),
    ])
  })
})

describe('[L2] dispatches', () => {
  test('S-16: what only the host may say is refused, and nothing changes', async () => {
    const { ann, ben } = await together()
    const before = ann.state(session)
    expect(await ann.echo(ann.dispatch(session, { type: 'session/ready' }))).toMatchObject({
      rejectionReason: 'session/ready is said by the host alone',
    })
    expect(await ann.echo(ann.dispatch(session, { type: 'chat/delta' }))).toMatchObject({
      rejectionReason: expect.stringContaining('knows no action'),
    })
    expect(await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 7 }))).toMatchObject({
      rejectionReason: 'session/titleChanged: title: expected string, received number',
    })
    expect(ann.state(session)).toBe(before)
    expect(ben.envelopes).toEqual([])
  })

  test('to a channel that nobody has are ignored', async () => {
    const { ann } = await together()
    ann.dispatch('ahp-session:/nowhere', title('x'))
    await ann.echo(ann.dispatch(session, title('y')))
    expect(ann.envelopes).toHaveLength(1)
  })

  test('that are malformed are refused where they can be read, and the link lives on', async () => {
    const { ann, world } = await together()
    ann.peer.notify('dispatchAction', {
      channel: session,
      clientSeq: 5,
      action: { type: 'session/titleChanged' },
      _meta: 7,
    })
    expect(await ann.echo(5)).toMatchObject({ rejectionReason: expect.any(String) })
    ann.peer.notify('dispatchAction', { channel: session, clientSeq: -1 })
    ann.peer.notify('dispatchAction', 'what')
    await ann.echo(ann.dispatch(session, title('still here'), 9))
    expect(world.reports.filter(({ event }) => event === 'malformed notification')).toHaveLength(2)
  })

  test('that are malformed are refused also where the channel sleeps', async () => {
    const { ann, ben, world, core } = await together()
    for (const client of [ann, ben]) client.peer.notify('unsubscribe', { channel: session })
    for (const client of [ann, ben]) await client.ask('listSessions', {})
    world.advance(60_000)
    expect(core().log.channel(session)).toBeUndefined()
    ann.peer.notify('dispatchAction', { channel: session, clientSeq: 5, action: title('x'), _meta: 7 })
    expect(await ann.echo(5)).toMatchObject({ rejectionReason: expect.any(String) })
  })

  test('S-10: a client id belongs to the principal that used it first', async () => {
    const { join, link } = await together()
    await expect(join('ann', { principal: 'mallory' })).rejects.toMatchObject({ code: -32009 })
    const asked = link('mallory').ask('reconnect', {
      clientId: 'ann',
      lastSeenServerSeq: 1,
      subscriptions: [session],
    })
    await expect(asked).rejects.toMatchObject({ code: -32009 })
  })

  test('come back in the order they were sent, refused or not', async () => {
    const { ann } = await together()
    const seqs = [title('1'), { type: 'session/ready' }, title('1'), title('2'), { type: 'nothing' }].map(
      (action) => ann.dispatch(session, action),
    )
    await ann.echo(seqs.at(-1) ?? 0)
    expect(ann.envelopes.map(({ origin }) => origin?.clientSeq)).toEqual(seqs)
    const numbers = ann.envelopes.map(({ serverSeq }) => serverSeq)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  })
})

describe('[L15] the root config', () => {
  test('takes keys of others whole, reads only its own, and cannot be swept away', async () => {
    const { join } = await room()
    const ann = await join('ann', { subscribe: [root] })
    const change = (config: object, replace?: boolean) => ({
      type: 'root/configChanged',
      config,
      ...(replace && { replace }),
    })
    await ann.echo(ann.dispatch(root, change({ 'editor.theme': { any: [1] } })))
    expect(await ann.echo(ann.dispatch(root, change({}, true)))).toMatchObject({
      rejectionReason: expect.stringContaining('shared'),
    })
    expect(await ann.echo(ann.dispatch(root, change({ 'atrium.defaultProvider': 7 })))).toMatchObject({
      rejectionReason: 'atrium.defaultProvider must be a string',
    })
    expect(await ann.echo(ann.dispatch(root, change({ 'atrium.nothing': 1 })))).toMatchObject({
      rejectionReason: expect.stringContaining('no setting'),
    })
    expect(ann.state(root)).toMatchObject({ config: { values: { 'editor.theme': { any: [1] } } } })
  })

  test('is still there after a restart', async () => {
    const all = await room()
    const ann = await all.join('ann', { subscribe: [root] })
    await ann.echo(ann.dispatch(root, { type: 'root/configChanged', config: { theirs: true } }))
    await all.restart()
    const ben = await all.join('ben', { subscribe: [root] })
    expect(ben.state(root)).toMatchObject({
      config: { values: { theirs: true } },
      agents: [{ provider: 'mock' }],
    })
  })
})

test('[L5] I2: numbers never come twice, also after a crash and when the clock goes back', async () => {
  const all = await together()
  const seen = all.ann.lastSeen
  all.world.advance(-3_600_000)
  await all.restart('crash')
  const ann = await all.join('ann', { subscribe: [session] })
  expect(ann.lastSeen).toBeGreaterThan(seen + 900_000)
})

test('[L12] delivery.maxLatencyMs and view are taken with the subscription', async () => {
  const { join, world } = await together()
  const cem = await join('cem')
  await cem.ask('subscribe', { channel: session, delivery: { maxLatencyMs: 50 }, view: { turns: 3 } })
  const dan = await join('dan')
  await dan.ask('subscribe', { channel: session })
  await dan.echo(dan.dispatch(session, title('soon')))
  expect(cem.envelopes).toEqual([])
  world.advance(50)
  await cem.until(() => cem.state(session)['title'] === 'soon')
})

test('[H1] a version nobody shares is refused with what we speak, and the link ends', async () => {
  const { link } = await room()
  const ann = link()
  const asked = ann.ask('initialize', { protocolVersions: ['9.0.0'], clientId: 'ann' })
  await expect(asked).rejects.toMatchObject({ code: -32005, data: { supportedVersions: ['1.0.0', '0.9.0'] } })
  await ann.until(() => ann.peer.closed.aborted)
})

test('[H1] S-07: who does not say who it is has ten seconds', async () => {
  const { link, world } = await room()
  const ann = link()
  world.advance(10_000)
  await ann.until(() => ann.peer.closed.aborted)
})

test('[L4] F-07: without space changes are refused with a reason, reads go on, and it recovers by itself', async () => {
  let full = false
  const all = await together(await room({ full: () => full }))
  const { ann, ben, world } = all
  full = true
  const first = ann.dispatch(session, title('kept'))
  while (!world.reports.some(({ event }) => event === 'disk full')) await ben.ask('ping', {})
  expect(await ben.echo(ben.dispatch(session, title('refused')))).toMatchObject({
    rejectionReason: expect.stringContaining('full'),
  })
  expect(await ben.ask('listSessions', {})).toEqual({ items: [] })
  expect(ann.envelopes).toEqual([])
  const cem = await all.join('cem', { subscribe: [session] })
  expect(cem.state(session)).toMatchObject({ title: '' })
  full = false
  world.advance(1000)
  expect(await ann.echo(first)).toMatchObject({ action: title('kept') })
})

test('[L4] F-07: without space nobody waits for room: changes are refused, and reads behind them go on', async () => {
  const flushes: (() => void)[] = []
  let full = false
  const soon = (task: () => void) => void (full ? flushes.push(task) : queueMicrotask(task))
  const { ann, ben, world, core } = await together(await room({ full: () => full, soon }))
  full = true
  for (const start of 'abc') ann.dispatch(session, title(start + 'x'.repeat(4_000_000)))
  const early = ben.dispatch(session, title('early'))
  while (flushes.length === 0 || !core().log.congested) await ann.ask('ping', {})
  flushes.shift()?.()
  while (!world.reports.some(({ event }) => event === 'disk full')) await ann.ask('ping', {})
  const late = ben.dispatch(session, title('late'))
  for (const seq of [early, late])
    expect(await ben.echo(seq)).toMatchObject({ rejectionReason: expect.stringContaining('full') })
  expect(await ben.ask('listSessions', {})).toEqual({ items: [] })
})

test('S-16: of every action of every channel, a client may say exactly what the table allows', async () => {
  const { ann, ben } = await together()
  const before = ben.state(session)
  const all = Object.values(kinds).flatMap((kind) => [...kind.actions.keys()])
  const forbidden = all.filter((type) => !kinds.session.dispatchable.has(type))
  expect(forbidden).toHaveLength(106 - 13)
  for (const type of forbidden) {
    const { rejectionReason } = await ann.echo(ann.dispatch(session, { type }))
    expect(rejectionReason, type).toEqual(expect.any(String))
  }
  expect(ben.state(session)).toBe(before)
  expect(ben.envelopes).toEqual([])
})

test('S-14: whatever is asked in whatever order, a link is opened once, by a handshake, and before it only pinged', async () => {
  const { link } = await room()
  const methods = [
    'ping',
    'listSessions',
    'initialize',
    'reconnect',
    'subscribe',
    'createSession',
    'nonsense',
    'action',
  ]
  await fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom(...methods), { maxLength: 8 }), async (asked) => {
      const ann = link()
      let open = false
      for (const method of asked) {
        const params = {
          channel: root,
          protocolVersions: ['1.0.0'],
          clientId: 'x',
          lastSeenServerSeq: 0,
          subscriptions: [],
        }
        const code = await ann.peer.request(method, params).then(
          () => 0,
          (error: AhpError) => error.code,
        )
        if (method === 'ping') expect(code).toBe(0)
        else if (method === 'nonsense' || method === 'action') expect(code).toBe(-32601)
        else if (method === 'initialize' || method === 'reconnect') {
          if (open) expect(code).toBe(-32600)
          else if (code === 0) open = true
          else expect([method, code]).toEqual(['reconnect', -32008])
        } else if (!open) expect(code).toBe(-32600)
        else expect(code).not.toBe(-32600)
      }
      ann.peer.close()
    }),
    { numRuns: 60 },
  )
})
