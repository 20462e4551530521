import { describe, expect, test } from 'vitest'
import { silentAgent, testHost } from '../../test/test-host.ts'
import { reconnected, session, title, twoClients } from '../../test/two-clients.ts'

const root = 'ahp-root://'

describe('[L13] a client that reconnects', () => {
  test('gets exactly the actions that it missed, and then every new one, without a gap', async () => {
    const all = await twoClients()
    const { ann, ben } = all
    ann.peer.close()
    const missed = ['a', 'b', 'c'].map((text) => ben.dispatch(session, title(text)))
    await ben.echo(missed[2] ?? 0)
    const { back, result } = await reconnected(all, ann)
    expect(result).toMatchObject({ type: 'replay', missing: [] })
    if (result.type !== 'replay') return
    expect(result.actions).toEqual(ben.envelopes)
    const seq = ben.dispatch(session, title('d'))
    await ben.echo(seq)
    await back.until(() => back.state(session)['title'] === 'd')
    expect(back.state(session)).toEqual(ben.state(session))
  })

  test('[L13.1] gets the actions that it missed from a host that was killed and started again', async () => {
    const all = await twoClients()
    const { ann, ben } = all
    ann.peer.close()
    await ben.echo(ben.dispatch(session, title('before the crash')))
    await all.restart('crash')
    const { result } = await reconnected(all, ann)
    expect(result).toMatchObject({ type: 'replay', actions: [{ action: title('before the crash') }] })
  })

  test('[L13.1] gets snapshots when its number is in a hole between epochs or in the future', async () => {
    const all = await twoClients()
    const { ann } = all
    const last = ann.lastSeen
    await all.restart('crash')
    for (const lastSeen of [last + 10, Number.MAX_SAFE_INTEGER, 0]) {
      ann.lastSeen = lastSeen
      const { result } = await reconnected(all, ann)
      expect(result).toMatchObject({ type: 'snapshot', snapshots: [{ resource: session }] })
    }
  })

  test('[L13.13] gets snapshots after a crash when it has seen a refusal, which is not on the disk', async () => {
    const all = await twoClients()
    const { ann } = all
    const durable = ann.lastSeen
    const { serverSeq } = await ann.echo(ann.dispatch(session, { type: 'session/ready' }))
    expect(serverSeq).toBeGreaterThan(durable)
    ann.peer.close()
    await all.restart('crash')
    const { result } = await reconnected(all, ann)
    expect(result).toMatchObject({ type: 'snapshot' })
  })

  test('[L13.2] gets snapshots when it never had a snapshot of a channel that it lists', async () => {
    const all = await twoClients()
    const { result } = await reconnected(all, all.ann, [session, root])
    expect(result.type === 'snapshot' && result.snapshots.map(({ resource }) => resource)).toEqual([
      session,
      root,
    ])
  })

  test('[L13.6] learns which channels are gone', async () => {
    const all = await twoClients()
    await all.ben.ask('disposeSession', { channel: session })
    const { result } = await reconnected(all, all.ann, [session, 'ahp-session:/never'])
    expect(result).toEqual({ type: 'replay', actions: [], missing: [session, 'ahp-session:/never'] })
  })

  test('[L13.9] and is unknown gets an error that asks for initialize', async () => {
    const { link } = await testHost()
    const asked = link().ask('reconnect', { clientId: 'x', lastSeenServerSeq: 1, subscriptions: [] })
    await expect(asked).rejects.toMatchObject({ code: -32008 })
  })

  test('[F-31] while others write gets each action once and in order', async () => {
    const all = await twoClients()
    const { ann, ben } = all
    const before = ben.envelopes.length
    for (let i = 0; i < 300; i++) ben.dispatch(session, title(`missed ${i}`))
    await ben.until(() => ben.envelopes.length === before + 100)
    const seen = ann.envelopes.length
    const reconnecting = reconnected(all, ann)
    for (let i = 0; i < 300; i++) ben.dispatch(session, title(`live ${i}`))
    const { back, result } = await reconnecting
    expect(result.type).toBe('replay')
    await back.until(() => back.state(session)['title'] === 'live 299')
    const received = [...ann.envelopes.slice(0, seen), ...back.envelopes].map(({ serverSeq }) => serverSeq)
    await ben.until(() => ben.state(session)['title'] === 'live 299')
    expect(received).toEqual(ben.envelopes.map(({ serverSeq }) => serverSeq))
  })

  test('[F-23] [L13.7] closes its older connection, whose later dispatches have no effect', async () => {
    const all = await twoClients()
    const { ann, ben } = all
    const back = all.link()
    await back.ask('reconnect', {
      clientId: 'ann',
      lastSeenServerSeq: ann.lastSeen,
      subscriptions: [session],
    })
    ann.dispatch(session, title('from the old connection'))
    await ann.until(() => ann.peer.closed.aborted)
    await ben.echo(ben.dispatch(session, title('from the new one')))
    expect(ben.envelopes.map(({ action }) => action)).toEqual([title('from the new one')])
  })
})

describe('[L13] [L13.14] a request that the host has begun when its link ends', () => {
  const other = 'ahp-session:/two'

  /** A host that creates the session `other` for Ann, and waits for the agent until `finish` is called. */
  async function slowCreation() {
    let finish = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const all = await twoClients()
    await new Promise<void>((begun) => {
      all.host().offer([{ ...silentAgent, probe: () => (begun(), finished) }])
      all.ann.ask('createSession', { channel: other }).catch(() => {})
    })
    return { ...all, finish }
  }

  test('is carried out before what the client sends on its new link, and the answer to the handshake does not wait', async () => {
    const all = await slowCreation()
    const { back, result } = await reconnected(all, all.ann)
    expect(result.type).toBe('replay')
    const seq = back.dispatch(other, title('from the new link'))
    const subscribed = back.ask('subscribe', { channel: other })
    all.finish()
    expect(await back.echo(seq)).toMatchObject({ channel: other, action: title('from the new link') })
    expect((await subscribed).snapshot).toMatchObject({ resource: other })
  })

  test('is carried out first also if a link between the two has ended', async () => {
    const all = await slowCreation()
    const between = await reconnected(all, all.ann)
    between.back.lastSeen = all.ann.lastSeen
    const { back } = await reconnected(all, between.back)
    const seq = back.dispatch(other, title('from the third link'))
    all.finish()
    expect(await back.echo(seq)).toMatchObject({ channel: other, action: title('from the third link') })
  })

  test('delays no other client', async () => {
    const all = await slowCreation()
    await reconnected(all, all.ann)
    const seq = all.ben.dispatch(session, title('meanwhile'))
    expect(await all.ben.echo(seq)).toMatchObject({ action: title('meanwhile') })
    all.finish()
  })
})

describe('[L6] [F-22] an action that a client sends again', () => {
  test('[L6.3] has no second effect when its echo was in the replay', async () => {
    const all = await twoClients()
    const { ann, ben } = all
    const seq = ann.dispatch(session, title('once'))
    await ben.until(() => ben.state(session)['title'] === 'once')
    ann.lastSeen = Math.min(...ben.envelopes.map(({ serverSeq }) => serverSeq)) - 1
    const { back, result } = await reconnected(all, ann)
    expect(result).toMatchObject({ type: 'replay', actions: [{ origin: { clientSeq: seq } }] })
    back.dispatch(session, title('once'), seq)
    back.dispatch(session, title('twice'), seq + 1)
    await ben.until(() => ben.state(session)['title'] === 'twice')
    expect(ben.envelopes.map(({ action }) => action)).toEqual([title('once'), title('twice')])
    await back.echo(seq + 1)
    expect(back.envelopes.filter(({ origin }) => origin?.clientSeq === seq)).toHaveLength(1)
  })

  test('[L6.3] is refused with "already accepted" after the client initialized again', async () => {
    const all = await twoClients()
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

  test('[L6.2] with another payload is new, and so is every action with clientSeq 0', async () => {
    const all = await twoClients()
    const { ann, ben } = all
    const seq = ann.dispatch(session, title('one'))
    ann.dispatch(session, title('zero'), 0)
    await ben.until(() => ben.state(session)['title'] === 'zero')
    ann.lastSeen = Math.min(...ben.envelopes.map(({ serverSeq }) => serverSeq)) - 1
    const { back } = await reconnected(all, ann)
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
