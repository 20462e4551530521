import type { Uri } from '@atrium/protocol/channel'

/** A text with its author as a number, and the first position that it may have. */
export interface PackedText {
  readonly who: number
  readonly time: number
  readonly text: string
  readonly position: number
}

/** A change of the index. Long lists are JSON, because SQLite reads them in this form. */
export interface PackedChange {
  readonly session: Uri
  readonly entry:
    | {
        readonly provider: string
        readonly folders: string
        readonly titles: readonly PackedText[]
        readonly chats: readonly { readonly chat: Uri; readonly titles: readonly PackedText[] }[]
      }
    | undefined
  readonly turns: readonly {
    readonly chat: Uri
    readonly turnId: string
    readonly texts: readonly PackedText[]
  }[]
  readonly kept: readonly { readonly chat: Uri; readonly turnIds: string }[]
  readonly version: number
}

export interface PackedQuery {
  /** A query of FTS5. */
  readonly match: string
  /** The first position, and the one after the last. */
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly provider: string | null
  readonly folder: string | null
}

export interface PackedFound {
  /** The position. */
  readonly id: number
  readonly session: Uri
  /** The URI of the session, for its title. */
  readonly chat: Uri
  /** Empty for a title. */
  readonly turn: string
  readonly who: number
  readonly time: number
  readonly marked: string
}

/** The requests that the worker of an index answers (`search-worker.js`). */
export interface SearchApi {
  /** `rebuilt`: why the file was replaced by an empty one. */
  open(options: { readonly folder: string; readonly readOnly: boolean }): {
    readonly rebuilt: string | undefined
  }
  begin(epoch: number, trusted: readonly number[]): readonly (readonly [Uri, number])[]
  update(change: PackedChange): void
  find(query: PackedQuery): { readonly found: readonly PackedFound[]; readonly next: number | undefined }
  clear(): void
  close(): void
}
