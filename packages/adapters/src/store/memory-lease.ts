import { Deposed } from '@atrium/host/ports/lease'
import type { Lease } from '@atrium/host/ports/lease'

/** A node as the others see it. */
export interface LeaseHolder {
  readonly node: string
  readonly url?: string
}

/**
 * The lease of a store in memory, which several nodes of one process share. The clock is the one of the store: tests and
 * the simulation pass their own.
 */
export class LeaseRow {
  readonly #ms: number
  readonly #now: () => number
  #holder: LeaseHolder | undefined
  #expires = 0
  #epoch = 0

  constructor(ms: number, now: () => number) {
    this.#ms = ms
    this.#now = now
  }

  /** The epoch of the newest owner; 0 if there never was one. */
  get epoch(): number {
    return this.#epoch
  }

  /** Throws `Deposed` if an owner of this epoch may not write any more. */
  fence(epoch: number): void {
    if (epoch !== this.#epoch)
      throw new Deposed(`epoch ${epoch} is over: epoch ${this.#epoch} has begun at ${this.#holder?.node}`)
  }

  /** Returns the lease as a node sees it. */
  leaseOf(holder: LeaseHolder): Lease {
    return {
      ms: this.#ms,
      acquire: async () => this.#acquire(holder),
      renew: async (epoch) => this.#prolong(epoch, this.#ms),
      release: async (epoch) => void this.#prolong(epoch, 0),
      read: async () =>
        this.#holder && {
          ...this.#holder,
          epoch: this.#epoch,
          msLeft: Math.max(0, this.#expires - this.#now()),
        },
      close: async () => {},
    }
  }

  #acquire(holder: LeaseHolder): number | undefined {
    if (this.#holder && this.#now() < this.#expires) return undefined
    this.#holder = holder
    this.#expires = this.#now() + this.#ms
    return ++this.#epoch
  }

  #prolong(epoch: number, ms: number): boolean {
    if (epoch !== this.#epoch) return false
    this.#expires = this.#now() + ms
    return true
  }
}
