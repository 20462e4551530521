import type { Action, Uri } from '@atrium/protocol/channel'
import type { PendingAction } from './replica.ts'

/** How a wish ended. `lost`: nobody knows whether it came true, or nobody could be asked. */
export type Outcome =
  | { readonly outcome: 'accepted'; readonly serverSeq: number }
  | { readonly outcome: 'refused' | 'lost'; readonly reason: string }

interface Entry {
  readonly wish: PendingAction
  readonly end: (outcome: Outcome) => void
  /** It went over some link, so the host may have it. */
  sent: boolean
}

/** Everything wished on one client and not ended, in one order over all channels. Each ends exactly once. */
export class PendingActions {
  readonly #open = new Map<number, Entry>()
  #last = 0

  add(channel: Uri, action: Action): { readonly wish: PendingAction; readonly outcome: Promise<Outcome> } {
    const wish = { clientSeq: ++this.#last, channel, action }
    const outcome = new Promise<Outcome>((end) => this.#open.set(wish.clientSeq, { wish, end, sent: false }))
    return { wish, outcome }
  }

  get size(): number {
    return this.#open.size
  }

  /** In the order they were wished. */
  get all(): readonly PendingAction[] {
    return [...this.#open.values()].map(({ wish }) => wish)
  }

  of(channel: Uri): readonly PendingAction[] {
    return this.all.filter((wish) => wish.channel === channel)
  }

  /** Those that the host may have. */
  get sent(): readonly PendingAction[] {
    return [...this.#open.values()].filter(({ sent }) => sent).map(({ wish }) => wish)
  }

  markSent(wish: PendingAction): void {
    const open = this.#open.get(wish.clientSeq)
    if (open) open.sent = true
  }

  /** Nothing where it has ended before. */
  end(clientSeq: number, outcome: Outcome): PendingAction | undefined {
    const open = this.#open.get(clientSeq)
    if (!open) return undefined
    this.#open.delete(clientSeq)
    open.end(outcome)
    return open.wish
  }
}

/** What a refusal means: a host that knows resends says so of one that it had taken before. */
export function outcomeOf(serverSeq: number, rejectionReason: string | undefined): Outcome {
  if (rejectionReason === undefined) return { outcome: 'accepted', serverSeq }
  const before = /^already accepted as (\d+)$/.exec(rejectionReason)?.[1]
  if (before !== undefined) return { outcome: 'accepted', serverSeq: Number(before) }
  return { outcome: 'refused', reason: rejectionReason }
}
