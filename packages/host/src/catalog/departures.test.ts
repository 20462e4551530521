import { limits } from '@atrium/protocol/limits'
import { expect, test } from 'vitest'
import { reconnectClient, untilIdle, session, title } from '../../test/held-flushes.ts'
import { ScriptedAgent, until } from '../../test/scripted-agent.ts'
import { accepted, chat, twoClientSession, sessionOf, started } from '../../test/two-client-session.ts'
import type { TwoClientSession } from '../../test/two-client-session.ts'
import { advance } from '../../test/test-host.ts'

const { graceMs, toolGraceMs } = limits
const active = { type: 'session/activeClientSet', activeClient: { clientId: 'ann', tools: [] } }

/** Ann has created the session in advance, so it is not announced before it is used. */
const inAdvance = () => twoClientSession(new ScriptedAgent(), { machine: advance })

/** Closes Ann's link and lets this time pass. */
async function left(all: TwoClientSession, ms: number): Promise<void> {
  all.ann.peer.close()
  await untilIdle()
  all.world.advance(ms)
  await untilIdle()
}

const exists = (all: TwoClientSession) =>
  all.join('newcomer').then((client) =>
    client.ask('subscribe', { channel: session }).then(
      () => true,
      () => false,
    ),
  )

test('[S-57 graceMs] at 10,800,000 ms a departed client is removed', async () => {
  const all = await inAdvance()
  await left(all, 10_800_000)
  expect(await exists(all)).toBe(false)
  expect(all.agent.disposed).toEqual([session])
})

test('[H6.1] [H6.3] [S-57 graceMs] past 10,800,000 ms a client comes back too late; a moment before, in time', async () => {
  const late = await inAdvance()
  await left(late, 10_800_001)
  const { result } = await reconnectClient(late, late.ann, late.ann.lastSeen, [session])
  expect(result).toMatchObject({ missing: [session] })
  const all = await inAdvance()
  await left(all, 10_799_999)
  await reconnectClient(all, all.ann, all.ann.lastSeen, [session])
  all.world.advance(graceMs)
  await untilIdle()
  expect(await exists(all)).toBe(true)
})

test('[H6] a client that leaves a second time has the full period again', async () => {
  const all = await inAdvance()
  await left(all, graceMs - 1)
  const { link } = await reconnectClient(all, all.ann, all.ann.lastSeen)
  link.peer.close()
  await untilIdle()
  all.world.advance(graceMs - 1)
  await untilIdle()
  expect(await exists(all)).toBe(true)
})

test('[H6] a session that was used stays, whoever created it', async () => {
  const all = await inAdvance()
  await accepted(all.ben, session, title('used'))
  await left(all, graceMs)
  expect(await exists(all)).toBe(true)
})

test('[H6] after a restart every client has departed, with the full period', async () => {
  const all = await inAdvance()
  await all.restart('crash')
  all.world.advance(graceMs - 1)
  await untilIdle()
  expect(await exists(all)).toBe(true)
  all.world.advance(1)
  await untilIdle()
  expect(await exists(all)).toBe(false)
})

test('[H6] [H6.1] after a restart, a client that comes back in time has lost nothing', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, active)
  await all.restart('close')
  all.world.advance(toolGraceMs - 1)
  const again = await all.join('ann', { subscribe: [session] })
  all.world.advance(graceMs)
  await untilIdle()
  expect(again.state(session)).toMatchObject({ activeClients: [{ clientId: 'ann' }] })
  await again.echo(again.dispatch(session, title('still there')))
})

test.each(['now', 'after a restart'])(
  '[H6.2] [S-57 toolGraceMs] %s a client that is away for 30,000 ms is no active client any more',
  async (when) => {
    const all = await twoClientSession()
    await accepted(all.ann, session, active)
    await accepted(all.ann, chat, started('t1'))
    if (when !== 'now') await all.restart('crash')
    const ben = await all.join('ben', { subscribe: [session] })
    await left(all, 29_999)
    expect(sessionOf(all)?.activeClients).toHaveLength(1)
    all.world.advance(1)
    await ben.until(() => (ben.state(session)['activeClients'] as unknown[]).length === 0)
    expect(ben.envelopes.at(-1)?.action).toEqual({ type: 'session/activeClientRemoved', clientId: 'ann' })
    await all.restart('crash')
    all.world.advance(graceMs)
    await untilIdle()
    expect(await exists(all)).toBe(true)
  },
)

test('[H6.2] also where the session is asleep', async () => {
  const all = await twoClientSession()
  await accepted(all.ann, session, active)
  await accepted(all.ann, session, title('asleep'))
  for (const channel of [session, chat]) all.ben.peer.notify('unsubscribe', { channel })
  all.ann.peer.notify('unsubscribe', { channel: session })
  all.ann.peer.notify('unsubscribe', { channel: chat })
  await all.ben.ask('listSessions', {})
  for (let n = 0; n < 3; n++) all.world.advance(60_000)
  expect(sessionOf(all)).toBeUndefined()
  await left(all, toolGraceMs)
  await until(() => sessionOf(all)?.activeClients.length === 0)
})

test('[H6.2] [H6.3] the agent of a session is released only when its last client is gone for good', async () => {
  const all = await twoClientSession()
  const released: string[] = []
  Object.assign(all.agent, { release: (uri: string) => void released.push(uri) })
  await accepted(all.ann, session, active)
  await accepted(all.ann, session, title('used'))
  await left(all, toolGraceMs)
  expect([sessionOf(all)?.activeClients, released]).toEqual([[], []])
  all.world.advance(graceMs)
  await untilIdle()
  expect(released).toEqual([session])
})

test('[H6] [H6.4] F-08: a read-only host does not', async () => {
  const all = await inAdvance()
  await accepted(all.ann, session, active)
  await accepted(all.ann, session, title('kept'))
  await all.ann.ask('createSession', { channel: 'ahp-session:/quiet' })
  await all.restart('close', 'the disk is read-only')
  const ben = await all.join('ben', { subscribe: [session, 'ahp-session:/quiet'] })
  all.world.advance(graceMs)
  await untilIdle()
  expect(ben.envelopes).toEqual([])
  expect(ben.state(session)).toMatchObject({ activeClients: [{ clientId: 'ann' }] })
  await ben.ask('subscribe', { channel: 'ahp-session:/quiet' })
})

test('[H6.4] F-07: a host with a full disk removes an absent client when there is space again', async () => {
  let full = false
  const all = await twoClientSession(new ScriptedAgent(), { full: () => full })
  await accepted(all.ann, session, active)
  full = true
  all.ben.dispatch(session, title('waits'))
  while (!all.world.reports.some(({ event }) => event === 'disk full')) await all.ben.ask('ping', {})
  await left(all, graceMs)
  expect(sessionOf(all)?.activeClients).toHaveLength(1)
  full = false
  all.world.advance(toolGraceMs)
  await until(() => !all.core().log.diskFull)
  all.world.advance(toolGraceMs)
  await until(() => sessionOf(all)?.activeClients.length === 0)
})

test('[H6] a session stays if it is used, or if its creator comes back, while its removal waits for the disk', async () => {
  for (const how of ['used', 'back']) {
    const all = await inAdvance()
    for (const channel of [session, chat]) all.ben.peer.notify('unsubscribe', { channel })
    await all.ben.ask('listSessions', {})
    await left(all, 60_000)
    for (let n = 0; n < 3; n++) all.world.advance(60_000)
    expect(sessionOf(all)).toBeUndefined()
    const { load } = all.store().log
    let go = () => {}
    const gate = new Promise<void>((resolve) => (go = resolve))
    all.store().log.load = (uri, tail) => gate.then(() => load(uri, tail))
    all.world.advance(graceMs)
    await untilIdle()
    if (how === 'back') void all.join('ann')
    else all.ben.dispatch(session, title('used after all'))
    await untilIdle()
    go()
    await untilIdle()
    expect([how, await exists(all)]).toEqual([how, true])
  }
})
