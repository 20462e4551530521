import { kinds } from '@atrium/protocol/channels'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  actionOf,
  actionTypes,
  createEveryKind,
  everything,
  kindNames,
  uriOf,
} from '../../test/every-kind.ts'
import { testHost } from '../../test/test-host.ts'
import type { Client, TestHost } from '../../test/test-host.ts'

const session = 'ahp-session:/one'

describe('S-16: every action, in a channel of every kind', () => {
  test.each(kindNames)(
    '[H3] %s: an action that clients may not dispatch is refused with a reason and changes nothing',
    async (kind) => {
      const all = await testHost()
      createEveryKind(all.core())
      const [ann, ben] = [await all.join('ann'), await all.join('ben', { subscribe: [uriOf(kind)] })]
      await all.core().log.settled()
      const before = everything(all.core())
      const forbidden = actionTypes.filter((type) => !kinds[kind].dispatchable.has(type))
      expect(forbidden).toHaveLength(106 - kinds[kind].dispatchable.size)
      // Each action is sent in the right shape, in a wrong shape, and with fields that pretend to have authority.
      for (const type of forbidden)
        for (const payload of [
          {},
          { _meta: { admin: true } },
          ...fc.sample(actionOf(type), { numRuns: 2, seed: 1 }),
        ])
          ann.dispatch(uriOf(kind), { ...payload, type })
      await ann.until(() => ann.envelopes.length === 4 * forbidden.length)
      for (const { action, rejectionReason } of ann.envelopes)
        expect(rejectionReason, action.type).toMatch(/\w+ \w+/)
      expect(everything(all.core())).toBe(before)
      expect(ben.envelopes).toEqual([])
      expect(all.world.reports).toEqual([])
    },
  )

  test('[H3] unknown action types are refused too', async () => {
    const all = await testHost()
    createEveryKind(all.core())
    const ann = await all.join('ann')
    await all.core().log.settled()
    const before = everything(all.core())
    const names = [
      '',
      'constructor',
      '__proto__',
      'toString',
      '@created',
      '@removed',
      'session/',
      'x'.repeat(10_000),
    ]
    for (const kind of kindNames) for (const type of names) ann.dispatch(uriOf(kind), { type })
    await ann.until(() => ann.envelopes.length === kindNames.length * names.length)
    expect(ann.envelopes.every(({ rejectionReason }) => rejectionReason !== undefined)).toBe(true)
    expect(everything(all.core())).toBe(before)
  })
})

describe('[S-17] [S-10] a client acts for itself alone', () => {
  async function together(): Promise<TestHost & { ann: Client; eve: Client }> {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: session, activeClient: { clientId: 'ann', tools: [] } })
    await ann.ask('subscribe', { channel: session })
    const eve = await all.join('eve', { subscribe: [session] })
    return { ...all, ann, eve }
  }
  const set = (clientId: string) => ({
    type: 'session/activeClientSet',
    activeClient: { clientId, tools: [] },
  })
  const removed = (clientId: string) => ({ type: 'session/activeClientRemoved', clientId })
  const tries = async (client: Client, ...actions: ({ type: string } & Record<string, unknown>)[]) => {
    const seqs = actions.map((action) => client.dispatch(session, action))
    const echoes = await Promise.all(seqs.map((seq) => client.echo(seq)))
    return echoes.map(({ rejectionReason }) => rejectionReason)
  }

  test.each(['ann', 'nobody', '', 'EVE', 'eve '])('[H3] not for %j', async (forged) => {
    const { ann, eve } = await together()
    const before = eve.state(session)
    expect(await tries(eve, set(forged), removed(forged))).toEqual([
      'a client can only add or remove itself as an active client',
      'a client can only add or remove itself as an active client',
    ])
    expect(eve.state(session)).toBe(before)
    expect(ann.envelopes).toEqual([])
    const create = eve.ask('createSession', {
      channel: 'ahp-session:/two',
      activeClient: { clientId: forged, tools: [] },
    })
    await expect(create).rejects.toMatchObject({ code: -32602 })
    await expect(eve.ask('subscribe', { channel: 'ahp-session:/two' })).rejects.toMatchObject({
      code: -32001,
    })
  })

  test('[H3] outdated and repeated actions are refused', async () => {
    const { ann, eve } = await together()
    expect(await tries(eve, removed('eve'))).toEqual(['this client is not an active client'])
    expect(await tries(eve, set('eve'), removed('eve'), removed('eve'))).toEqual([
      undefined,
      undefined,
      'this client is not an active client',
    ])
    await ann.until(() => ann.envelopes.length === 2)
    expect(ann.state(session)).toMatchObject({ activeClients: [{ clientId: 'ann' }] })
  })

  test('[L2] the origin of an action is the client of the link, whatever the message says', async () => {
    const { ann, eve } = await together()
    const forged = {
      origin: { clientId: 'ann', clientSeq: 1 },
      clientId: 'ann',
      principal: 'owner',
      serverSeq: 1,
    }
    eve.peer.notify('dispatchAction', {
      channel: session,
      clientSeq: 1,
      action: { type: 'session/titleChanged', title: 'x', ...forged },
      ...forged,
    })
    await ann.until(() => ann.envelopes.length === 1)
    expect(ann.envelopes[0]?.origin).toEqual({ clientId: 'eve', clientSeq: 1 })
  })
})

describe('[S-26] [S-10] knowing an id gives no rights', () => {
  test("[L14] another principal's client id opens nothing, closes nothing and reveals nothing", async () => {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: session })
    await ann.ask('subscribe', { channel: session })
    const opening = { protocolVersions: ['1.0.0'], clientId: 'ann', initialSubscriptions: [session] }
    const back = { clientId: 'ann', lastSeenServerSeq: ann.lastSeen, subscriptions: [session] }
    for (const [method, params] of [
      ['initialize', opening],
      ['reconnect', back],
    ] as const) {
      const eve = all.link('eve')
      await expect(eve.peer.request(method, params)).rejects.toMatchObject({
        code: -32009,
        message: 'this client id belongs to another principal or device: choose another one',
      })
      // The refused handshake has not opened the link: its other requests fail, and it gets no action.
      for (const [asked, channel] of [
        ['subscribe', session],
        ['listSessions', 'ahp-root://'],
        ['disposeSession', session],
      ])
        await expect(eve.peer.request(asked ?? '', { channel })).rejects.toMatchObject({ code: -32600 })
      eve.dispatch(session, { type: 'session/titleChanged', title: 'forged' })
      await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: method }))
      expect(eve.envelopes).toEqual([])
    }
    expect(ann.state(session)).toMatchObject({ title: 'reconnect' })
    // The client id is also refused while its owner is away, and after a restart.
    ann.peer.close()
    await all.restart('crash')
    for (const [method, params] of [
      ['initialize', opening],
      ['reconnect', back],
    ] as const)
      await expect(all.link('eve').peer.request(method, params)).rejects.toMatchObject({ code: -32009 })
    expect(await all.link().ask('reconnect', back)).toMatchObject({ type: 'replay' })
  })

  test('[L6] a resend counts only for the client that sent it first', async () => {
    const all = await testHost()
    const ann = await all.join('ann')
    await ann.ask('createSession', { channel: session })
    const eve = await all.join('eve', { subscribe: [session] })
    const said = { type: 'session/titleChanged', title: 'once' }
    await ann.echo(ann.dispatch(session, said, 5))
    // The same number and action from another client are not a resend. The title does not change, so only Eve gets an
    // echo.
    expect(await eve.echo(eve.dispatch(session, said, 5))).toMatchObject({ origin: { clientId: 'eve' } })
  })

  test('[H2] an unused URI means nothing', async () => {
    const { join, core } = await testHost()
    const ann = await join('ann')
    const guessed = 'ahp-session:/00000000-0000-4000-8000-000000000000'
    await expect(ann.ask('subscribe', { channel: guessed })).rejects.toMatchObject({ code: -32001 })
    await expect(ann.ask('disposeSession', { channel: guessed })).rejects.toMatchObject({ code: -32001 })
    ann.dispatch(guessed, { type: 'session/titleChanged', title: 'x' })
    await ann.ask('listSessions', {})
    expect(core().log.channel(guessed)).toBeUndefined()
    expect(ann.envelopes).toEqual([])
  })
})
