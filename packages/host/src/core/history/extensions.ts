import type { Action, Uri } from '@atrium/protocol/channel'
import { id, natural, object, optional } from '@atrium/protocol/schema'
import type { Infer } from '@atrium/protocol/schema'

const stateAtParams = {
  /** The root channel, a session or a chat. */
  channel: id,
  /** A sequence number. The state is the one after the last action up to this number. */
  seq: natural,
  /** The maximum number of finished turns of a chat. They are the newest ones, or those before `before`. */
  turns: optional(natural),
  /** The id of a turn: only the finished turns before it. */
  before: optional(id),
}
/** The params of `x-atrium/stateAt`. */
export interface StateAtParams extends Infer<typeof stateAtParams> {}
export const StateAtParams = object<StateAtParams>('AtriumStateAtParams', stateAtParams)

const envelopesParams = {
  channel: id,
  /** Only envelopes with higher sequence numbers. */
  after: optional(natural),
  /** Only envelopes from this position on. The first envelope that can be shown has the position 1. */
  position: optional(natural),
  /** The maximum number of envelopes. */
  limit: optional(natural),
}
/** The params of `x-atrium/envelopes`. */
export interface EnvelopesParams extends Infer<typeof envelopesParams> {}
export const EnvelopesParams = object<EnvelopesParams>('AtriumEnvelopesParams', envelopesParams)

/**
 * The actions between two sequence numbers, both excluded, that are hidden because a truncation has removed their
 * turns.
 */
export interface Gap {
  readonly after: number
  /** The sequence number of the truncation. The truncation itself is shown. */
  readonly before: number
}

/** The part of a channel's history that can be shown. */
export interface ShownHistory {
  readonly channel: Uri
  /** The sequence number with which the history begins: that of the creation, of a checkpoint, or of a truncation. */
  readonly begins: number
  /** The sequence number of the last envelope. It equals `begins` if there is no envelope. */
  readonly ends: number
  /** How many envelopes can be shown. */
  readonly total: number
  /** Retention has forgotten all actions up to this number. Absent if nothing was forgotten. */
  readonly forgottenTo?: number
  /** Everything before this number is hidden, because a truncation has removed it. Absent if no truncation did. */
  readonly truncatedTo?: number
}

/**
 * An answer without a result: the host has read as much of the log as it does for one call. The same call, made again,
 * goes on from there.
 */
export interface Unfinished {
  readonly channel: Uri
  readonly unfinished: { readonly reached: number; readonly upTo: number }
}

export interface StateAtResult extends ShownHistory {
  /** Absent if the state at the requested sequence number is not shown. */
  readonly snapshot?: { readonly resource: Uri; readonly state: object; readonly fromSeq: number }
  /** The number of envelopes from the beginning of the history up to the state. */
  readonly position?: number
  /** Finished turns before this turn are left out. Ask for them with `before`. */
  readonly older?: string
  /** Why there is no snapshot. */
  readonly hidden?: 'forgotten' | 'truncated'
  /** The gap in which the requested sequence number lies. */
  readonly gap?: Gap
}

export interface PastEnvelope {
  readonly channel: Uri
  readonly action: Action
  readonly serverSeq: number
  readonly origin?: { readonly clientId: string; readonly clientSeq: number }
}

export interface EnvelopesResult extends ShownHistory {
  readonly envelopes: readonly PastEnvelope[]
  /** The position of the first of these envelopes. */
  readonly position: number
  readonly more: boolean
  /**
   * The gaps before envelopes of this page. A client cannot reduce across a gap: it gets the state after the gap from
   * `x-atrium/stateAt`.
   */
  readonly gaps: readonly Gap[]
}
