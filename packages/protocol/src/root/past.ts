import type { Envelope, Snapshot, Uri } from '../channel.ts'
import { id, natural, object, optional } from '../schema.ts'
import type { Infer } from '../schema.ts'

// The calls about the past of a channel: `x-atrium/stateAt` and `x-atrium/envelopes`. AHP does not have them. Numbers are
// sequence numbers (`serverSeq`), unless something else is said. Positions count the shown envelopes, from 1.

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
  /** Only envelopes with higher sequence numbers. Must not be given together with `position`. */
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
export interface PastGap {
  readonly after: number
  /** The sequence number of the truncation. The truncation itself is shown. */
  readonly before: number
}

/** The part of a channel's past that the host shows. */
export interface PastRange {
  readonly channel: Uri
  /** The sequence number with which the past begins: that of the creation, of a checkpoint, or of a truncation. */
  readonly begins: number
  /** The sequence number of the last envelope. It equals `begins` if there is no envelope. */
  readonly ends: number
  /** How many envelopes there are. */
  readonly total: number
  /** The host has forgotten all actions up to this number. Absent if nothing was forgotten. */
  readonly forgottenTo?: number
  /** Everything before this number is hidden, because a truncation has removed it. Absent if no truncation did. */
  readonly truncatedTo?: number
}

/** The answer of `x-atrium/stateAt`: the state of a channel after the last action up to a sequence number. */
export interface PastState<S = unknown> extends PastRange {
  /**
   * Absent if the host does not show the state; `hidden` says why. `fromSeq` is the sequence number of the last
   * action in the state.
   */
  readonly snapshot?: Snapshot<S>
  /** The position of the last action in the state. */
  readonly position?: number
  /** The id of a turn. The finished turns before it are left out. To get them, pass the id as `before`. */
  readonly older?: string
  readonly hidden?: 'forgotten' | 'truncated'
  /** The gap in which the requested sequence number lies. */
  readonly gap?: PastGap
}

/** The answer of `x-atrium/envelopes`: a page of envelopes. */
export interface PastPage extends PastRange {
  readonly envelopes: readonly Envelope[]
  /** The position of the first of these envelopes. */
  readonly position: number
  readonly more: boolean
  /**
   * The gaps before envelopes of this page. A client cannot reduce across a gap: it gets the state after the gap from
   * `x-atrium/stateAt`.
   */
  readonly gaps: readonly PastGap[]
}

/**
 * An answer without a result: the host has read as much of the log as it does for one call. The same call, made again,
 * goes on from there.
 */
export interface Unfinished {
  readonly channel: Uri
  readonly unfinished: { readonly reached: number; readonly upTo: number }
}
