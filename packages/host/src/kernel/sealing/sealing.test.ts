import { DiskFull } from '../../ports/log.ts'
import type { Sealed } from '../../ports/log.ts'
import { expect, test } from 'vitest'
import { patientAgent, readyAgent } from '../../../test/agents.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { chat, chatOf, oneClientSession, session, started, turn } from '../../../test/one-client-session.ts'
import type { Client, TestHost } from '../../../test/test-host.ts'

const draft = (text: string) => ({ type: 'chat/draftChanged', draft: { text, origin: { kind: 'user' } } })

/** Records what the host seals. */
function watchSeals(all: TestHost): { uri: string; upTo: number; least: number; sealed: Sealed }[] {
  const seals: { uri: string; upTo: number; least: number; sealed: Sealed }[] = []
  const { log } = all.store()
  const { seal } = log
  log.seal = async (uri, upTo, least) => {
    const sealed = await seal(uri, upTo, least)
    seals.push({ uri, upTo, least, sealed })
    return sealed
  }
  return seals
}

async function pass(all: TestHost, ms: number, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    all.world.advance(ms)
    await untilIdle()
  }
}

async function leave(all: TestHost, client: Client): Promise<void> {
  for (const channel of [session, chat]) client.peer.notify('unsubscribe', { channel })
  await untilIdle()
  await pass(all, 60_000, 3)
}

const sealedOf = (seals: readonly { uri: string; sealed: Sealed }[], uri: string) =>
  seals.filter((each) => each.uri === uri).reduce((sum, { sealed }) => sum + sealed.envelopes, 0)

test('[L17] [L17.1] the envelopes of a channel that has left memory are sealed, and the channel is as before', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  const seals = watchSeals(all)
  for (let i = 0; i < 40; i++) ann.dispatch(chat, draft('word '.repeat(100) + i))
  await turn(ann, 't1')
  await ann.ask('subscribe', { channel: chat })
  const before = chatOf(ann)
  const stored = (await all.store().log.read([chat], 0, Number.MAX_SAFE_INTEGER)).envelopes
  expect(sealedOf(seals, chat)).toBe(0)
  await leave(all, ann)
  await pass(all, 50, 4)
  expect(sealedOf(seals, chat)).toBe(stored.length)
  await ann.ask('subscribe', { channel: chat })
  expect(chatOf(ann)).toEqual(before)
  await turn(ann, 't2')
  expect(chatOf(ann).turns.map(({ id }) => id)).toEqual(['t1', 't2'])
})

test('[L17] [L17.1] a channel in memory is sealed up to its last but one head', async () => {
  const { all, ann } = await oneClientSession(readyAgent(), { machine: { headEvery: 10, sealLeast: 1 } })
  const seals = watchSeals(all)
  for (let i = 0; i < 35; i++) ann.dispatch(chat, draft(`word ${i}`))
  await ann.until(() => chatOf(ann).draft?.text === 'word 34')
  await pass(all, 30_000)
  await pass(all, 50, 4)
  expect(sealedOf(seals, chat)).toBe(20)
  const text = chatOf(ann).draft?.text
  await all.restart('crash')
  const again = await all.join('ben', { subscribe: [chat] })
  expect(chatOf(again).draft?.text).toBe(text)
})

test('[L17] [L17.2] a chat is not sealed while its turn runs', async () => {
  const agent = patientAgent()
  const { all, ann } = await oneClientSession(agent, { machine: { headEvery: 5, sealLeast: 1 } })
  const seals = watchSeals(all)
  for (let i = 0; i < 20; i++) ann.dispatch(chat, draft(`word ${i}`))
  ann.dispatch(chat, started('t1'))
  await ann.until(() => chatOf(ann).activeTurn !== undefined)
  await pass(all, 30_000)
  await pass(all, 50, 4)
  expect(sealedOf(seals, chat)).toBe(0)
  agent.finish('t1')
  await ann.until(() => chatOf(ann).activeTurn === undefined)
  await pass(all, 60_000, 2)
  expect(sealedOf(seals, chat)).toBeGreaterThan(10)
})

test('[L17] [L17.3] after a start the host looks at what earlier runs have left', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  for (let i = 0; i < 40; i++) ann.dispatch(chat, draft('word '.repeat(100) + i))
  await turn(ann, 't1')
  await all.restart('close')
  const seals = watchSeals(all)
  await pass(all, 29_000)
  expect(seals).toEqual([])
  await pass(all, 1000)
  await pass(all, 50, 5)
  expect(new Set(seals.map(({ uri }) => uri))).toEqual(new Set(['ahp-root://', session, chat]))
  expect(sealedOf(seals, chat)).toBeGreaterThan(40)
})

test('[L17] [L17.4] a slice of less than 16 Ki characters stays as it is', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  const seals = watchSeals(all)
  for (let i = 0; i < 20; i++) ann.dispatch(chat, draft(`word ${i}`))
  await turn(ann, 't1')
  await leave(all, ann)
  await pass(all, 50, 4)
  expect(seals.filter(({ uri }) => uri === chat)).toMatchObject([{ least: 16_384, sealed: { envelopes: 0 } }])
})

test('[L17] [L17.5] on a full disk sealing is tried again after a minute, and a read-only host seals nothing', async () => {
  const { all, ann } = await oneClientSession(readyAgent(), { machine: { sealLeast: 1 } })
  await turn(ann, 't1')
  const { log } = all.store()
  const { seal } = log
  let tries = 0
  log.seal = () => {
    tries++
    return Promise.reject(new DiskFull('no space'))
  }
  await leave(all, ann)
  await pass(all, 50, 10)
  const before = tries
  expect(before).toBeGreaterThan(0)
  await pass(all, 50, 10)
  expect(tries).toBe(before)
  log.seal = seal
  const seals = watchSeals(all)
  await pass(all, 60_000)
  await pass(all, 50, 10)
  expect(sealedOf(seals, chat)).toBeGreaterThan(3)
  expect(all.world.reports.filter(({ event }) => event.includes('seal'))).toEqual([])

  await all.restart('close', 'it is a copy')
  const none = watchSeals(all)
  await pass(all, 60_000, 2)
  expect(none).toEqual([])
})

test('[L16] [L16.3] damage that sealing finds is reported, and the channel is left as it is', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  await turn(ann, 't1')
  all.store().log.seal = async () => ({ envelopes: 0, more: false, damaged: 'number 7 has a wrong checksum' })
  await leave(all, ann)
  await pass(all, 50, 4)
  const found = all.world.reports.filter(({ event }) => event === 'damaged channel')
  expect(found.map(({ detail }) => detail)).toContain(
    `the stored history of ${chat} is damaged: number 7 has a wrong checksum`,
  )
})

test('[L18] unused space is given back when nothing waits to be sealed, after a start and after a disposal', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  let left = 2
  let calls = 0
  all.store().log.shrink = async () => {
    calls++
    return left-- > 0
  }
  await pass(all, 30_000)
  await pass(all, 50, 10)
  expect(calls).toBe(3)
  await pass(all, 50, 10)
  expect(calls).toBe(3)
  left = 1
  await ann.ask('disposeSession', { channel: session })
  await untilIdle()
  await pass(all, 50, 10)
  expect(calls).toBe(5)
})

test('[L21] [L21.1] what is dropped while a slice is deleted is not forgotten, and a full disk is tried again after a minute', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  const calls: (() => void)[] = []
  let full = false
  all.store().log.shrink = async () => {
    await new Promise<void>((resolve) => calls.push(resolve))
    if (full) throw new DiskFull('no space left')
    return false
  }
  await pass(all, 30_000)
  await pass(all, 50, 5)
  expect(calls).toHaveLength(1)
  await ann.ask('disposeSession', { channel: session })
  await untilIdle()
  calls.at(-1)?.()
  await untilIdle()
  await pass(all, 50, 5)
  expect(calls).toHaveLength(2)
  full = true
  calls.at(-1)?.()
  await untilIdle()
  await pass(all, 50, 5)
  expect(calls).toHaveLength(2)
  await pass(all, 60_000)
  expect(calls).toHaveLength(3)
})
