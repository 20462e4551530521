import { automationsUri } from '@atrium/protocol/uri'
import { isBefore, namesOf, versions } from '@atrium/protocol/versions/negotiate'
import { kinds } from '@atrium/protocol/channels'
import type { AhpError } from '@atrium/protocol/errors'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testHost } from '../../test/test-host.ts'
import { session, title, twoClients } from '../../test/two-clients.ts'
import { supportedVersions } from '../kernel/generation.ts'

const root = 'ahp-root://'

describe('[L2] dispatches', () => {
  test('[S-16] of actions that only the host may append are refused, and nothing changes', async () => {
    const { ann, ben } = await twoClients()
    const before = ann.state(session)
    expect(await ann.echo(ann.dispatch(session, { type: 'session/ready' }))).toMatchObject({
      rejectionReason: 'session/ready is dispatched by the host only',
    })
    expect(await ann.echo(ann.dispatch(session, { type: 'chat/delta' }))).toMatchObject({
      rejectionReason: expect.stringContaining('unknown action'),
    })
    expect(await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 7 }))).toMatchObject({
      rejectionReason: 'session/titleChanged: title: expected string, received number',
    })
    expect(ann.state(session)).toBe(before)
    expect(ben.envelopes).toEqual([])
  })

  test('to an unknown channel are ignored', async () => {
    const { ann } = await twoClients()
    ann.dispatch('ahp-session:/nowhere', title('x'))
    await ann.echo(ann.dispatch(session, title('y')))
    expect(ann.envelopes).toHaveLength(1)
  })

  test.each(supportedVersions.filter((version) => isBefore(version, '0.9.0')))(
    '[H46.3] of a client of %s to the automations, which its version does not have, are refused',
    async (version) => {
      const { ann, link } = await twoClients()
      const old = link()
      old.clientId = 'old'
      await old.ask('initialize', { protocolVersions: [version], clientId: 'old' })
      const action = { type: 'automation/removed', resource: 'ahp-automation:/one' }
      const nested = { action: { ...action, session: automationsUri } }
      const flat = { channel: automationsUri, action }
      old.peer.notify('dispatchAction', { clientSeq: 3, ...(isBefore(version, '0.2.0') ? nested : flat) })
      expect(await old.echo(3)).toMatchObject({
        rejectionReason: `AHP ${version} has no channel "${automationsUri}"`,
      })
      expect(ann.envelopes).toEqual([])
    },
  )

  test('that are malformed are refused where their number can be read, and the connection stays open', async () => {
    const { ann, world } = await twoClients()
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

  test('that are malformed are refused when the channel sleeps, too', async () => {
    const { ann, ben, world, core } = await twoClients()
    for (const client of [ann, ben]) client.peer.notify('unsubscribe', { channel: session })
    for (const client of [ann, ben]) await client.ask('listSessions', {})
    world.advance(60_000)
    expect(core().log.channel(session)).toBeUndefined()
    ann.peer.notify('dispatchAction', { channel: session, clientSeq: 5, action: title('x'), _meta: 7 })
    expect(await ann.echo(5)).toMatchObject({ rejectionReason: expect.any(String) })
  })

  test('S-10: a client id belongs to the principal that used it first', async () => {
    const { join, link } = await twoClients()
    await expect(join('ann', { principal: 'mallory' })).rejects.toMatchObject({ code: -32009 })
    const asked = link('mallory').ask('reconnect', {
      clientId: 'ann',
      lastSeenServerSeq: 1,
      subscriptions: [session],
    })
    await expect(asked).rejects.toMatchObject({ code: -32009 })
  })

  test('[L2.6] are echoed in the order in which they were sent, refused or not', async () => {
    const { ann } = await twoClients()
    const seqs = [title('1'), { type: 'session/ready' }, title('1'), title('2'), { type: 'nothing' }].map(
      (action) => ann.dispatch(session, action),
    )
    await ann.echo(seqs.at(-1) ?? 0)
    expect(ann.envelopes.map(({ origin }) => origin?.clientSeq)).toEqual(seqs)
    const numbers = ann.envelopes.map(({ serverSeq }) => serverSeq)
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
  })
})

describe('[L15] [L15.1] the root config', () => {
  test('stores keys of others unchanged, checks only its own, and cannot be replaced as a whole', async () => {
    const { join } = await testHost()
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
    const all = await testHost()
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

test('[L5] [I2] no number is assigned twice, even after a crash with the clock set back', async () => {
  const all = await twoClients()
  const seen = all.ann.lastSeen
  all.world.advance(-3_600_000)
  await all.restart('crash')
  const ann = await all.join('ann', { subscribe: [session] })
  expect(ann.lastSeen).toBeGreaterThan(seen + 900_000)
})

test('[L12] [L12.4] delivery.maxLatencyMs and view of a subscription take effect', async () => {
  const { join, world } = await twoClients()
  const cem = await join('cem')
  await cem.ask('subscribe', { channel: session, delivery: { maxLatencyMs: 50 }, view: { turns: 3 } })
  // The smallest latency of a link applies.
  await cem.ask('subscribe', { channel: root, delivery: { maxLatencyMs: 5000 } })
  const dan = await join('dan')
  await dan.ask('subscribe', { channel: session })
  await dan.echo(dan.dispatch(session, title('soon')))
  expect(cem.envelopes).toEqual([])
  world.advance(50)
  await cem.until(() => cem.state(session)['title'] === 'soon')
})

test('[H1] [V2] [H1.3] an unsupported version is refused with the supported ones and reported, and the connection is closed', async () => {
  const { link, world } = await testHost()
  const ann = link()
  const asked = ann.ask('initialize', { protocolVersions: ['9.0.0'], clientId: 'ann' })
  await expect(asked).rejects.toMatchObject({ code: -32005, data: { supportedVersions: namesOf(versions) } })
  await ann.until(() => ann.peer.closed.aborted)
  const said = world.reports.filter(({ event }) => event === 'unsupported protocol version')
  expect(said.map(({ detail }) => detail)).toEqual([
    expect.stringContaining('this host is older than the client'),
  ])
})

test('[H1] [S-07] a connection without a handshake is closed after ten seconds', async () => {
  const { link, world } = await testHost()
  const ann = link()
  world.advance(10_000)
  await ann.until(() => ann.peer.closed.aborted)
})

test('[L4] [L4.3] F-07: on a full disk changes are refused with a reason, reads go on, and the host recovers by itself', async () => {
  let full = false
  const all = await twoClients(await testHost({ full: () => full }))
  const { ann, ben, world } = all
  full = true
  const first = ann.dispatch(session, title('kept'))
  while (!world.reports.some(({ event }) => event === 'disk full')) await ben.ask('ping', {})
  expect(await ben.echo(ben.dispatch(session, title('refused')))).toMatchObject({
    rejectionReason: expect.stringContaining('full'),
  })
  expect(await ben.ask('listSessions', {})).toMatchObject({ items: [{ title: '' }] })
  expect(ann.envelopes).toEqual([])
  const cem = await all.join('cem', { subscribe: [session] })
  expect(cem.state(session)).toMatchObject({ title: '' })
  full = false
  world.advance(1000)
  expect(await ann.echo(first)).toMatchObject({ action: title('kept') })
})

test('[L4] [L4.1] F-07: on a full disk no dispatch waits for room: changes are refused, and later reads go on', async () => {
  const flushes: (() => void)[] = []
  let full = false
  const soon = (task: () => void) => void (full ? flushes.push(task) : queueMicrotask(task))
  const all = await testHost({ full: () => full, soon })
  const { ann, ben, world, core } = await twoClients(all)
  // A link whose own action is not flushed waits with its next one, so several links are needed.
  const others = await Promise.all(['b', 'c'].map((name) => all.join(name)))
  full = true
  for (const [n, client] of [ann, ...others].entries())
    client.dispatch(session, title(n + 'x'.repeat(4_000_000)))
  const early = ben.dispatch(session, title('early'))
  while (flushes.length === 0 || !core().log.congested) await ann.ask('ping', {})
  flushes.shift()?.()
  while (!world.reports.some(({ event }) => event === 'disk full')) await ann.ask('ping', {})
  const late = ben.dispatch(session, title('late'))
  for (const seq of [early, late])
    expect(await ben.echo(seq)).toMatchObject({ rejectionReason: expect.stringContaining('full') })
  expect(await ben.ask('listSessions', {})).toMatchObject({ items: [{ title: '' }] })
})

test('[S-16] of every action of every channel, a client may dispatch exactly the allowed ones', async () => {
  const { ann, ben } = await twoClients()
  const before = ben.state(session)
  const all = Object.values(kinds).flatMap((kind) => [...kind.actions.keys()])
  const forbidden = all.filter((type) => !kinds.session.dispatchable.has(type))
  expect(forbidden).toHaveLength(106 - 14)
  for (const type of forbidden) {
    const { rejectionReason } = await ann.echo(ann.dispatch(session, { type }))
    expect(rejectionReason, type).toEqual(expect.any(String))
  }
  expect(ben.state(session)).toBe(before)
  expect(ben.envelopes).toEqual([])
})

test('[S-14] in any order of requests, a connection is opened once, by a handshake, and answers only pings before', async () => {
  const { link } = await testHost()
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

test.each([
  ['listSessions', 'chat'],
  ['subscribe', 'chat'],
])('[R8] %s with a number as its %s is answered with invalid params', async (method, member) => {
  const { ann } = await twoClients()
  const params = { channel: root, query: 'x', [member]: 7 }
  await expect(ann.peer.request(method, params)).rejects.toMatchObject({
    code: -32602,
    message: `${member}: expected string, received number`,
  })
})
