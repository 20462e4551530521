import type { Envelope, Snapshot, Uri } from '@atrium/protocol/channel'
import { reducers } from '@atrium/protocol/reducers'
import type { KindName } from '@atrium/protocol/reducers'
import type { SubscribeDelivery, SubscribeView } from '@atrium/protocol/root/connection'
import { gapIn } from './gap.ts'
import type { Listeners } from '../shared/listeners.ts'
import { messageOf } from '../shared/errors.ts'
import type { ClientProblem } from '../shared/errors.ts'
import { fromSnapshot, receive, view, withdraw, writeAhead } from './replica.ts'
import type { Fold, Replica, PendingAction } from './replica.ts'

export interface ChannelOptions {
  readonly delivery?: SubscribeDelivery
  readonly view?: SubscribeView
}

/**
 * `opening`: no state yet. `open`: subscribed and up to date. `stale`: the state may be outdated, because the link is lost or
 * a new snapshot is awaited. `gone`: the host does not have the channel or refuses it, or the client is closed.
 */
export type ChannelStatus = 'opening' | 'open' | 'stale' | 'gone'

/** The client's subscription to one channel, shared by all handles on it. */
export class Channel {
  readonly uri: Uri
  readonly kind: KindName
  readonly options: ChannelOptions
  readonly changes: Listeners<[]>
  /** Number of handles. */
  handleCount = 0
  /** Whether a `subscribe` request is under way. */
  requested = false
  status: ChannelStatus = 'opening'
  /** The reason why the channel is gone. */
  problem: Error | undefined
  replica: Replica<unknown> | undefined
  /** The sequence number of the last snapshot over this link. The snapshot contains all actions up to this number. */
  #snapshotSeq = -1
  /** Actions that arrive while a snapshot or a replay is under way. */
  #held: Envelope[] | undefined
  /** Whether the state is wrong. If so, actions are ignored until a snapshot arrives. */
  #invalid = false
  #cached: { readonly of: Replica<unknown>; readonly state: unknown } | undefined

  constructor(uri: Uri, kind: KindName, options: ChannelOptions, changes: Listeners<[]>) {
    this.uri = uri
    this.kind = kind
    this.options = options
    this.changes = changes
  }

  /** The state with the pending actions applied. Computed on demand, and cached. */
  get state(): unknown {
    const { replica } = this
    if (!replica) return undefined
    if (this.#cached?.of !== replica) this.#cached = { of: replica, state: view(this.#reduce, replica) }
    return this.#cached.state
  }

  /**
   * Whether the state is correct up to the last seen sequence number, so that a replay from there brings it up to
   * date.
   */
  get resumable(): boolean {
    return this.replica !== undefined && !this.#invalid && this.status !== 'gone'
  }

  /** Whether actions are held until the snapshot or the replay arrives. */
  get isHolding(): boolean {
    return this.#held !== undefined
  }

  /** Begins to hold actions: a snapshot or a replay is under way. */
  hold(): void {
    this.#held ??= []
  }

  /** Call when the link is lost. The responses under way are lost with the link. */
  cut(): void {
    this.#held = undefined
    this.#snapshotSeq = -1
    this.requested = false
    if (this.status === 'open') this.status = 'stale'
  }

  /** Marks the state as wrong. Further actions would only add to the damage, so a snapshot is needed. */
  invalidate(): void {
    this.#invalid = true
    if (this.status === 'open') this.status = 'stale'
  }

  /** Call when a replay arrives, before it is applied. Returns the held actions, which must be applied after the replay. */
  resumed(): readonly Envelope[] {
    const held = this.#held ?? []
    this.#held = undefined
    if (this.status === 'stale') this.status = 'open'
    return held
  }

  take(snapshot: Snapshot, pending: readonly PendingAction[], clientId: string): ClientProblem | undefined {
    this.replica = fromSnapshot(snapshot, pending)
    this.#snapshotSeq = snapshot.fromSeq
    this.status = 'open'
    this.requested = false
    this.#invalid = false
    this.problem = undefined
    const held = this.#held ?? []
    this.#held = undefined
    for (const envelope of held) {
      const problem = this.receive(envelope, clientId)
      if (problem) return problem
    }
    return undefined
  }

  write(action: PendingAction): void {
    if (this.replica) this.replica = writeAhead(this.replica, action)
  }

  withdraw(clientSeq: number): void {
    if (this.replica) this.replica = withdraw(this.replica, clientSeq)
  }

  /** Applies an action. A returned problem means that the state is unchanged and a new snapshot is needed. */
  receive(envelope: Envelope, clientId: string): ClientProblem | undefined {
    if (this.#held) return void this.#held.push(envelope)
    if (!this.replica || this.#invalid) return undefined
    const { action, serverSeq, rejectionReason, origin } = envelope
    const isNew = rejectionReason === undefined && serverSeq > this.replica.seq
    const gap = isNew ? gapIn(this.kind, this.replica.confirmed, action) : undefined
    if (gap !== undefined) return { kind: 'gap', detail: gap, channel: this.uri }
    try {
      this.replica = receive(this.#reduce, this.replica, envelope, clientId)
    } catch (error) {
      return { kind: 'malformed', detail: `${action.type}: ${messageOf(error)}`, channel: this.uri }
    }
    // An old number is no problem in two cases. The client itself dispatched the action: its echo may repeat an old
    // number. Or the last snapshot already contains the action.
    if (isNew || origin?.clientId === clientId || serverSeq <= this.#snapshotSeq) return undefined
    return {
      kind: 'old',
      detail: `${action.type} came as ${serverSeq} after ${this.replica.seq}`,
      channel: this.uri,
    }
  }

  /** Marks the channel as gone. The caller must end the pending actions of the channel. */
  gone(problem: Error): void {
    this.status = 'gone'
    this.problem = problem
    this.#held = undefined
    if (this.replica) this.replica = { ...this.replica, pending: [] }
  }

  get #reduce(): Fold<unknown> {
    // `Check` has checked that actions and snapshots are of this channel's kind: hence the cast.
    return reducers[this.kind] as Fold<unknown>
  }
}
