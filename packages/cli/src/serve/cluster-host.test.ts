import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFiles } from '@atrium/adapters/files'
import { listen } from '@atrium/adapters/server'
import { guide } from '@atrium/adapters/guide'
import { nodeWorld } from '@atrium/adapters/process/world'
import { memoryStore } from '@atrium/adapters/store/memory'
import { LeaseRow } from '@atrium/adapters/store/memory-lease'
import { connect } from '@atrium/client'
import { createHost } from '@atrium/host'
import { StoreAway } from '@atrium/host/ports/lease'
import { expect, onTestFinished, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import { clusterHost } from './cluster-host.ts'
import { ownersFiles } from './open-host.ts'

const leaseMs = 2000
const token = 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM'

/**
 * Nodes in this process on one store in memory, each with a server of its own. The lease does not end by itself, because the machine
 * may be busy.
 */
function cluster(ms = leaseMs) {
  let now = 0
  const row = new LeaseRow(ms, () => now)
  const disk = memoryStore()
  const add = async (name: string, standby: boolean) => {
    const world = nodeWorld(() => {})
    let cut = false
    const lease = row.leaseOf({ node: name })
    const reach = async <T>(ask: () => Promise<T>): Promise<T> => {
      if (cut) throw new Error('the database cannot be reached')
      return ask()
    }
    const host = await clusterHost({
      standby,
      place: 'memory',
      world,
      lease: {
        ...lease,
        renew: (epoch) => reach(() => lease.renew(epoch)),
        read: () => reach(() => lease.read()),
        acquire: () => reach(() => lease.acquire()),
      },
      effects: { mark: async () => 1, confirm: () => {}, expire: () => {}, stop: () => {} },
      open: ({ epoch, refusal, failed }) =>
        createHost({
          store: disk.share({ fence: () => row.fence(epoch) }),
          world,
          agents: [guide(world.later)],
          refusal,
          fatal: failed,
        }),
      failed: (error) => {
        throw error
      },
    })
    const { connect: accept, devices, ready, role, trouble } = host
    const server = await listen({ port: 0, token, connect: accept, devices, ready, role, trouble })
    const close = () => Promise.all([server.close(), host.close()])
    onTestFinished(async () => void (await close()))
    const readyz = async () => {
      const answer = await fetch(`http://127.0.0.1:${server.port}/readyz`)
      return `${answer.status} ${(await answer.text()).trim()}`
    }
    return { url: server.url, readyz, role, cut: (is: boolean) => void (cut = is) }
  }
  return { add, endLease: () => void (now += ms) }
}

test('[L46] /readyz says owner or standby, and a standby refuses every WebSocket with 503, whatever its token', async () => {
  const { add } = cluster()
  const one = await add('one', false)
  const two = await add('two', true)
  expect(await one.readyz()).toBe('200 owner')
  expect(await two.readyz()).toBe('503 standby')
  for (const tkn of [token, 'wrong']) {
    const socket = new WebSocket(`${two.url}?tkn=${tkn}`)
    const error = await new Promise<Error>((resolve) => socket.once('error', resolve))
    expect(error.message).toContain('503')
  }
})

test('[L46.3] /readyz says that the owner cannot reach its database, and is 200 again when it can', async () => {
  const { add } = cluster()
  const one = await add('one', false)
  one.cut(true)
  await vi.waitUntil(async () => (await one.readyz()) === '503 owner: its database cannot be reached', {
    timeout: 200_000,
  })
  one.cut(false)
  await vi.waitUntil(async () => (await one.readyz()) === '200 owner', { timeout: 200_000 })
})

test('[L46] a node without --standby fails with a sentence that names the owner', async () => {
  const { add } = cluster()
  await add('one', false)
  await expect(add('two', false)).rejects.toThrow(/in use by the node one; start this one with --standby/)
})

test('[L42.5] a node whose host cannot be opened fails with the reason, and not with that of a lease in use', async () => {
  const row = new LeaseRow(leaseMs, () => performance.now())
  const failed = vi.fn()
  const started = clusterHost({
    standby: true,
    place: 'memory',
    world: nodeWorld(() => {}),
    lease: row.leaseOf({ node: 'one' }),
    effects: { mark: async () => 1, confirm: () => {}, expire: () => {}, stop: () => {} },
    open: () => Promise.reject(new Error('a newer schema')),
    failed,
  })
  await expect(started).rejects.toThrow('a newer schema')
  expect(failed).not.toHaveBeenCalled()
  expect((await row.leaseOf({ node: 'two' }).read())?.msLeft).toBe(0)
})

test('[L46.1] a node that loses its database while it opens its host fails with that reason, if it may not be a standby', async () => {
  const started = clusterHost({
    standby: false,
    place: 'memory',
    world: nodeWorld(() => {}),
    lease: new LeaseRow(500, () => performance.now()).leaseOf({ node: 'one' }),
    effects: { mark: async () => 1, confirm: () => {}, expire: () => {}, stop: () => {} },
    open: () => Promise.reject(new StoreAway('gave up')),
    failed: () => {},
  })
  await expect(started).rejects.toThrow('The database of the store at memory cannot be reached')
})

test('[L43.4] while the lease is in doubt, no agent of the host itself changes a file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-owned-'))
  const place = { path: join(folder, 'a'), roots: [folder] }
  const term: { reason?: string } = {}
  const files = ownersFiles(nodeFiles(), { refusal: () => term.reason })
  await files.write(place, new TextEncoder().encode('one'))
  term.reason = 'the lease is in doubt'
  await expect(files.write(place, new TextEncoder().encode('two'))).rejects.toThrow(term.reason)
  expect(new TextDecoder().decode(await files.read(place, 100))).toBe('one')
})

test('[L46] [U50] a client with two addresses follows the owner, and goes on in its session', async () => {
  const { add, endLease } = cluster(8 * leaseMs)
  const one = await add('one', false)
  const two = await add('two', true)
  // The client uses only a part of the class `WebSocket` of `ws`, whose types differ from the browser's: hence the cast.
  const client = connect({ urls: [one.url, two.url], token, WebSocket: WebSocket as never })
  onTestFinished(() => client.close())
  const session = 'ahp-session:/one'
  await vi.waitUntil(() => client.link.state === 'live', { timeout: 200_000 })
  await client.ask('createSession', { channel: session, provider: 'guide' })
  const followed = client.subscribe('session', session)
  await followed.ready()
  one.cut(true)
  endLease()
  await vi.waitUntil(() => two.role?.() === 'owner', { timeout: 200_000 })
  one.cut(false)
  await vi.waitUntil(async () => (await one.readyz()) === '503 standby', { timeout: 200_000 })
  // The client sends this to the next owner, also if its link to the earlier one has not closed yet.
  await followed.dispatch({ type: 'session/titleChanged', title: 'at the next owner' })
  expect(followed.confirmed?.title).toBe('at the next owner')
})
