import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { guide } from '@atrium/adapters/guide'
import { nodeWorld } from '@atrium/adapters/process/world'
import type { PostgresPlace } from '@atrium/adapters/store/postgres'
import { createHost } from '@atrium/host'
import { expect, onTestFinished, test, vi } from 'vitest'
import { tamper } from '../../../adapters/test/postgres/place.ts'
import { postgresTests } from '../../../adapters/test/postgres/store.ts'
import type { ClusterSettings } from './cluster-fields.ts'
import { nodeProcesses, postgresNode, readPlace } from './postgres.ts'

const server = postgresTests()
const newFolder = () => mkdtempSync(join(tmpdir(), 'atrium-pg-data-'))

/** Starts a node with a real watchdog. It is closed after the test. */
async function start(place: PostgresPlace, given: ClusterSettings & { readonly data?: string } = {}) {
  const settings = { lease: 4, data: newFolder(), ...given }
  const reports: string[] = []
  const world = nodeWorld((event) => reports.push(event))
  const processes = await nodeProcesses(settings)
  const node = await postgresNode({
    settings,
    place,
    world,
    node: processes,
    url: `ws://${settings.machine}/`,
    open: ({ store, search }, { refusal, failed }) =>
      createHost({ store, search, world, agents: [guide(world.later)], refusal, fatal: failed }),
    changed: () => {},
    failed: (error) => {
      throw error
    },
  })
  let closed: Promise<void> | undefined
  const close = () => (closed ??= node.close())
  onTestFinished(close)
  return { ...node, close, reports }
}

test('[L56.1] the password leaves the environment, and a wrong URL is a wrong argument', async () => {
  const environment = { PGPASSWORD: 'secret', HOME: '/' }
  const place = await readPlace('postgres://ann@127.0.0.1/atrium', environment)
  expect(place.config.password).toBe('secret')
  expect(environment).toEqual({ HOME: '/' })
  const wrong = { PGPASSWORD: 'secret' }
  await expect(readPlace('postgres://ann:x@127.0.0.1/atrium', wrong)).rejects.toMatchObject({ exit: 2 })
  expect(wrong).toEqual({})
})

test('[L56.2] a second host waits for a lease, and is refused with the name of the owner; after a stop it starts at once', async () => {
  const place = await server().place()
  const first = await start(place, { machine: 'one' })
  expect(first.role?.()).toBe('owner')
  await expect(start(place, { machine: 'two' })).rejects.toMatchObject({
    message: expect.stringMatching(/is in use by the node one:\d+; start this one with --standby/),
    exit: 6,
  })
  await first.close()
  const next = await start(place, { lease: 600 })
  expect(next.role?.()).toBe('owner')
})

test('[L56.4] a standby takes over when the owner stops, with a higher epoch, and tells the lease in its metrics', async () => {
  const place = await server().place()
  const one = await start(place, { machine: 'one' })
  const two = await start(place, { machine: 'two', standby: true })
  expect([two.ready(), two.role?.()]).toEqual([false, 'standby'])
  expect(two.metrics()).toMatchObject({ host: undefined, node: { owner: false, epoch: 1 } })
  await one.close()
  await vi.waitUntil(() => two.role?.() === 'owner', { timeout: 200_000 })
  expect(two.ready()).toBe(true)
  expect(two.metrics()).toMatchObject({ host: { links: 0 }, node: { owner: true, epoch: 2 } })
  expect(two.metrics().node?.leaseMs).toBeGreaterThan(0)
  await vi.waitUntil(() => two.metrics().replicas !== undefined, { timeout: 200_000 })
  expect([one.metrics().replicas, two.metrics().replicas]).toEqual([undefined, []])
  expect(two.reports).not.toContain('standby not warm')
})

test('[L56.5] the data folder remembers the name of the machine, and a setting overrides it', async () => {
  const data = newFolder()
  expect((await nodeProcesses({ data })).machine).toBe(hostname())
  writeFileSync(join(data, 'machine'), 'before\n')
  expect((await nodeProcesses({ data })).machine).toBe('before')
  expect((await nodeProcesses({ data, machine: 'given' })).machine).toBe('given')
})

test('[L56.7] the connections of a host name its schema and its node at the database', async () => {
  const place = await server().place()
  await start(place, { machine: 'one' })
  const names = `SELECT DISTINCT application_name AS name FROM pg_stat_activity WHERE application_name LIKE 'atrium/%'`
  expect(await tamper(place, `${names} AND application_name LIKE '%/one:%' ORDER BY name`)).toEqual(
    [place.schema, `${place.schema}_search`].map((schema) => ({
      name: `atrium/${schema}/one:${process.pid}`,
    })),
  )
})

test('[L56.3] a data folder is refused with the store of another host', async () => {
  const data = newFolder()
  const place = await server().place()
  await (await start(place, { data })).close()
  expect(readFileSync(join(data, 'host-id'), 'utf8')).toMatch(/^[0-9a-f-]{36}\n$/)
  await (await start(place, { data })).close()
  await expect(start(await server().place(), { data })).rejects.toThrow(
    /belongs to the host .*, and the store at .* to the host/,
  )
})

test('[L56.3] two data folders of different hosts on one database: the second is refused, and the first stays the owner', async () => {
  const [place, other] = [await server().place(), await server().place()]
  const data = newFolder()
  await (await start(other, { data })).close()
  const first = await start(place, { machine: 'one' })
  for (const standby of [false, true])
    await expect(start(place, { data, standby, machine: 'two' })).rejects.toThrow(
      /belongs to the host .*, and the store at .* to the host .*; name the right store/,
    )
  expect(first.metrics()).toMatchObject({ node: { owner: true, epoch: 1 } })
})
