import type { Action, Origin } from '@atrium/protocol/channel'
import type { StepRecords } from './step-records.ts'
import type { Channel } from './channel.ts'
import type { Entry, Listener } from './entry.ts'
import type { RowChange } from '../ports/log.ts'

export interface LogOptions {
  /** The records that are stored together with the actions of a step. */
  readonly records: StepRecords
  /** The first sequence number of this epoch. */
  readonly first: number
  /** A head is written after this number of stored actions, so that waking a channel folds at most that many. */
  readonly headEvery?: number
  /** The number of newest rows that a channel is loaded with. Older rows are loaded when they are needed. */
  readonly tail?: number
}

export type Dispatcher = Origin & { readonly principal: string }

/** The sender of a dispatched action: the client, and the connection that gets the echo or the refusal. */
export interface Sender {
  readonly by: Dispatcher
  readonly listener: Listener
}

export interface LogEvents {
  /** An action is appended. Records that are put now belong to the same step. */
  appended(channel: Channel, action: Action, by?: Dispatcher): void
  /** An action is committed and delivered: the host may act on it. */
  committed(channel: Channel, entry: Entry): void
  /** The store failed in a way that cannot be repaired here. */
  fatal(error: unknown): void
}

/** The part of a staged channel that the store is given in one step. */
export interface StagedPart {
  readonly created?: boolean
  /** An action as JSON. */
  readonly action?: string
  readonly rows?: readonly RowChange[]
  /** A head as JSON. */
  readonly head?: string
}
