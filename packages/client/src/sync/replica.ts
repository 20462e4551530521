import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'

/** A reducer. */
export type Fold<S> = (state: S, action: Action) => S

/** A dispatched action without an outcome yet, under the client's own number. */
export interface PendingAction {
  readonly clientSeq: number
  readonly channel: Uri
  readonly action: Action
}

/** A client's copy of a channel: the confirmed state and the pending actions. Immutable: each step returns a new one. */
export interface Replica<S> {
  readonly confirmed: S
  /** The sequence number of the confirmed state. */
  readonly seq: number
  /** In the order of dispatch. */
  readonly pending: readonly PendingAction[]
}

/**
 * Builds a replica from a snapshot. Pending actions stay pending, because a snapshot does not say whether it contains
 * them.
 */
export function fromSnapshot<S>(
  { state, fromSeq }: Snapshot<S>,
  pending: readonly PendingAction[] = [],
): Replica<S> {
  return { confirmed: state, seq: fromSeq, pending }
}

export function writeAhead<S>(replica: Replica<S>, action: PendingAction): Replica<S> {
  return { ...replica, pending: [...replica.pending, action] }
}

/**
 * Applies an envelope of the host. If it is the echo of an action of this client, the action is no longer pending,
 * whether the host has accepted or rejected it. An accepted action is reduced over the confirmed state alone, so that
 * all pending actions come after it: this is the rebase. An action that the snapshot contains is not reduced again.
 */
export function receive<S>(
  reduce: Fold<S>,
  replica: Replica<S>,
  { action, serverSeq, origin, rejectionReason }: Envelope,
  clientId: string,
): Replica<S> {
  const pending =
    origin?.clientId === clientId ? withoutPending(replica.pending, origin.clientSeq) : replica.pending
  const isNew = rejectionReason === undefined && serverSeq > replica.seq
  if (isNew) return { confirmed: reduce(replica.confirmed, action), seq: serverSeq, pending }
  return pending === replica.pending ? replica : { ...replica, pending }
}

/** Removes a pending action whose outcome will never be known. */
export function withdraw<S>(replica: Replica<S>, clientSeq: number): Replica<S> {
  const pending = withoutPending(replica.pending, clientSeq)
  return pending === replica.pending ? replica : { ...replica, pending }
}

/**
 * Returns the confirmed state with all pending actions applied. A pending action that cannot be reduced is skipped,
 * because the host decides whether it is valid.
 */
export function view<S>(reduce: Fold<S>, { confirmed, pending }: Replica<S>): S {
  return pending.reduce((state, { action }) => {
    try {
      return reduce(state, action)
    } catch {
      return state
    }
  }, confirmed)
}

/**
 * Removes one pending action. It is usually the first one, because hosts answer actions in the order of dispatch;
 * only a resent action may be answered after newer ones.
 */
function withoutPending(pending: readonly PendingAction[], clientSeq: number): readonly PendingAction[] {
  const at = pending.findIndex((action) => action.clientSeq === clientSeq)
  return at < 0 ? pending : pending.toSpliced(at, 1)
}
