import type { Device } from '@atrium/protocol/root/device'
import type { Transport } from '@atrium/protocol/rpc/transport'
import type { Host } from '../host.ts'
import type { EffectTimer } from '../ports/effect-timer.ts'
import { Deposed, StoreAway } from '../ports/lease.ts'
import type { Lease, LeaseState } from '../ports/lease.ts'
import type { World } from '../ports/world.ts'
import { takeLease } from './ownership.ts'
import type { Ownership } from './ownership.ts'

/** `opening`: the node has the lease, and recovers what an earlier owner left open. It does not serve clients yet. */
export type NodeRole = 'standby' | 'opening' | 'owner'

/**
 * What is known of the process that has a lease. `ended`: it and all that it has started have ended, which is proved. `ending`: it has
 * ended, and what it has started is being ended.
 */
export type Ending = 'ended' | 'ending' | 'unknown'

/** What a host that is opened for one epoch needs of its node. */
export interface OwnerTerm {
  readonly epoch: number
  /** The reason why the host must refuse what would change a state; undefined if the lease was renewed in time. */
  readonly refusal: () => string | undefined
  /** Called when the store has failed. Returns whether the node goes on as a standby: another one has taken over, or the database is away. */
  readonly failed: (error: unknown) => boolean
}

export interface NodeParts {
  readonly lease: Lease
  readonly world: World
  readonly effects: EffectTimer
  /** Opens the store for an epoch, and a host on it. */
  readonly open: (term: OwnerTerm) => Promise<Host>
  /** Reads what a take-over needs, so that caches are warm. */
  readonly warm?: () => Promise<void>
  /** Looks whether the process that has a lease was an earlier one of this node, and has ended. */
  readonly endingOf?: (lease: LeaseState) => Promise<Ending>
  readonly changed?: (role: NodeRole) => void
  /** Called if the host cannot be opened. The node has given the lease back, and does nothing any more. */
  readonly failed: (error: unknown) => void
  /** Whether a host that could not be opened for this reason may be opened later. The node then stays a standby. */
  readonly mayPass?: (error: unknown) => boolean
}

/** A standby looks at the lease this many times in its length. A look reads one row. */
const looks = 40
/** A node that could not open the host, or was deposed, looks this many times. */
const attempts = 4
/** The shortest pause between two looks is this part of the lease. */
const shortest = 100

/** The sentence for the clients of an owner that was deposed. A reason of a WebSocket has at most 123 bytes. */
export const takenOver = 'another node has taken over this host; connect again'
/** The sentence for the clients of an owner that has waited for its database for too long. */
export const databaseLost = 'this node has lost its database; connect again'
/** The sentence for the clients of an owner whose lease has ended without a renewal. */
export const leaseOver = 'this node could not renew its lease in time; connect again'
const unreachable =
  'This node cannot reach its database. It accepts nothing until it can, or until another node takes over.'

/** One of the nodes that share a store. It is a standby until it gets the lease, and again after it has lost it. */
export class ClusterNode {
  readonly #parts: NodeParts
  #role: NodeRole = 'standby'
  #ownership: Ownership | undefined
  #host: Host | undefined
  /** The links of the host. */
  readonly #links = new Set<Transport>()
  #lease: LeaseState | undefined
  #ending: Ending = 'unknown'
  /** Why this node is not the owner any more. */
  #reason = takenOver
  /** The epoch of a lease that the node could not give back, because its database was away. */
  #kept: number | undefined
  #closed = false
  #cancelPoll = () => {}
  /** What runs now: one look at the lease, a take-over, or the end of a time as owner. */
  #running: Promise<void> = Promise.resolve()

  constructor(parts: NodeParts) {
    this.#parts = parts
  }

  get role(): NodeRole {
    return this.#role
  }

  /** The epoch of this node as the owner; undefined at a standby. */
  get epoch(): number | undefined {
    return this.#ownership?.epoch
  }

  /** The lease as this node has seen it last. */
  get lease(): LeaseState | undefined {
    return this.#lease
  }

  /** The milliseconds until the lease ends, as this node knows it; undefined if nobody ever had the lease. */
  get leaseLeft(): number | undefined {
    return this.#ownership?.msLeft ?? this.#lease?.msLeft
  }

  /** The host, if this node is the owner. */
  get host(): Host | undefined {
    return this.#role === 'owner' ? this.#host : undefined
  }

  /**
   * Whether clients are accepted. A process that was stopped may go on after another node has become the owner. Until it knows, a
   * client that comes back from that node must not see an older state here.
   */
  get accepts(): boolean {
    return this.host !== undefined && this.#ownership !== undefined && this.#ownership.msLeft > 0
  }

  /** Why this owner is in doubt, although it still accepts clients or will again; undefined if it is not. */
  get trouble(): string | undefined {
    return this.host && this.#ownership?.trouble
  }

  /**
   * Looks at the lease for the first time. Resolves when the node is the owner, or a standby. Rejects if the lease cannot be
   * read.
   */
  async start(): Promise<void> {
    const first = this.#poll()
    this.#running = first.catch(() => {})
    await first
  }

  connect(transport: Transport, principal: string, device?: Device): void {
    if (!this.accepts)
      return transport.close(1013, 'this node does not serve now; connect to the owner, or try again')
    this.#links.add(transport)
    transport.closed.addEventListener('abort', () => this.#links.delete(transport))
    this.host?.connect(transport, principal, device)
  }

  /** Lets the clients go to another node, which may be the owner by now: what they wait for here may never be answered. */
  #letGo(): void {
    for (const link of this.#links) link.close(1013, leaseOver)
  }

  /** Ends the host in order and gives the lease back, so that another node can take over at once. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelPoll()
    await this.#running
    const [host, ownership] = [this.#host, this.#ownership]
    this.#host = undefined
    await host?.close()
    await ownership
      ?.release()
      .catch((error: unknown) => this.#parts.world.report('lease not given back', error))
    this.#setRole('standby')
    await this.#parts.lease.close()
  }

  #run(task: () => Promise<void>): Promise<void> {
    const { world } = this.#parts
    this.#running = this.#running.then(task).catch((error: unknown) => world.report('standby', error))
    return this.#running
  }

  async #poll(): Promise<void> {
    if (this.#closed || this.#ownership) return
    const { lease, warm, endingOf } = this.#parts
    try {
      if (this.#kept !== undefined) await lease.release(this.#kept)
      this.#kept = undefined
      const state = (this.#lease = await lease.read())
      const held = state !== undefined && state.msLeft > 0
      this.#ending = (held && (await endingOf?.(state))) || 'unknown'
      if (held && this.#ending === 'ended') await lease.release(state.epoch)
      if (held && this.#ending !== 'ended') await warm?.()
      else await this.#takeOver()
    } finally {
      if (!this.#ownership && !this.#closed) this.#pollLater()
    }
  }

  #pollLater(): void {
    const { lease, world } = this.#parts
    this.#cancelPoll()
    // A lease that ends before the next regular look is looked at when it ends.
    const regular = this.#lease ? looks : attempts
    const most = lease.ms / (this.#ending === 'ending' ? shortest : regular)
    const ms = Math.min(most, Math.max(lease.ms / shortest, this.#lease?.msLeft ?? most))
    this.#cancelPoll = world.later(ms, () => void this.#run(() => this.#poll()))
  }

  async #takeOver(): Promise<void> {
    const { lease, world, effects, open, failed, mayPass } = this.#parts
    const parts = {
      lease,
      world,
      effects,
      deposed: () => this.#endTerm(ownership, takenOver),
      lapsed: () => this.#letGo(),
    }
    const ownership = await takeLease(parts)
    if (!ownership) return
    this.#ownership = ownership
    this.#setRole('opening')
    const { epoch } = ownership
    try {
      const host = await open({
        epoch,
        refusal: () => this.#refusal(ownership),
        failed: (error) => this.#goesOn(ownership, error),
      })
      this.#host = host
      // The node may have been deposed while it opened the host. `#endTerm` then waits for this task.
      if (this.#ownership === ownership && !this.#closed) this.#setRole('owner')
    } catch (failure) {
      const error = await ownership.causeOf(failure)
      if (error !== failure) world.report('host not opened', failure)
      if (this.#ownership !== ownership) return
      if (this.#goesOn(ownership, error)) return
      this.#ownership = undefined
      const passes = mayPass?.(error) ?? false
      if (!passes) this.#closed = true
      await ownership.release().catch(() => {})
      // The next attempt does not come at once.
      this.#lease = undefined
      if (passes) world.report('host not opened', error)
      else failed(error)
      this.#setRole('standby')
    }
  }

  /** The reason why a host must change nothing. What a deposed host has begun may still run for a moment. */
  #refusal(ownership: Ownership): string | undefined {
    if (this.#ownership !== ownership) return `Nothing is changed here: ${this.#reason}.`
    // A host that is being opened must not leave its recovery out.
    return this.host && ownership.overdue ? unreachable : undefined
  }

  /** Returns whether the node goes on as a standby after its store has failed. Any other failure is the caller's. */
  #goesOn(ownership: Ownership | undefined, error: unknown): boolean {
    if (error instanceof Deposed) this.#endTerm(ownership, takenOver)
    else if (error instanceof StoreAway) this.#endTerm(ownership, databaseLost)
    else return false
    return true
  }

  /** Ends the time of this node as owner. Nothing is written any more. */
  #endTerm(ownership: Ownership | undefined, reason: string): void {
    if (!ownership || this.#ownership !== ownership) return
    const { world, effects } = this.#parts
    ownership.end()
    effects.expire()
    this.#ownership = undefined
    this.#lease = undefined
    this.#reason = reason
    this.#setRole('standby')
    world.report('deposed', `epoch ${ownership.epoch} is over: ${reason}`)
    void this.#run(async () => {
      const host = this.#host
      this.#host = undefined
      try {
        await host?.abandon(reason)
        // The work has ended, and nothing starts without a lease. Searching for its processes for ever would cost a lot.
        effects.stop()
        if (reason === databaseLost) this.#kept = ownership.epoch
      } finally {
        if (!this.#closed) this.#pollLater()
      }
    })
  }

  #setRole(role: NodeRole): void {
    if (this.#role === role) return
    this.#role = role
    this.#parts.changed?.(role)
  }
}
