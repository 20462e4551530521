import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest'
import { openLease } from '../../src/store/postgres/lease-row.ts'
import type { OpenLease } from '../../src/store/postgres/lease-row.ts'
import type { PostgresPlace } from '../../src/store/postgres/place.ts'
import { openPostgres } from '../../src/store/postgres/postgres.ts'
import type { PostgresOptions, PostgresStore } from '../../src/store/postgres/postgres.ts'
import { testServer } from './server.ts'
import type { TestServer } from './server.ts'

/** Gives the tests of a file a server. They are skipped if there is none. Returns the server, which is there while a test runs. */
export function postgresTests(settings?: readonly string[]): () => TestServer {
  let found: TestServer | string | undefined
  beforeAll(async () => {
    found = await testServer(settings)
  })
  beforeEach((context) => {
    if (typeof found === 'string') context.skip(found)
  })
  afterAll(async () => {
    if (typeof found === 'object') await found.close()
  })
  return () => {
    if (typeof found !== 'object') throw new Error('there is no server')
    return found
  }
}

/** The times of a store on a busy machine. */
export const patient = { patience: 250_000, answer: 250_000, idle: 250_000 }

/** Takes the lease of a place. It is released by the next call for the same place. */
export function epochOf(place: PostgresPlace, node = 'one'): Promise<number> {
  return withLease(place, node, async (lease) => {
    const { epoch = 0 } = (await lease.read()) ?? {}
    await lease.release(epoch)
    const next = await lease.acquire()
    if (next === undefined) throw new Error('the lease was not free')
    return next
  })
}

/** Releases the lease of a place, whoever has it. */
export function releaseLease(place: PostgresPlace): Promise<void> {
  return withLease(place, 'one', async (lease) => {
    const { epoch = 0 } = (await lease.read()) ?? {}
    await lease.release(epoch)
  })
}

/** The lease in this thread: one of its own would cost more than all that it does here. */
async function withLease<T>(
  target: PostgresPlace,
  node: string,
  work: (lease: OpenLease['api']) => Promise<T>,
): Promise<T> {
  const { api } = await openLease({ target, node, ms: 250_000 })
  try {
    return await work(api)
  } finally {
    await api.close()
  }
}

/** Opens the store of a new owner. It is closed after the test. */
export async function open(place: PostgresPlace, options: PostgresOptions = {}): Promise<PostgresStore> {
  const { epoch = await epochOf(place) } = options
  const store = await openPostgres(place, { ...patient, ...options, epoch })
  onTestFinished(() => store.log.close())
  return store
}
