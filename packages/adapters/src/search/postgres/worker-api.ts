import type { PostgresPlace } from '../../store/postgres/place.ts'

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
