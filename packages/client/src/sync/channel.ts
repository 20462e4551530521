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
 * opening: no state yet. open: it is followed. stale: what is shown may be old, because the link is gone or it is being
 * asked for again. gone: the host does not have it or will not show it, or nobody asks any more.
 */
export type ChannelStatus = 'opening' | 'open' | 'stale' | 'gone'

/** One channel as this client follows it, however many look at it. */
export class Channel {
  readonly uri: Uri
  readonly kind: KindName
  readonly options: ChannelOptions
  readonly changes: Listeners<[]>
  /** How many look at it. */
  handleCount = 0
  /** A request for it is on its way. */
  requested = false
  status: ChannelStatus = 'opening'
  /** Why it is gone. */
  problem: Error | undefined
  replica: Replica<unknown> | undefined
  /** The snapshot it was handed over this link; what comes with a number up to it had been overtaken by it. */
  #handed = -1
  /** What came while a snapshot is on its way. */
  #held: Envelope[] | undefined
  /** What is shown is not what the host says: nothing is taken until a snapshot is there. */
  #doubted = false
  #shown: { readonly of: Replica<unknown>; readonly state: unknown } | undefined

  constructor(uri: Uri, kind: KindName, options: ChannelOptions, changes: Listeners<[]>) {
    this.uri = uri
    this.kind = kind
    this.options = options
    this.changes = changes
  }

  /** What to show: worked out when somebody looks, and once. */
  get state(): unknown {
    const { replica } = this
    if (!replica) return undefined
    if (this.#shown?.of !== replica) this.#shown = { of: replica, state: view(this.#reduce, replica) }
    return this.#shown.state
  }

  /** It is what the host said up to the last number that was seen: a replay from there makes it true again. */
  get resumable(): boolean {
    return this.replica !== undefined && !this.#doubted && this.status !== 'gone'
  }

  /** What comes is kept until it was handed over, or told from where it was. */
  get isHolding(): boolean {
    return this.#held !== undefined
  }

  /** It will be handed over, or told from where it was. */
  hold(): void {
    this.#held ??= []
  }

  /** The link is gone, and with it what it would have said. */
  cut(): void {
    this.#held = undefined
    this.#handed = -1
    this.requested = false
    if (this.status === 'open') this.status = 'stale'
  }

  /** What is shown is wrong, and what comes would make it worse: it is asked for again. */
  invalidate(): void {
    this.#doubted = true
    if (this.status === 'open') this.status = 'stale'
  }

  /** A replay brings it up to date. Gives what came before that, which is to be heard again. */
  resumed(): readonly Envelope[] {
    const held = this.#held ?? []
    this.#held = undefined
    if (this.status === 'stale') this.status = 'open'
    return held
  }

  take(snapshot: Snapshot, pending: readonly PendingAction[], clientId: string): ClientProblem | undefined {
    this.replica = fromSnapshot(snapshot, pending)
    this.#handed = snapshot.fromSeq
    this.status = 'open'
    this.requested = false
    this.#doubted = false
    this.problem = undefined
    const held = this.#held ?? []
    this.#held = undefined
    for (const envelope of held) {
      const problem = this.receive(envelope, clientId)
      if (problem) return problem
    }
    return undefined
  }

  write(wish: PendingAction): void {
    if (this.replica) this.replica = writeAhead(this.replica, wish)
  }

  withdraw(clientSeq: number): void {
    if (this.replica) this.replica = withdraw(this.replica, clientSeq)
  }

  /** A problem is one that only another snapshot mends: the state stays as it was. */
  receive(envelope: Envelope, clientId: string): ClientProblem | undefined {
    if (this.#held) return void this.#held.push(envelope)
    if (!this.replica || this.#doubted) return undefined
    const { action, serverSeq, rejectionReason, origin } = envelope
    const news = rejectionReason === undefined && serverSeq > this.replica.seq
    const gap = news ? gapIn(this.kind, this.replica.confirmed, action) : undefined
    if (gap !== undefined) return { kind: 'gap', detail: gap, channel: this.uri }
    try {
      this.replica = receive(this.#reduce, this.replica, envelope, clientId)
    } catch (error) {
      return { kind: 'malformed', detail: `${action.type}: ${messageOf(error)}`, channel: this.uri }
    }
    // One's own may be told of what changed nothing, or twice; and a snapshot may have overtaken what is in it.
    if (news || origin?.clientId === clientId || serverSeq <= this.#handed) return undefined
    return {
      kind: 'old',
      detail: `${action.type} came as ${serverSeq} after ${this.replica.seq}`,
      channel: this.uri,
    }
  }

  /** What was pending is the client's to end. */
  gone(problem: Error): void {
    this.status = 'gone'
    this.problem = problem
    this.#held = undefined
    if (this.replica) this.replica = { ...this.replica, pending: [] }
  }

  get #reduce(): Fold<unknown> {
    return reducers[this.kind] as Fold<unknown>
  }
}
