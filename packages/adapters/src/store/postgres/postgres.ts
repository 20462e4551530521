import type { Store } from '@atrium/host/ports/store'
import { threadStore } from '../thread-store.ts'
import { StoreWorker } from '../worker-client.ts'
import type { PostgresPlace } from './place.ts'
import { newPostgresThread } from './thread.ts'
import type { PostgresApi, Replica } from './worker-api.ts'

export { BadPostgresUrl, isPostgresUrl, postgresPlace } from './place.ts'
export type { PostgresPlace } from './place.ts'

/**
 * The total length of the actions that may wait for a flush, as a multiple of `aheadLength` (H4.7). A commit costs the
 * same round trip and disk sync for a small batch as for a large one. So larger batches store more actions per second.
 */
const ahead = 4

export interface PostgresOptions {
  /** The epoch of the owner, from `postgresLease`. Absent: the store is open for reading only. */
  readonly epoch?: number
  /** The id of the host. The store is refused if it belongs to another one. Absent: any host. */
  readonly host?: string
  /** The milliseconds after which a database that cannot be reached is an error. Before that, requests wait for it. */
  readonly patience?: number
  /** The milliseconds after which a server that does not answer counts as away. */
  readonly answer?: number
  /**
   * The milliseconds after which the server ends a connection that stands still inside a transaction, so that a stopped process
   * does not hold up the next owner: at most half of the lease.
   */
  readonly idle?: number
  /** Migrations that run after those of this build, as if a later build had opened the store. Only tests set it. */
  readonly laterMigrations?: readonly string[]
}

export interface PostgresStore extends Store {
  /** The id of the host that the store belongs to. It was chosen when the store was created. */
  readonly host: string
  /** The indexes that somebody has added to its tables. They refuse nothing, and cost time at each write. */
  readonly addedIndexes: readonly string[]
  /** Reads the servers that copy the database. Resolves with undefined if the user may not see them. */
  replicas(): Promise<readonly Replica[] | undefined>
}

/**
 * Opens the store in a database of PostgreSQL. A worker thread writes one transaction per flush, which is refused if another
 * epoch has begun.
 */
export async function openPostgres(
  place: PostgresPlace,
  options: PostgresOptions = {},
): Promise<PostgresStore> {
  const { epoch, host, patience = 30_000, answer = 20_000, idle = 5000, laterMigrations } = options
  const worker = new StoreWorker<PostgresApi>(newPostgresThread())
  const opened = await worker.request('open', [
    { target: place, epoch, host, patience, answer, idle, laterMigrations },
  ])
  const store = threadStore({
    worker,
    upTo: opened.upTo,
    place: place.name,
    readOnly: epoch === undefined,
    ahead,
  })
  return {
    ...store,
    host: opened.host,
    addedIndexes: opened.addedIndexes,
    async replicas() {
      const { seen, replicas } = await worker.request('replicas', [])
      return seen ? replicas : undefined
    },
  }
}
