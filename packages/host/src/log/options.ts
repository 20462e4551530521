import type { Action, Origin } from '@atrium/protocol/channel'
import type { StepRecords } from './step-records.ts'
import type { Channel } from './channel.ts'
import type { Entry } from './entry.ts'
import type { RowChange } from '../ports/log.ts'

export interface LogOptions {
  /** The records that go with the steps. */
  readonly records: StepRecords
  /** The number of this life's first action. */
  readonly first: number
  /** A head is written after so many stored actions, so that waking a channel folds no more than that. */
  readonly headEvery?: number
  /** So many rows of a channel are brought into memory when it wakes; the others when they are needed. */
  readonly tail?: number
}

export type Dispatcher = Origin & { readonly principal: string }

export interface LogEvents {
  /** An action is appended: what is kept beside it belongs to the same step. */
  appended(channel: Channel, action: Action, by?: Dispatcher): void
  /** An action is durable (or need not be) and everyone was told: the host may act on it. */
  committed(channel: Channel, entry: Entry): void
  /** The store failed in a way that cannot be repaired here. */
  fatal(error: unknown): void
}

/** What is given to the store in one step of a channel that is made piece by piece. */
export interface StagedPart {
  readonly created?: boolean
  /** As JSON. */
  readonly action?: string
  readonly rows?: readonly RowChange[]
  readonly head?: string
}
