import { withTimeout } from '../kernel/timeout.ts'
import type { EffectTimer } from '../ports/effect-timer.ts'
import { Deposed, StoreAway } from '../ports/lease.ts'
import type { Lease } from '../ports/lease.ts'
import type { World } from '../ports/world.ts'

export interface OwnershipParts {
  readonly lease: Lease
  readonly world: World
  readonly effects: EffectTimer
  /** Called once if another node has taken the lease. */
  readonly deposed: () => void
  /** Called when the lease has ended without a renewal. A later renewal may still succeed. */
  readonly lapsed: () => void
}

/** A lease is renewed this many times in its length, so that a single lost renewal does no harm. */
const renewals = 4
const databaseSilent = 'its database cannot be reached'

/**
 * Takes the lease if it is free. The count of the effect timer begins before the request is sent, so it ends before the lease
 * does, however late the answer comes.
 */
export async function takeLease(parts: OwnershipParts): Promise<Ownership | undefined> {
  const { lease, world, effects } = parts
  let epoch: number | undefined
  try {
    const mark = await inTime(world, lease, effects.mark(), 'the watchdog')
    const sent = world.now()
    epoch = await inTime(world, lease, lease.acquire())
    if (epoch === undefined) return undefined
    effects.confirm(mark)
    return new Ownership(epoch, parts, sent)
  } finally {
    if (epoch === undefined) effects.stop()
  }
}

/** The time of this node as the owner: renews the lease until it is lost or given back. */
export class Ownership {
  readonly epoch: number
  readonly #parts: OwnershipParts
  #ended = false
  #overdue = false
  #trouble: string | undefined
  /** When the last request that succeeded was sent. */
  #sent: number
  #cancelNext = () => {}
  #cancelOverdue = () => {}
  #cancelLapse = () => {}

  constructor(epoch: number, parts: OwnershipParts, sent: number) {
    this.epoch = epoch
    this.#parts = parts
    this.#sent = sent
    this.#renewed(sent)
  }

  /** The time until the lease ends, as far as this node knows. It decides nothing about the store: the clock of a node may be wrong. */
  get msLeft(): number {
    const { lease, world } = this.#parts
    return Math.max(0, this.#sent + lease.ms - world.now())
  }

  /** Whether no renewal has succeeded for so long that another node may take over soon. */
  get overdue(): boolean {
    return this.#overdue
  }

  /** Why the newest renewal has failed; undefined if it has not. */
  get trouble(): string | undefined {
    return this.#trouble
  }

  /** Stops renewing the lease, and does not give it back. */
  end(): void {
    this.#ended = true
    this.#cancelNext()
    this.#cancelOverdue()
    this.#cancelLapse()
  }

  /**
   * Returns why the host could not be opened. If the process of this node was stopped for a while, another node may have become
   * the owner. Then the data that this node has read may come from both owners, and look damaged. In this case the reason is
   * `Deposed`, or `StoreAway` if the lease is over and cannot be read.
   */
  async causeOf(error: unknown): Promise<unknown> {
    if (error instanceof Deposed || error instanceof StoreAway) return error
    try {
      await this.#throwIfDeposed()
      return error
    } catch (lost) {
      if (lost instanceof Deposed) return lost
      return this.msLeft > 0
        ? error
        : new StoreAway(`the lease is over, and its state is unknown: ${String(lost)}`)
    }
  }

  /** Gives the lease back, after all effects have ended. */
  async release(): Promise<void> {
    this.end()
    const { lease, world, effects } = this.#parts
    effects.stop()
    await inTime(world, lease, lease.release(this.epoch))
  }

  #renewed(sent: number): void {
    const { lease, world, lapsed } = this.#parts
    this.#sent = sent
    if (this.#overdue) world.report('lease renewed late')
    this.#overdue = false
    this.#trouble = undefined
    this.#cancelOverdue()
    this.#cancelLapse()
    this.#cancelLapse = world.later(this.msLeft, lapsed)
    this.#cancelOverdue = world.later(lease.ms / 2, () => {
      this.#overdue = true
      this.#trouble ??= databaseSilent
      world.report('lease not renewed in time')
    })
    this.#renewLater(lease.ms / renewals)
  }

  #renewLater(ms: number): void {
    this.#cancelNext = this.#parts.world.later(ms, () => void this.#renew())
  }

  async #renew(): Promise<void> {
    const { lease, world, effects, deposed } = this.#parts
    let trouble = 'its watchdog does not answer'
    try {
      const mark = await this.#mark()
      trouble = databaseSilent
      const sent = world.now()
      const held = await inTime(world, lease, lease.renew(this.epoch))
      if (this.#ended) return
      if (held) {
        effects.confirm(mark)
        return this.#renewed(sent)
      }
      this.end()
      deposed()
    } catch (error) {
      if (this.#ended) return
      if (error instanceof Deposed) {
        this.end()
        return deposed()
      }
      this.#trouble = trouble
      world.report('lease not renewed', error)
      this.#renewLater(lease.ms / renewals / 2)
    }
  }

  /**
   * Begins a count. Without one the lease must not be renewed, because nothing would end the effects in time. So another node may
   * have taken the lease, which no renewal tells then.
   */
  async #mark(): Promise<number> {
    const { lease, world, effects } = this.#parts
    try {
      return await inTime(world, lease, effects.mark(), 'the watchdog')
    } catch (error) {
      await this.#throwIfDeposed()
      throw error
    }
  }

  /** Throws `Deposed` if a later epoch has begun. */
  async #throwIfDeposed(): Promise<void> {
    const { lease, world } = this.#parts
    const state = await inTime(world, lease, lease.read())
    if (state && state.epoch > this.epoch) throw new Deposed(`epoch ${state.epoch} has begun`)
  }
}

/** Waits for an answer. A request that takes longer is sent again, because its connection may be dead. */
function inTime<T>(world: World, { ms }: Lease, answer: Promise<T>, of = 'the database'): Promise<T> {
  return withTimeout(world, ms / renewals, answer, () => {
    throw new Error(`${of} did not answer in time`)
  })
}
