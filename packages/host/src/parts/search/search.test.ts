import { devicesOf } from '../devices/devices.ts'
import type { Device, Role } from '@atrium/protocol/root/device'
import { pair } from '@atrium/protocol/rpc/pair'
import { expect, test } from 'vitest'
import { askingAgent, patientAgent, readyAgent } from '../../../test/agents.ts'
import { chat, chatOf, session, started, turn } from '../../../test/one-client-session.ts'
import { indexed, search, searchedHost, turnsWith } from '../../../test/search/searching.ts'
import { Client, testHost } from '../../../test/test-host.ts'

const commands = (result: object) =>
  (result as { _meta: { 'x-atrium': { commands?: readonly string[] } } })._meta['x-atrium'].commands ?? []

test('[Q20] a host with an index offers the commands, and one without does not', async () => {
  const { all } = await searchedHost()
  const ben = all.link()
  expect(commands(await ben.initialize('ben'))).toEqual(
    expect.arrayContaining(['x-atrium/search', 'x-atrium/rebuildSearch']),
  )
  const without = (await testHost()).link()
  expect(commands(await without.initialize('ben'))).not.toContain('x-atrium/search')
  await expect(search(without, 'x')).rejects.toMatchObject({ code: -32601 })
})

test('[Q20] clients of older versions do not have the commands', async () => {
  const { all } = await searchedHost()
  const old = all.link()
  const params = { channel: 'ahp-root://', protocolVersions: ['0.9.0'], clientId: 'old' }
  await old.peer.request('initialize', params)
  await expect(search(old, 'x')).rejects.toMatchObject({ code: -32601 })
})

test.each<[Role, boolean]>([
  ['watch', false],
  ['prompt', false],
  ['approve', false],
  ['own', true],
])('[Q20] a device with the role %s may search; may rebuild the index: %s', async (role, mayRebuild) => {
  const { all } = await searchedHost()
  const devices = devicesOf(all.core())
  const { code } = devices.pair({ name: 'phone', role })
  // The device was just paired, so it is there.
  const device = (await devices.redeem(code, { hash: 'hash' })) as Device
  const [near, far] = pair()
  all.host().connect(near, 'owner', device)
  const phone = new Client(far)
  await phone.initialize('phone')
  expect(await search(phone, 'word')).toMatchObject({ items: [] })
  const rebuilt = phone.peer.request('x-atrium/rebuildSearch', { channel: 'ahp-root://' })
  if (mayRebuild) await expect(rebuilt).resolves.toEqual({})
  else await expect(rebuilt).rejects.toMatchObject({ message: expect.stringContaining('needs the role own') })
})

test('[Q21] what people and agents wrote is found, and the titles', async () => {
  const { all, ann } = await searchedHost()
  await turn(ann, 't1', 'please greet the world')
  await indexed(all)
  const { items } = await search(ann, 'greet')
  expect(items).toMatchObject([
    { who: 'user', turnId: 't1', chat, excerpt: { matches: [{ start: 7, end: 12 }] } },
    { who: 'title', session, title: 'please greet the world', provider: 'mock' },
  ])
  expect((await search(ann, 'hello "from the"')).items).toMatchObject([
    { who: 'agent', time: '2026-01-01T00:00:00.000Z', excerpt: { text: 'Hello from the test.' } },
  ])
})

test('[Q21] what tools were called for is found', async () => {
  const { all, ann } = await searchedHost(askingAgent())
  ann.dispatch(chat, started('t1'))
  await ann.until(() => JSON.stringify(chatOf(ann).activeTurn ?? '').includes('pending-confirmation'))
  const confirmed = { type: 'chat/toolCallConfirmed', turnId: 't1', toolCallId: 't1#call', approved: true }
  ann.dispatch(chat, { ...confirmed, confirmed: 'user-action' })
  await ann.until(() => chatOf(ann).turns.length === 1)
  await indexed(all)
  expect((await search(ann, 'running ls')).items).toMatchObject([{ who: 'tool', turnId: 't1' }])
})

test('[Q21] a turn is found when it has ended, and not before', async () => {
  const agent = patientAgent()
  const { all, ann } = await searchedHost(agent)
  ann.dispatch(chat, started('t1', 'say something odd'))
  await ann.until(() => chatOf(ann).activeTurn !== undefined)
  await indexed(all)
  expect(await turnsWith(ann, 'odd')).toEqual([undefined])
  agent.finish('t1')
  await ann.until(() => chatOf(ann).turns.length === 1)
  await indexed(all)
  expect(await turnsWith(ann, 'odd')).toEqual(['t1', undefined])
})

test('[Q25] pages follow one another by a cursor', async () => {
  const { all, ann } = await searchedHost()
  for (let i = 0; i < 7; i++) await turn(ann, `t${i}`, 'same')
  await indexed(all)
  const seen: (string | undefined)[] = []
  let cursor: string | undefined
  do {
    const page = await search(ann, 'same', { limit: 3, ...(cursor !== undefined && { cursor }) })
    expect(page.items.length).toBeLessThanOrEqual(3)
    seen.push(...page.items.map(({ turnId }) => turnId))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  expect(new Set(seen).size).toBe(8)
})

test('[Q25] a window of VS Code gets the name that it knows a session by', async () => {
  const { all, ann } = await searchedHost()
  await ann.ask('createSession', { channel: 'ahp-session:/other' })
  ann.dispatch('ahp-session:/other', { type: 'session/titleChanged', title: 'Renamed' })
  await indexed(all)
  const window = all.link()
  const clientInfo = { name: 'vscode', version: '1' }
  await window.ask('initialize', { protocolVersions: ['1.0.0'], clientId: 'code', clientInfo })
  const { items: listed } = await window.ask('listSessions', {})
  const own = listed.find(({ title }) => title === 'Renamed')?.resource
  expect(own).toMatch(/^mock:/)
  expect((await search(window, 'renamed')).items).toMatchObject([{ session: own }])
  expect((await search(ann, 'renamed')).items).toMatchObject([{ session: 'ahp-session:/other' }])
})

test('[Q24] wrong params and odd queries', async () => {
  const { ann } = await searchedHost(readyAgent())
  await expect(search(ann, 'x', { limit: -1 })).rejects.toMatchObject({ code: -32602 })
  await expect(search(ann, 'x', { since: 'soon' })).rejects.toMatchObject({ code: -32602 })
  for (const query of ['', '"', '*', '" OR "', '\u0000', '(((', 'NEAR(a b)'])
    expect((await search(ann, query)).items).toEqual([])
})
