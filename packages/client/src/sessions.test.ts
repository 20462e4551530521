import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { untilIdle } from '../../host/test/held-flushes.ts'
import { hostAndClients } from '../test/host-and-clients.ts'
import type { TestClient, HostAndClients } from '../test/host-and-clients.ts'
import { Hosts } from './hosts.ts'
import { SessionList } from './sessions.ts'

const titles = (list: SessionList) =>
  list.items
    .map(({ title }) => title)
    .toSorted()
    .join()

/** Creates a session and starts a turn in it: the host lists a session from its first turn on. */
async function startTurn(client: TestClient, name: string): Promise<void> {
  const session = `ahp-session:/${name}`
  await client.ask('createSession', { channel: session, provider: 'mock' })
  const message = { text: name, origin: { kind: 'user' } }
  const begun = { type: 'chat/turnStarted', turnId: name, startedAt: '2026-01-01T00:00:00Z', message }
  expect(await client.dispatch(defaultChatUri(session), begun)).toMatchObject({ outcome: 'accepted' })
}

/**
 * Advances the host's clock until the condition holds: the host collects changes of the list for a while before it
 * sends them.
 */
async function until(all: HostAndClients, done: () => boolean): Promise<void> {
  while (!done()) {
    all.world.advance(1_000)
    await untilIdle()
  }
}

test('[U6] the list follows the host: sessions added, renamed and removed, also while the link was lost', async () => {
  const all = await hostAndClients()
  const ann = all.client('ann')
  const ben = all.client('ben')
  const list = new SessionList(ann)
  for (const name of ['a', 'b']) await startTurn(ben, name)
  await ben.dispatch('ahp-session:/a', { type: 'session/titleChanged', title: 'A' } as never)
  await until(all, () => titles(list) === 'A,b')
  ann.cut()
  await untilIdle()
  await ben.ask('disposeSession', { channel: 'ahp-session:/a' })
  await startTurn(ben, 'c')
  expect(titles(list)).toBe('A,b')
  ann.clock.advance(1_000)
  await until(all, () => titles(list) === 'b,c')
  await ben.ask('disposeSession', { channel: 'ahp-session:/b' })
  await until(all, () => titles(list) === 'c')
  list.release()
})

test('[U6] the sessions of two hosts are in one list, each with the name of its host', async () => {
  const rooms = { home: await hostAndClients(), work: await hostAndClients() }
  const hosts = new Hosts()
  for (const [name, each] of Object.entries(rooms)) {
    const client = each.client('ann')
    await startTurn(client, 'same')
    hosts.add(name, client)
  }
  await until(rooms.home, () => hosts.sessions.length === 2)
  expect(
    hosts
      .find('ahp-session:/same')
      .map(({ host }) => host)
      .toSorted(),
  ).toEqual(['home', 'work'])
  expect([...hosts.links.values()].map(({ state }) => state)).toEqual(['live', 'live'])
  hosts.remove('home')
  expect(hosts.sessions.map(({ host }) => host)).toEqual(['work'])
})

test('[U6] the list is the newest first after every change, and the same array until something changes', async () => {
  const all = await hostAndClients()
  const client = all.client('ann')
  const list = new SessionList(client)
  for (const name of ['a', 'b', 'c']) {
    await startTurn(client, name)
    await until(all, () => list.items.some(({ title }) => title === name))
  }
  await client.dispatch('ahp-session:/a', { type: 'session/titleChanged', title: 'A' } as never)
  await until(all, () => list.items.some(({ title }) => title === 'A'))
  await client.ask('disposeSession', { channel: 'ahp-session:/b' })
  await until(all, () => list.items.length === 2)
  const times = list.items.map(({ modifiedAt }) => modifiedAt)
  expect(times).toEqual(times.toSorted().toReversed())
  expect(list.items).toBe(list.items)
})
