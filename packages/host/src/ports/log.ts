import type { Origin, Uri } from '@atrium/protocol/channel'

/** An action as it is kept: its text was made once, when it was appended, and is never made again. */
export interface StoredEnvelope {
  readonly seq: number
  readonly channel: Uri
  /** The action's JSON. */
  readonly action: string
  /** Who dispatched it, and as whom; absent when the host said it. */
  readonly origin?: Origin & { readonly principal: string }
}

/** How a channel's log begins: not an action, told to nobody. */
export interface ChannelCreation {
  readonly seq: number
  readonly channel: Uri
  readonly kind: string
  /** The first state, as JSON. */
  readonly state: string
}

/** One item of the list that a kind keeps a row each: a finished turn. No text: the row goes away. */
export interface RowChange {
  readonly channel: Uri
  readonly id: string
  readonly text?: string
}

/** A channel's state at a number, without its rows. A cache of the fold. */
export interface Head {
  readonly channel: Uri
  readonly seq: number
  readonly state: string
}

/** Everything that was appended in one synchronous step. It is stored whole or not at all. */
export interface Step {
  readonly created: readonly ChannelCreation[]
  readonly envelopes: readonly StoredEnvelope[]
  readonly rows: readonly RowChange[]
  readonly heads: readonly Head[]
  /** Channels that are forgotten; a tombstone with the number stays. */
  readonly dropped: readonly { readonly channel: Uri; readonly seq: number }[]
  /** No number above this may be handed out before a later step has raised it durably. */
  readonly upTo: number
}

/** A row as it stands. */
export interface StoredRow {
  readonly id: string
  readonly text: string
}

/** What a channel is rebuilt from: the newest good head (else how it was born), its last rows, what came after. */
export interface LoadedChannel {
  readonly kind: string
  readonly seq: number
  readonly state: string
  /** The ids of all rows as they stand now, in order. Where `fromCreation`, the fold gives the rows and they are left out. */
  readonly rowIds: readonly string[]
  /** The texts of the last of them, as many as were asked for. */
  readonly rows: readonly string[]
  readonly fromCreation: boolean
  readonly envelopes: readonly StoredEnvelope[]
}

/** A channel that is there and cannot be trusted: a checksum or a chain is broken. */
export interface DamagedChannel {
  readonly damaged: string
}

export interface Slice {
  readonly envelopes: readonly StoredEnvelope[]
  /** There is more: ask again after the last one. */
  readonly more: boolean
}

export interface RowSlice {
  readonly rows: readonly StoredRow[]
  /** There is more: ask again for those behind the last one. */
  readonly more: boolean
}

/** Keeps the log. Every store passes the suite in `log.contract.ts`. */
export interface LogStore {
  /** The highest `upTo` that was durable when the store was opened; 0 in a new one. */
  readonly upTo: number
  /** Queues a step, in order. Nothing is durable before a flush that began later has resolved. */
  append(step: Step): void
  /**
   * Makes durable what was queued, here and in the records. Rejected with DiskFull: nothing of it is stored, all of it
   * is still queued, and the next flush tries it again. Any other rejection is final.
   */
  flush(): Promise<void>
  /** Stored envelopes of these channels above `after` and up to `upTo`, in number order, at most about a MiB. */
  read(channels: readonly Uri[], after: number, upTo: number): Promise<Slice>
  /** What a client dispatched above `after`, in number order: the newest `most` of it. */
  dispatchedBy(clientId: string, after: number, most: number): Promise<readonly StoredEnvelope[]>
  /**
   * A channel with the texts of its newest `tail` rows, or of all: what that costs depends little on how many are older.
   * Nothing when there is no such channel, or it was dropped.
   */
  load(channel: Uri, tail?: number): Promise<LoadedChannel | DamagedChannel | undefined>
  /** These rows of a channel, in the order asked for, at most about a MiB. Those that are not there, or are damaged, are left out. */
  rows(channel: Uri, ids: readonly string[]): Promise<RowSlice>
  close(): Promise<void>
}

export class DiskFull extends Error {
  override readonly name = 'DiskFull'
}
