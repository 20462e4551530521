import type { Lease, LeaseState } from '@atrium/host/ports/lease'
import { StoreWorker } from '../worker-client.ts'
import type { PostgresPlace } from './place.ts'
import { newPostgresThread } from './thread.ts'
import type { LeaseApi, Replica } from './worker-api.ts'

export type { Replica } from './worker-api.ts'

/** A node that wants the lease. */
export interface LeaseNode {
  readonly node: string
  /** The address at which clients reach the node. */
  readonly url?: string
  /** The length of the lease in milliseconds. */
  readonly ms: number
}

export interface PostgresLease extends Lease {
  /** The id of the host that the store belongs to. It was chosen when the store was created. */
  readonly host: string
}

/**
 * Opens the lease of the store in a database, and creates the store's tables if it is new. The lease has a thread and a connection of
 * its own, so that a renewal waits neither for a write nor for the main thread of the host.
 */
export async function postgresLease(place: PostgresPlace, node: LeaseNode): Promise<PostgresLease> {
  const worker = new StoreWorker<LeaseApi>(newPostgresThread())
  const { host } = await worker.request('openLease', [{ target: place, ...node }])
  return {
    host,
    ms: node.ms,
    acquire: () => worker.request('acquire', []),
    renew: (epoch) => worker.request('renew', [epoch]),
    release: (epoch) => worker.request('release', [epoch]),
    read: () => worker.request('read', []),
    close: () => worker.close(),
  }
}

export interface ClusterState {
  /** The id of the host that the store belongs to. */
  readonly host: string
  /** Absent if no node ever was the owner. */
  readonly lease?: LeaseState
  /** Empty if there are none, or if the user may not see them. */
  readonly replicas: readonly Replica[]
}

/** Reads who owns a store, and whether the database is copied. Changes nothing: a new store is refused. */
export async function clusterState(place: PostgresPlace): Promise<ClusterState> {
  const worker = new StoreWorker<LeaseApi>(newPostgresThread())
  const { host } = await worker.request('openLease', [
    { target: place, node: '', ms: 80_000, existing: true },
  ])
  try {
    const lease = await worker.request('read', [])
    return { host, ...(lease && { lease }), replicas: await worker.request('replicas', []) }
  } finally {
    await worker.close()
  }
}
