import type { Action, Origin } from '@atrium/protocol/channel'
import type { StepRecords } from './step-records.ts'
import type { Channel } from './channel.ts'
import type { Entry, Listener } from './entry.ts'
import type { RowChange } from '../../ports/log.ts'

export interface LogOptions {
  /** The records that are stored together with the actions of a step. */
  readonly records: StepRecords
  /** The first sequence number of this run of the host. */
  readonly first: number
  /** A channel's state is stored after this number of stored actions, so that a load reduces at most this number. */
  readonly headEvery?: number
  /** The number of newest rows, such as turns, with which a channel is loaded. Older rows are loaded when needed. */
  readonly tail?: number
  /** The maximum number of characters of stored actions that are kept in memory, plus a constant for each action. */
  readonly recentLength?: number
}

export type Dispatcher = Origin & { readonly principal: string }

/** The sender of a dispatched action: the client, and the connection to which the echo or the refusal is sent. */
export interface Sender {
  readonly by: Dispatcher
  readonly listener: Listener
  /** The action as the client sent it, if the client's protocol version has another form of the action. */
  readonly sent?: Action | undefined
}

export interface LogEvents {
  /** Called when an action is appended. Records that are put during this call belong to the same step. */
  appended(channel: Channel, action: Action, by?: Dispatcher): void
  /** Called when an action is committed and delivered. From then on the host may act on it. */
  committed(channel: Channel, entry: Entry): void
  /** Called when the disk becomes full, and when it has space again. */
  fullChanged?(full: boolean): void
  /** Called when the store failed in a way from which the log cannot recover. */
  fatal(error: unknown): void
}

/** A part of a channel that is written part by part and then published. Each part is stored in a step of its own. */
export interface StagedPart {
  readonly created?: boolean
  /** An action as JSON. */
  readonly action?: string
  readonly rows?: readonly RowChange[]
  /** A head as JSON. */
  readonly head?: string
}
