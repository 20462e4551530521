import { defaultChatUri } from '@atrium/protocol/uri'
import { expect, test } from 'vitest'
import { quiet } from '../../host/test/held-flushes.ts'
import { hostAndClients } from '../test/host-and-clients.ts'
import type { TestClient, HostAndClients } from '../test/host-and-clients.ts'
import { Hosts } from './hosts.ts'
import { SessionList } from './sessions.ts'

const titles = (list: SessionList) =>
  list.items
    .map(({ title }) => title)
    .toSorted()
    .join()

/** A session is listed when something was said in it. */
async function said(guest: TestClient, name: string): Promise<void> {
  const session = `ahp-session:/${name}`
  await guest.ask('createSession', { channel: session, provider: 'mock' })
  const message = { text: name, origin: { kind: 'user' } }
  const begun = { type: 'chat/turnStarted', turnId: name, startedAt: '2026-01-01T00:00:00Z', message }
  expect(await guest.dispatch(defaultChatUri(session), begun)).toMatchObject({ outcome: 'accepted' })
}

/** What the host tells of its sessions waits a moment for more of it. */
async function until(all: HostAndClients, done: () => boolean): Promise<void> {
  while (!done()) {
    all.world.advance(1_000)
    await quiet()
  }
}

test('[U6] the list is what the host has: what is added, renamed and removed, also while nobody listened', async () => {
  const all = await hostAndClients()
  const ann = all.guest('ann')
  const ben = all.guest('ben')
  const list = new SessionList(ann)
  for (const name of ['a', 'b']) await said(ben, name)
  await ben.dispatch('ahp-session:/a', { type: 'session/titleChanged', title: 'A' } as never)
  await until(all, () => titles(list) === 'A,b')
  ann.cut()
  await quiet()
  await ben.ask('disposeSession', { channel: 'ahp-session:/a' })
  await said(ben, 'c')
  expect(titles(list)).toBe('A,b')
  ann.clock.advance(1_000)
  await until(all, () => titles(list) === 'b,c')
  await ben.ask('disposeSession', { channel: 'ahp-session:/b' })
  await until(all, () => titles(list) === 'c')
  list.release()
})

test('[U6] two hosts are one list, and each session says whose it is', async () => {
  const houses = { home: await hostAndClients(), work: await hostAndClients() }
  const hosts = new Hosts()
  for (const [name, each] of Object.entries(houses)) {
    const guest = each.guest('ann')
    await said(guest, 'same')
    hosts.add(name, guest)
  }
  await until(houses.home, () => hosts.sessions.length === 2)
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
