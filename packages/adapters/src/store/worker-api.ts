import type { Uri } from '@atrium/protocol/channel'
import type {
  ChannelCreation,
  DamagedChannel,
  Head,
  LoadedChannel,
  RowSlice,
  Sealed,
  Step,
  StoredEnvelope,
} from '@atrium/host/ports/log'

/** The requests that the worker of SQLite answers (`sqlite/worker.ts`). */
export interface WorkerApi extends StoreApi {
  open(options: {
    readonly folder: string
    readonly readOnly: boolean
    readonly laterMigrations?: readonly string[] | undefined
    readonly bound?: number | undefined
    readonly room?: { readonly disk: number; readonly memory: number } | undefined
  }): { readonly upTo: number; readonly lost?: number; readonly notice?: string }
}

/** The requests that the worker of every store answers. */
export interface StoreApi {
  flush(batch: Batch, maxPages: number | undefined): void
  read(channels: readonly Uri[], after: number, upTo: number): Columns
  dispatchedBy(clientId: string, after: number, most: number): StoredEnvelope[]
  load(channel: Uri, tail: number): PackedChannel
  seal(channel: Uri, upTo: number, least: number): Sealed
  creation(channel: Uri): ChannelCreation | undefined
  forget(checkpoint: Head, keys: number): boolean
  shrink(): boolean
  rows(channel: Uri, ids: readonly string[]): RowSlice
  record(key: string): string | undefined
  records(prefix: string): readonly RecordChunk[]
  kinds(): readonly string[]
  putBlob(session: Uri, bytes: Uint8Array): string
  getBlob(session: Uri, hash: string): Uint8Array | undefined
  dropBlobs(session: Uri): void
  close(): void
}

/**
 * Up to a thousand records in the order of their keys. A chunk is one string, which is cheaper to copy than many:
 * records are joined by `\x1e`, the key and the text of each by `\x1f`. If a record contains one of these characters,
 * the chunk is a list of pairs.
 */
export type RecordChunk = string | readonly (readonly [key: string, text: string])[]

/** The content of one transaction. A record whose text is undefined is deleted. */
export interface Batch {
  readonly steps: readonly Step[]
  readonly records: ReadonlyMap<string, string | undefined>
}

/**
 * Envelopes as columns, which are cheaper to copy between threads than objects. `places` contains, for each envelope, the
 * index of its channel in the list of requested channels.
 */
export interface Columns {
  readonly seqs: readonly number[]
  readonly places: readonly number[]
  readonly actions: readonly string[]
  readonly origins: readonly (string | null)[]
  readonly more: boolean
  readonly forgotten: boolean
}

/**
 * A loaded channel. The ids of its rows, such as the finished turns of a chat, are joined by `\x1e`, because one
 * string is cheaper to copy than many. `rowIds` is null if there are no rows.
 */
export type PackedChannel =
  | (Omit<LoadedChannel, 'rowIds'> & { readonly rowIds: string | null })
  | DamagedChannel
  | undefined
