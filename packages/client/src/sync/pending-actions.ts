import type { Action, Uri } from '@atrium/protocol/channel'
import type { PendingAction } from './replica.ts'

/** The outcome of a dispatched action. `lost`: nobody can know whether the host has applied the action. */
export type Outcome =
  | { readonly outcome: 'accepted'; readonly serverSeq: number }
  | { readonly outcome: 'refused' | 'lost'; readonly reason: string }

interface Entry {
  readonly pending: PendingAction
  readonly end: (outcome: Outcome) => void
  /** Whether the action was sent over some link, so that the host may have received it. */
  sent: boolean
}

/** The pending actions of a client on all channels, in the order of dispatch. Each gets exactly one outcome. */
export class PendingActions {
  readonly #entries = new Map<number, Entry>()
  #last = 0

  add(channel: Uri, action: Action): { readonly pending: PendingAction; readonly outcome: Promise<Outcome> } {
    const pending = { clientSeq: ++this.#last, channel, action }
    const outcome = new Promise<Outcome>((end) =>
      this.#entries.set(pending.clientSeq, { pending, end, sent: false }),
    )
    return { pending, outcome }
  }

  get size(): number {
    return this.#entries.size
  }

  /** All pending actions, in the order of dispatch. */
  get all(): readonly PendingAction[] {
    return [...this.#entries.values()].map(({ pending }) => pending)
  }

  of(channel: Uri): readonly PendingAction[] {
    return this.all.filter((pending) => pending.channel === channel)
  }

  /** The actions that the host may have received. */
  get sent(): readonly PendingAction[] {
    return [...this.#entries.values()].filter(({ sent }) => sent).map(({ pending }) => pending)
  }

  markSent({ clientSeq }: PendingAction): void {
    const entry = this.#entries.get(clientSeq)
    if (entry) entry.sent = true
  }

  /** Ends a pending action with its outcome. Returns undefined if the action already has one. */
  end(clientSeq: number, outcome: Outcome): PendingAction | undefined {
    const entry = this.#entries.get(clientSeq)
    if (!entry) return undefined
    this.#entries.delete(clientSeq)
    entry.end(outcome)
    return entry.pending
  }
}

/**
 * Returns the outcome that an envelope states. A host that recognizes a resent action rejects it with the reason
 * `already accepted as` and its first number. This counts as accepted.
 */
export function outcomeOf(serverSeq: number, rejectionReason: string | undefined): Outcome {
  if (rejectionReason === undefined) return { outcome: 'accepted', serverSeq }
  const before = /^already accepted as (\d+)$/.exec(rejectionReason)?.[1]
  if (before !== undefined) return { outcome: 'accepted', serverSeq: Number(before) }
  return { outcome: 'refused', reason: rejectionReason }
}
