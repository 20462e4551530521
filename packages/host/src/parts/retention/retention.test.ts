import { rootUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { patientAgent, readyAgent } from '../../../test/agents.ts'
import { days, untilIdle } from '../../../test/held-flushes.ts'
import { chat, chatOf, oneClientSession, session, started, turn } from '../../../test/one-client-session.ts'
import { DiskFull } from '../../ports/log.ts'
import { forgetOld } from './retention.ts'
import type { Client, TestHost } from '../../../test/test-host.ts'

const keep = (count: unknown) => ({ type: 'root/configChanged', config: { 'atrium.retention': count } })

const stored = async (all: TestHost, uri = chat) =>
  (await all.store().log.read([uri], 0, Number.MAX_SAFE_INTEGER)).envelopes.map(({ action }) => action)

const seqOf = (all: TestHost) => all.core().log.committedSeq

async function set(ann: Client, value: unknown): Promise<void> {
  ann.dispatch(rootUri, keep(value))
  await untilIdle()
}

test('[L20] [L20.1] [L20.6] actions older than the retention are forgotten, and states stay', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  await turn(ann, 't1')
  await days(all, 5)
  const whole = await stored(all)
  await days(all, 1)
  expect(await stored(all)).toEqual(whole)
  await set(ann, 3)
  await days(all, 1)
  expect(await stored(all)).toEqual([])
  await turn(ann, 't2')
  await days(all, 2)
  expect((await stored(all)).some((action) => action.includes('t2'))).toBe(true)
  for (const how of ['crash', 'close'] as const) {
    await all.restart(how)
    const ben = await all.join('ben', { subscribe: [chat, session, rootUri] })
    expect(chatOf(ben).turns.map(({ id }) => id)).toEqual(['t1', 't2'])
    expect(ben.state(rootUri)).toMatchObject({ config: { values: { 'atrium.retention': 3 } } })
  }
})

test('[L20] [L20.3] a client that reconnects from before the checkpoint gets snapshots, and one from after it a replay', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  const others = [await all.join('ben', { subscribe: [chat] }), await all.join('cid', { subscribe: [chat] })]
  const early = seqOf(all)
  await turn(ann, 't1')
  await set(ann, 1)
  const late = seqOf(all)
  for (const { peer } of others) peer.close(1000, '')
  await days(all, 3)
  expect(await stored(all)).toEqual([])
  await turn(ann, 't2')
  const reconnect = (clientId: string, lastSeenServerSeq: number) =>
    all.link().ask('reconnect', { clientId, lastSeenServerSeq, subscriptions: [chat] })
  expect(await reconnect('ben', early)).toMatchObject({ type: 'snapshot' })
  expect(await reconnect('cid', late)).toMatchObject({ type: 'replay' })
})

test('[L20] [L6] [L20.4] a forgotten action that is sent again is not applied again', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  ann.dispatch(chat, started('t1'))
  const { clientSeq } = ann
  await ann.until(() => chatOf(ann).turns.length === 1)
  await set(ann, 1)
  ann.peer.close(1000, '')
  await days(all, 3)
  expect(await stored(all)).toEqual([])
  const again = await all.join('ann', { subscribe: [chat] })
  const { rejectionReason } = await again.echo(again.dispatch(chat, started('t1'), clientSeq))
  expect(rejectionReason).toMatch(/already accepted as \d+/)
  expect(chatOf(again).turns).toHaveLength(1)
})

test('[L20] [L20.1] [L20.5] a checkpoint lies between two turns', async () => {
  const agent = patientAgent()
  const { all, ann } = await oneClientSession(agent)
  agent.finish('t1')
  await turn(ann, 't1')
  await set(ann, 1)
  ann.dispatch(chat, started('t2'))
  await ann.until(() => chatOf(ann).activeTurn !== undefined)
  await days(all, 3)
  // While its turn runs, the chat is left alone.
  expect(await all.store().log.creation(chat)).toMatchObject({ state: expect.not.stringContaining('t1') })
  // After a crash the turn is interrupted. Its beginning is old by now, and its end is new.
  await all.restart('crash')
  all.world.advance(30_000)
  await untilIdle()
  const { state = '' } = (await all.store().log.creation(chat)) ?? {}
  expect(JSON.parse(state)).toMatchObject({ turns: [{ id: 't1' }] })
  expect(JSON.parse(state)).not.toHaveProperty('activeTurn')
  expect((await stored(all)).filter((action) => action.includes('turnStarted'))).toHaveLength(1)
  const ben = await all.join('ben', { subscribe: [chat] })
  expect(chatOf(ben).turns.map(({ id }) => id)).toEqual(['t1', 't2'])
})

test('[L20.5] a channel whose checkpoint would exceed 16 Mi characters keeps its actions', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  await set(ann, 1)
  const turns = async (from: number) => {
    for (let n = from; n < from + 3; n++) await turn(ann, `t${n}`, 'x'.repeat(3_000_000))
    await days(all, 3)
    return (await stored(all)).length
  }
  expect(await turns(0)).toBe(0)
  expect(await turns(3)).toBeGreaterThan(0)
})

test('[L20] [L20.2] on a full disk nothing is forgotten and nothing is reported; the next day goes on', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  await turn(ann, 't1')
  await set(ann, 1)
  const { log } = all.store()
  const { forget } = log
  let tries = 0
  log.forget = async () => {
    tries++
    throw new DiskFull('no space left')
  }
  await days(all, 2)
  expect(tries).toBe(1)
  expect(await stored(all)).not.toEqual([])
  expect(all.world.reports).toEqual([])
  log.forget = forget
  await days(all, 1)
  expect(await stored(all)).toEqual([])
})

/** A session with one turn that is old, and another one, while the first deletion of the chat's actions waits. */
async function duringDeletion() {
  const { all, ann } = await oneClientSession(readyAgent())
  const { log } = all.store()
  const [forget, creation] = [log.forget.bind(log), log.creation.bind(log)]
  const gates: (() => void)[] = []
  const gate = (isAt: boolean) =>
    isAt ? new Promise<void>((resolve) => void gates.push(resolve)) : Promise.resolve()
  // The deletion waits, and so do all later deletions between their first read and their second one.
  log.forget = async (...given) => {
    await gate(given[0].channel === chat)
    return forget(...given)
  }
  log.creation = async (uri) => {
    await gate(uri === chat && gates.length > 0)
    return creation(uri)
  }
  await turn(ann, 't1')
  await set(ann, 1)
  await days(all, 2)
  await turn(ann, 't2')
  const turnsAfterRestart = async () => {
    Object.assign(log, { forget, creation })
    for (const open of gates) {
      open()
      await untilIdle()
    }
    await days(all, 3)
    expect(await stored(all)).toEqual([])
    await all.restart('crash')
    return chatOf(await all.join('ben', { subscribe: [chat] })).turns.map(({ id }) => id)
  }
  return { all, gates, turnsAfterRestart }
}

test('[L20] [L20.7] the daily work of a day waits until that of the day before has ended', async () => {
  const { all, gates, turnsAfterRestart } = await duringDeletion()
  await days(all, 3)
  expect(gates).toHaveLength(1)
  expect(await turnsAfterRestart()).toEqual(['t1', 't2'])
})

test('[L20] [L20.7] a checkpoint that is written while older actions are read counts them once', async () => {
  const { all, gates, turnsAfterRestart } = await duringDeletion()
  const others: Promise<void>[] = []
  for (let n = 0; n < 2; n++) {
    others.push(forgetOld(all.core()))
    await days(all, 2)
  }
  expect(gates).toHaveLength(3)
  expect(await turnsAfterRestart()).toEqual(['t1', 't2'])
  await Promise.all(others)
})

test.each([0, 366, 1.5, '30', -1])('[L20] a retention of %j is refused', async (value) => {
  const { all, ann } = await oneClientSession(readyAgent())
  await set(ann, value)
  const [refused] = ann.envelopes.filter(({ rejectionReason }) => rejectionReason !== undefined)
  expect(refused?.rejectionReason).toContain('1 to 365')
  await set(ann, 365)
  await set(ann, null)
  expect(ann.envelopes.filter(({ rejectionReason }) => rejectionReason !== undefined)).toHaveLength(1)
  await days(all, 1)
  expect((await stored(all)).length + (await stored(all, session)).length).toBeGreaterThan(0)
})
