import type { Origin, Uri } from '@atrium/protocol/channel'

/** A stored action. The text of the action is made once, when the action is appended. */
export interface StoredEnvelope {
  readonly seq: number
  readonly channel: Uri
  /** The action as JSON. */
  readonly action: string
  /** The client that dispatched the action, and its principal. Absent for the host's own actions. */
  readonly origin?: Origin & { readonly principal: string }
}

/** The creation of a channel, with which the channel's log begins. It is not an action and is delivered to nobody. */
export interface ChannelCreation {
  readonly seq: number
  readonly channel: Uri
  readonly kind: string
  /** The first state, as JSON. */
  readonly state: string
}

/**
 * A change of one row. A row is one element of a list in a state, such as a finished turn of a chat. The store keeps
 * each row by itself.
 */
export interface RowChange {
  readonly channel: Uri
  readonly id: string
  /** The row as JSON. Absent: the row is removed. */
  readonly text?: string
}

/**
 * A channel's state at a sequence number, without its rows, which are stored by themselves. Heads are a cache:
 * reducing all stored actions of the channel gives the same state, except for the effects of actions that are never
 * stored.
 */
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
  /** The removed channels, each with the sequence number of its removal. A store may delete their data later, by `shrink`. */
  readonly dropped: readonly { readonly channel: Uri; readonly seq: number }[]
  /** The highest sequence number that may be assigned until a later step with a higher bound is durable. */
  readonly upTo: number
}

/** A stored row. */
export interface StoredRow {
  readonly id: string
  readonly text: string
}

/**
 * The data from which a channel is rebuilt: the newest undamaged head (or the creation), the newest rows, and the
 * actions after the head.
 */
export interface LoadedChannel {
  readonly kind: string
  readonly seq: number
  readonly state: string
  /**
   * The ids of all rows in order. Empty with `fromCreation`, because all actions are applied then, and make the rows.
   */
  readonly rowIds: readonly string[]
  /** The texts of the newest of these rows, as many as the load requested. */
  readonly rows: readonly string[]
  /** Whether `state` is the first state of the channel and not a head. */
  readonly fromCreation: boolean
  readonly envelopes: readonly StoredEnvelope[]
}

/** A channel that exists but cannot be trusted, because a checksum or the chain of its actions is broken. */
export interface DamagedChannel {
  readonly damaged: string
}

export interface Slice {
  readonly envelopes: readonly StoredEnvelope[]
  /** Whether there are more envelopes. To get them, read again after the last one. */
  readonly more: boolean
  /** Set if envelopes above `after` were forgotten in one of the channels. The slice then has a gap. */
  readonly forgotten?: true
}

export interface RowSlice {
  readonly rows: readonly StoredRow[]
  /** Whether there are more rows. To get them, request the ids after the last one. */
  readonly more: boolean
}

/** The result of sealing (compressing) a slice of the envelopes of a channel. */
export interface Sealed {
  /** The number of envelopes that were sealed. */
  readonly envelopes: number
  /** Whether there may be more envelopes to seal, so that the caller should call again. */
  readonly more: boolean
  /** The damage that was found in the envelopes. If it is set, nothing was sealed and nothing was changed. */
  readonly damaged?: string
}

/** The store of the log. Every store passes the suite in `store.contract.ts`. */
export interface LogStore {
  /** The highest `upTo` that was durable when the store was opened; 0 for a new store. */
  readonly upTo: number
  /**
   * The highest `upTo` that was durable once, if it is above the `upTo` of the store: the store has lost the steps between
   * the two. Absent if nothing is known to be lost.
   */
  readonly lost?: number
  /**
   * How many times `aheadLength` may wait for a flush (H4.7). It is more than 1 if a commit takes long whatever its size, so that
   * few large flushes are faster than many small ones. Absent: 1.
   */
  readonly ahead?: number
  /** Queues a step. Steps are stored in order. A step is durable when a flush that began after this call has resolved. */
  append(step: Step): void
  /**
   * Makes everything that is queued durable, records included. A rejection with `DiskFull` means that nothing was stored;
   * everything is still queued, and the next flush tries again. Any other rejection is final.
   */
  flush(): Promise<void>
  /**
   * Returns stored envelopes of some channels above `after` and up to `upTo`, ordered by sequence number, at most about one
   * MiB.
   */
  read(channels: readonly Uri[], after: number, upTo: number): Promise<Slice>
  /** Returns the newest `most` actions above `after` that a client dispatched, ordered by sequence number. */
  dispatchedBy(clientId: string, after: number, most: number): Promise<readonly StoredEnvelope[]>
  /**
   * Loads a channel with the texts of its newest `tail` rows, or of all rows if `tail` is absent. The cost hardly depends on
   * the number of older rows. Undefined if there is no such channel, or if it was removed.
   */
  load(channel: Uri, tail?: number): Promise<LoadedChannel | DamagedChannel | undefined>
  /**
   * Seals the oldest envelopes of a channel up to `upTo`: a slice of them is stored as one compressed segment. The segment is
   * read back and verified before the envelopes' own rows are deleted, in the same transaction. Sealing does not change what
   * the other methods return. Seals nothing if the slice has fewer than `least` characters, or if there is no such channel.
   */
  seal(channel: Uri, upTo: number, least: number): Promise<Sealed>
  /** Returns the creation of a channel, or the checkpoint that has replaced it. Rejects if it is damaged. */
  creation(channel: Uri): Promise<ChannelCreation | undefined>
  /**
   * Forgets the envelopes of a channel up to a checkpoint, which takes the place of the channel's creation. Unlike a
   * head, the state of a checkpoint contains its rows. `dispatchedBy` still finds the newest `keys` actions of each
   * client. Returns false, and changes nothing, if there is no such channel, or if it begins at the checkpoint or
   * later.
   */
  forget(checkpoint: Head, keys: number): Promise<boolean>
  /**
   * Deletes a slice of the data of dropped channels. If there is no such data, gives a slice of the file's unused
   * space back to the file system. Returns whether more may be left to do. Does not change what the other methods
   * return.
   */
  shrink(): Promise<boolean>
  /** Returns rows of a channel in the order of `ids`, at most about one MiB. Missing and damaged rows are left out. */
  rows(channel: Uri, ids: readonly string[]): Promise<RowSlice>
  close(): Promise<void>
}

/** The error of a flush that found no space on the disk. */
export class DiskFull extends Error {
  override readonly name = 'DiskFull'
}
