import type { Origin, Uri } from '@atrium/protocol/channel'

/** A stored action. Its text was made once, when the action was appended, and is never made again. */
export interface StoredEnvelope {
  readonly seq: number
  readonly channel: Uri
  /** The action as JSON. */
  readonly action: string
  /** The client that dispatched the action, and its principal. Absent for the host's own actions. */
  readonly origin?: Origin & { readonly principal: string }
}

/** The creation of a channel: the start of its log. It is not an action and is delivered to nobody. */
export interface ChannelCreation {
  readonly seq: number
  readonly channel: Uri
  readonly kind: string
  /** The first state, as JSON. */
  readonly state: string
}

/** A change of one row, such as a finished turn of a chat. */
export interface RowChange {
  readonly channel: Uri
  readonly id: string
  /** The row as JSON. Absent: the row is removed. */
  readonly text?: string
}

/** A channel's state at a sequence number, without its rows. Heads are a cache of the fold. */
export interface Head {
  readonly channel: Uri
  readonly seq: number
  readonly state: string
}

/** The writes of one synchronous step. They are stored together or not at all. */
export interface Step {
  readonly created: readonly ChannelCreation[]
  readonly envelopes: readonly StoredEnvelope[]
  readonly rows: readonly RowChange[]
  readonly heads: readonly Head[]
  /** Removed channels. A tombstone with the number stays. */
  readonly dropped: readonly { readonly channel: Uri; readonly seq: number }[]
  /** The highest number that may be assigned until a later step with a higher bound is durable. */
  readonly upTo: number
}

/** A stored row. */
export interface StoredRow {
  readonly id: string
  readonly text: string
}

/** The data from which a channel is rebuilt: the newest sound head (or the creation), the newest rows, and later actions. */
export interface LoadedChannel {
  readonly kind: string
  readonly seq: number
  readonly state: string
  /** The ids of all present rows, in order. Empty with `fromCreation`, because the fold makes the rows. */
  readonly rowIds: readonly string[]
  /** The texts of the newest of these rows, as many as the load requested. */
  readonly rows: readonly string[]
  /** Whether the state is that of the creation, and not a head. */
  readonly fromCreation: boolean
  readonly envelopes: readonly StoredEnvelope[]
}

/** A channel that exists and cannot be trusted: a checksum or the chain of its actions is broken. */
export interface DamagedChannel {
  readonly damaged: string
}

export interface Slice {
  readonly envelopes: readonly StoredEnvelope[]
  /** Whether there is more: read again from the last one on. */
  readonly more: boolean
}

export interface RowSlice {
  readonly rows: readonly StoredRow[]
  /** Whether there is more: request the ids after the last one again. */
  readonly more: boolean
}

/** The store of the log. Every store passes the suite in `log.contract.ts`. */
export interface LogStore {
  /** The highest `upTo` that was durable when the store was opened; 0 in a new one. */
  readonly upTo: number
  /** Queues a step, in order. Nothing is durable before a flush that began later has resolved. */
  append(step: Step): void
  /**
   * Makes everything queued durable, records included. A rejection with DiskFull means that nothing of it is stored, all of
   * it is still queued, and the next flush tries again. Any other rejection is final.
   */
  flush(): Promise<void>
  /** Stored envelopes of some channels above `after` and up to `upTo`, in the order of their numbers, at most about one MiB. */
  read(channels: readonly Uri[], after: number, upTo: number): Promise<Slice>
  /** The newest `most` actions that a client dispatched above `after`, in the order of their numbers. */
  dispatchedBy(clientId: string, after: number, most: number): Promise<readonly StoredEnvelope[]>
  /**
   * Loads a channel with the texts of its newest `tail` rows, or of all rows. The cost depends little on the number of older
   * rows. Undefined when there is no such channel, or it was dropped.
   */
  load(channel: Uri, tail?: number): Promise<LoadedChannel | DamagedChannel | undefined>
  /** Rows of a channel in the order of `ids`, at most about one MiB. Missing and damaged rows are left out. */
  rows(channel: Uri, ids: readonly string[]): Promise<RowSlice>
  close(): Promise<void>
}

/** The error of a flush that found no space on the disk. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull'
}
