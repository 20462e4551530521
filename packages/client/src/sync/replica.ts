import type { Action, Envelope, Snapshot, Uri } from '@atrium/protocol/channel'

/** A reducer, whatever else it knows of its actions. */
export type Fold<S> = (state: S, action: Action) => S

/** What a client wants to be true of a channel, under its own number. */
export interface PendingAction {
  readonly clientSeq: number
  readonly channel: Uri
  readonly action: Action
}

/** A client's copy of a channel: what the host has said, and what was wished since. A value: each step gives a new one. */
export interface Replica<S> {
  readonly confirmed: S
  /** The number up to which that is what the host says. */
  readonly seq: number
  /** What has not been answered, in the order it was said. */
  readonly pending: readonly PendingAction[]
}

/** What is pending stays so: a snapshot answers nobody. */
export function fromSnapshot<S>(
  { state, fromSeq }: Snapshot<S>,
  pending: readonly PendingAction[] = [],
): Replica<S> {
  return { confirmed: state, seq: fromSeq, pending }
}

export function writeAhead<S>(replica: Replica<S>, wish: PendingAction): Replica<S> {
  return { ...replica, pending: [...replica.pending, wish] }
}

/**
 * What the host says. An echo of one's own leaves pending, accepted or refused; what was accepted is reduced over the
 * confirmed state alone, so that everything still pending comes after it: that is the whole of rebasing. What a snapshot
 * had in it already is not reduced again.
 */
export function receive<S>(
  reduce: Fold<S>,
  replica: Replica<S>,
  { action, serverSeq, origin, rejectionReason }: Envelope,
  clientId: string,
): Replica<S> {
  const pending =
    origin?.clientId === clientId ? withoutPending(replica.pending, origin.clientSeq) : replica.pending
  const news = rejectionReason === undefined && serverSeq > replica.seq
  if (news) return { confirmed: reduce(replica.confirmed, action), seq: serverSeq, pending }
  return pending === replica.pending ? replica : { ...replica, pending }
}

/** Without a wish of which nobody will ever hear. */
export function withdraw<S>(replica: Replica<S>, clientSeq: number): Replica<S> {
  const pending = withoutPending(replica.pending, clientSeq)
  return pending === replica.pending ? replica : { ...replica, pending }
}

/** What to show: as if everything wished were granted, but for what cannot be: of that the host will say so. */
export function view<S>(reduce: Fold<S>, { confirmed, pending }: Replica<S>): S {
  return pending.reduce((state, { action }) => {
    try {
      return reduce(state, action)
    } catch {
      return state
    }
  }, confirmed)
}

/** Nearly always the head: hosts answer in order. Only what was sent again may be answered behind newer ones. */
function withoutPending(pending: readonly PendingAction[], clientSeq: number): readonly PendingAction[] {
  const at = pending.findIndex((wish) => wish.clientSeq === clientSeq)
  return at < 0 ? pending : pending.toSpliced(at, 1)
}
