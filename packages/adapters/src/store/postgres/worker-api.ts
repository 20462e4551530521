import type { LeaseState } from '@atrium/host/ports/lease'
import type { StoreApi } from '../worker-api.ts'
import type { PostgresPlace } from './place.ts'

/** What an error of the worker means. The main thread chooses an error class by it. */
export type Meaning = 'full' | 'locked' | 'unreadable' | 'deposed' | 'away'

export interface StoreOptions {
  readonly target: PostgresPlace
  /** The epoch of the owner. Without one, the store is open for reading only. */
  readonly epoch?: number | undefined
  /** The id of the host that the store must belong to. */
  readonly host?: string | undefined
  readonly patience: number
  readonly answer: number
  readonly idle: number
  readonly laterMigrations?: readonly string[] | undefined
}

/** What the thread of a store does on request. */
export interface PostgresApi extends StoreApi {
  open(options: StoreOptions): {
    readonly upTo: number
    readonly host: string
    readonly addedIndexes: readonly string[]
  }
  replicas(): Replicas
}

export interface LeaseOptions {
  readonly target: PostgresPlace
  readonly node: string
  readonly url?: string | undefined
  readonly ms: number
  /** Whether a new store is refused instead of created. */
  readonly existing?: boolean | undefined
}

/** What the thread of a lease does on request. */
export interface LeaseApi {
  openLease(options: LeaseOptions): { readonly host: string }
  acquire(): number | undefined
  renew(epoch: number): boolean
  release(epoch: number): void
  read(): LeaseState | undefined
  replicas(): readonly Replica[]
  close(): void
}

/** A server that copies the database. */
export interface Replica {
  readonly name: string
  readonly state: string
  /** `sync` or `quorum`: a commit waits for this server. `async`: it does not. */
  readonly sync: string
  /** How far its visible state is behind, in milliseconds. Null if the database does not know. */
  readonly lagMs: number | null
  /** The length of the write-ahead log that it has not replayed. Null if the database does not know. */
  readonly lagBytes: number | null
}

/** The servers that copy the database, as far as the user may see them. */
export interface Replicas {
  /** Whether the user may see all of them. */
  readonly seen: boolean
  readonly replicas: readonly Replica[]
}
