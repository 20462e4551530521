import { devicesOf } from '../devices/devices.ts'
import type { Device, Role } from '@atrium/protocol/root/device'
import { pair } from '@atrium/protocol/rpc/pair'
import { rootUri } from '@atrium/protocol/uri'
import { describe, expect, test } from 'vitest'
import { askingAgent, readyAgent } from '../../../test/agents.ts'
import { untilIdle } from '../../../test/held-flushes.ts'
import { askEnvelopes, askState, folded, pages } from '../../../test/history/past.ts'
import {
  chat,
  chatOf,
  message,
  oneClientSession,
  session,
  started,
  turn,
} from '../../../test/one-client-session.ts'
import { fork, severalChats } from '../../../test/several-chats.ts'
import { Client } from '../../../test/test-host.ts'

test('[L22] [L22.2] the state at each number is the one that clients saw then', async () => {
  const { all, ann } = await oneClientSession(askingAgent())
  const seen = new Map<number, unknown>()
  const ben = await all.join('ben', { subscribe: [chat] })
  const { fold } = ben
  ben.fold = (uri, action) => {
    fold.call(ben, uri, action)
    seen.set(ben.lastSeen, ben.state(uri))
  }
  ann.dispatch(chat, started('t1'))
  await ann.until(() => JSON.stringify(chatOf(ann).activeTurn ?? '').includes('pending-confirmation'))
  const confirmed = { type: 'chat/toolCallConfirmed', turnId: 't1', toolCallId: 't1#call', approved: true }
  ann.dispatch(chat, { ...confirmed, confirmed: 'user-action' })
  await ben.until(() => chatOf(ben).turns.length === 1)
  expect(seen.size).toBeGreaterThan(5)
  for (const [seq, state] of seen) {
    const { snapshot } = await askState(ann, seq)
    expect(snapshot).toMatchObject({ resource: chat, fromSeq: seq })
    // The title comes from the session, and is not in the log of the chat.
    expect({ ...snapshot?.state, title: '' }).toEqual({ ...(state as object), title: '' })
  }
})

test('[L22] [L22.1] a number between two actions has the state after the first of them', async () => {
  const { ann } = await oneClientSession(readyAgent())
  await turn(ann, 't1')
  const { ends } = await askEnvelopes(ann)
  ann.dispatch(session, { type: 'session/titleChanged', title: 'Other' })
  await untilIdle()
  const { snapshot, position, total } = await askState(ann, ann.lastSeen)
  expect(ann.lastSeen).toBeGreaterThan(ends)
  expect(snapshot).toMatchObject({ fromSeq: ends })
  expect(position).toBe(total)
})

test('[L22] sessions and the root have a past, too', async () => {
  const { ann } = await oneClientSession(readyAgent())
  const before = ann.lastSeen
  const { serverSeq } = await ann.echo(ann.dispatch(session, { type: 'session/titleChanged', title: 'New' }))
  const titleAt = async (seq: number) => (await askState(ann, seq, { channel: session })).snapshot?.state
  expect(await titleAt(serverSeq)).toMatchObject({ title: 'New' })
  expect(await titleAt(before)).not.toMatchObject({ title: 'New' })
  expect(await askState(ann, before, { channel: rootUri })).toHaveProperty('snapshot.state.agents')
})

describe('[L22] [L22.6] wrong calls', () => {
  test.each([
    [{ seq: 'x' }, -32602, 'seq'],
    [{ seq: -1 }, -32602, 'seq'],
    [{ seq: 1.5 }, -32602, 'seq'],
    [{}, -32602, 'seq'],
    [{ seq: 1 }, -32602, 'before the creation'],
    [{ seq: Number.MAX_SAFE_INTEGER }, -32602, 'not been assigned'],
    [{ seq: 1, channel: 'mock:/unknown' }, -32008, 'does not exist'],
    [{ seq: 1, channel: '' }, -32008, 'does not exist'],
    [{ seq: 1, channel: 7 }, -32602, 'channel'],
  ])('%j is refused', async (params, code, words) => {
    const { ann } = await oneClientSession(readyAgent())
    const asked = ann.peer.request('x-atrium/stateAt', { channel: chat, ...params })
    await expect(asked).rejects.toMatchObject({ code, message: expect.stringContaining(words) })
  })

  test.each([
    [{ after: 1, position: 1 }, 'exclude each other'],
    [{ after: Number.MAX_SAFE_INTEGER }, 'not been assigned'],
    [{ position: 'x' }, 'position'],
    [{ limit: -1 }, 'limit'],
  ])('a page of %j is refused', async (params, words) => {
    const { ann } = await oneClientSession(readyAgent())
    const refusal = { code: -32602, message: expect.stringContaining(words) }
    await expect(askEnvelopes(ann, params)).rejects.toMatchObject(refusal)
  })

  test('a turn that is not in the state is refused', async () => {
    const { ann } = await oneClientSession(readyAgent())
    await expect(askState(ann, ann.lastSeen, { before: 't9' })).rejects.toMatchObject({ code: -32602 })
  })

  test('a disposed chat has no past', async () => {
    const { ann } = await oneClientSession(readyAgent())
    await turn(ann, 't1')
    const seq = ann.lastSeen
    await askState(ann, seq)
    await ann.ask('disposeSession', { channel: session })
    for (const channel of [chat, session]) {
      const refusal = { code: -32008, message: expect.stringContaining('was disposed of') }
      await expect(askState(ann, seq, { channel })).rejects.toMatchObject(refusal)
      await expect(askEnvelopes(ann, { channel })).rejects.toMatchObject(refusal)
    }
  })
})

test('[L23] [L23.1] [L23.2] pages give all envelopes in order, as clients got them', async () => {
  const { ann } = await oneClientSession(readyAgent())
  for (const id of ['t1', 't2', 't3']) await turn(ann, id)
  const own = ann.envelopes.filter(({ channel }) => channel === chat)
  const { envelopes, count, total } = await pages(ann, { limit: 4 })
  expect(envelopes).toEqual(own)
  expect(total).toBe(own.length)
  expect(count).toBe(Math.ceil(own.length / 4))
  const { envelopes: later } = await askEnvelopes(ann, { after: own[4]?.serverSeq, limit: 2 })
  expect(later).toEqual(own.slice(5, 7))
  expect(await askEnvelopes(ann, { position: 1000 })).toMatchObject({ envelopes: [], more: false })
})

test('[L23] [L23.2] [L23.3] refusals, pages of turns, drafts and principals are in no envelope', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  await turn(ann, 't1')
  ann.dispatch(chat, started('t1', 'again'))
  ann.dispatch(chat, { type: 'chat/draftChanged', draft: message('unsent words') })
  await ann.ask('fetchTurns', { channel: chat })
  const ben = await all.join('ben')
  const { envelopes, ends } = await pages(ben)
  expect(envelopes.map(({ action }) => action.type)).toEqual([
    'chat/turnStarted',
    ...ann.envelopes.flatMap(({ action: { type } }) => (/delta|Part|Complete/.test(type) ? [type] : [])),
  ])
  expect(JSON.stringify(envelopes)).not.toMatch(/principal|unsent|rejection/)
  expect(JSON.stringify(await askState(ben, ends))).not.toContain('unsent')
  expect(chatOf(ann).draft).toBeDefined()
})

test('[L23] sealed actions are found, and a restart changes nothing', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  for (const id of ['t1', 't2', 't3']) await turn(ann, id)
  const before = await pages(ann)
  const middle = before.envelopes[7]?.serverSeq
  const state = await askState(ann, middle)
  expect(await all.store().log.seal(chat, before.ends, 0)).toMatchObject({ envelopes: before.total })
  for (const how of ['crash', 'close'] as const) {
    await all.restart(how)
    const ben = await all.join('ben')
    expect(await pages(ben)).toEqual(before)
    expect(await askState(ben, middle)).toEqual(state)
  }
})

test('[L22] [L23.4] a fork begins with the turns that it has copied', async () => {
  const { ann } = await oneClientSession(severalChats())
  for (const id of ['t1', 't2', 't3']) await turn(ann, id)
  const channel = 'ahp-chat:/copy'
  await fork(ann, channel, 't2')
  const { begins, total } = await askEnvelopes(ann, { channel })
  expect(total).toBe(0)
  const { snapshot } = await askState(ann, begins, { channel })
  expect(snapshot?.state).toMatchObject({ turns: chatOf(ann).turns.slice(0, 2) })
})

test('[L22] [L22.7] the finished turns of a state come in pages', async () => {
  const { ann } = await oneClientSession(readyAgent())
  for (const id of ['t1', 't2', 't3', 't4', 't5']) await turn(ann, id)
  const seen: string[] = []
  for (let before: string | undefined; ;) {
    const more = before === undefined ? {} : { before }
    const { snapshot, older } = await askState(ann, ann.lastSeen, { turns: 2, ...more })
    const { turns } = (snapshot?.state ?? { turns: [] }) as { turns: { id: string }[] }
    expect(turns.length).toBeLessThanOrEqual(2)
    seen.unshift(...turns.map(({ id }) => id))
    before = older
    if (before === undefined) break
  }
  expect(seen).toEqual(['t1', 't2', 't3', 't4', 't5'])
})

test.each<Role>(['watch', 'prompt', 'approve', 'own'])(
  '[L22] a device with the role %s may read the past',
  async (role) => {
    const { all, ann } = await oneClientSession(readyAgent())
    await turn(ann, 't1')
    const devices = devicesOf(all.core())
    // The device was just paired, so it is there.
    const device = (await devices.redeem(devices.pair({ name: 'phone', role }).code, {
      hash: 'hash',
    })) as Device
    const [near, far] = pair()
    all.host().connect(near, 'owner', device)
    const phone = new Client(far)
    await phone.initialize('phone')
    expect(await askState(phone, ann.lastSeen)).toHaveProperty('snapshot')
    expect(await askEnvelopes(phone)).toHaveProperty('total')
  },
)

test('[L22] clients of older versions do not have the commands', async () => {
  const { all, ann } = await oneClientSession(readyAgent())
  const old = all.link()
  await old.peer.request('initialize', { channel: rootUri, protocolVersions: ['0.9.0'], clientId: 'old' })
  await expect(askState(old, ann.lastSeen)).rejects.toMatchObject({ code: -32601 })
  await expect(askEnvelopes(old)).rejects.toMatchObject({ code: -32601 })
})

test('[L22] a folded page equals the state at its end', async () => {
  const { ann } = await oneClientSession(readyAgent())
  for (const id of ['t1', 't2']) await turn(ann, id)
  const all = await pages(ann)
  for (const count of [0, 1, 5, all.total]) {
    const some = all.envelopes.slice(0, count)
    const { snapshot } = await askState(ann, some.at(-1)?.serverSeq ?? all.begins)
    expect(await folded(ann, all, some, all.gaps)).toEqual(snapshot?.state)
  }
})
