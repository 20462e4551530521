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

export interface SearchOptions {
  readonly target: PostgresPlace
  /** The epoch of the owner. Without one, the index is only searched. */
  readonly epoch?: number | undefined
  readonly patience: number
  readonly idle: number
}

/** The requests that the worker answers for a search index. */
export interface SearchApi {
  openSearch(options: SearchOptions): { readonly rebuilt?: string | undefined }
  begin(epoch: number, trusted: readonly number[]): readonly (readonly [string, number])[]
  update(change: PackedChange): void
  find(query: PackedQuery): readonly FoundRow[]
  clear(): void
  close(): void
}

export interface PackedText {
  readonly who: number
  readonly time: number
  readonly text: string
  readonly position: number
  readonly words: readonly string[]
}

export interface PackedEntry {
  readonly provider: string
  readonly folders: readonly string[]
  readonly titles: readonly PackedText[]
  readonly chats: readonly { readonly chat: string; readonly titles: readonly PackedText[] }[]
}

export interface PackedChange {
  readonly session: string
  readonly entry: PackedEntry | undefined
  readonly turns: readonly {
    readonly chat: string
    readonly turnId: string
    readonly texts: readonly PackedText[]
  }[]
  readonly kept: readonly { readonly chat: string; readonly turnIds: readonly string[] }[]
  readonly version: number
}

export interface PackedQuery {
  /** The query in the syntax of PostgreSQL. */
  readonly match: string
  /** The positions to search: from `from` on, up to the one before `to`. */
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly provider: string | null
  readonly folder: string | null
}

export interface FoundRow {
  readonly id: number
  readonly turn: string
  readonly who: number
  readonly time: number
  readonly text: string
  readonly chat: string
  readonly session: string
}
