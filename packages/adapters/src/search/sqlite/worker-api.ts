import type { Uri } from '@atrium/protocol/channel'

/**
 * A text. `who` is the index of its author in a fixed list. `position` is the position that the text gets, or, if
 * that is taken, the position from which a free one is searched.
 */
export interface PackedText {
  readonly who: number
  readonly time: number
  readonly text: string
  readonly position: number
}

/** A change of the index. `folders` and `turnIds` are JSON arrays, which SQLite reads with `json_each`. */
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
  /** The query in the syntax of FTS5. */
  readonly match: string
  /** The positions to search: from `from` on, up to the one before `to`. */
  readonly from: number
  readonly to: number
  readonly limit: number
  readonly provider: string | null
  readonly folder: string | null
}

export interface PackedFound {
  /** The row id of the text. */
  readonly id: number
  readonly session: Uri
  /** The URI of the session if the text is the title of the session. */
  readonly chat: Uri
  /** Empty for a title. */
  readonly turn: string
  readonly who: number
  readonly time: number
  readonly marked: string
}

/** What an error of the worker means: the disk is full, or the index must be built again. */
export type Meaning = 'full' | 'damaged'

/** The requests that the worker of an index answers (`search-worker.ts`). */
export interface SearchApi {
  /** Opens the index. `rebuilt` tells why the file was replaced by an empty one; it is undefined if it was not. */
  open(options: { readonly folder: string; readonly readOnly: boolean }): {
    readonly rebuilt: string | undefined
  }
  begin(epoch: number, trusted: readonly number[]): readonly (readonly [Uri, number])[]
  update(change: PackedChange): void
  find(query: PackedQuery): { readonly found: readonly PackedFound[]; readonly next: number | undefined }
  clear(): void
  close(): void
}
