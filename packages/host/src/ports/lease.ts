/**
 * The right to be the owner of a store, which several nodes share. The owner is the only node that writes. Every owner
 * has an epoch above those of all earlier owners. The lease ends by the clock of the store, never by that of a node. Every
 * implementation passes the suite in `lease.contract.ts`.
 */
export interface Lease {
  /** The length of the lease in milliseconds. */
  readonly ms: number
  /** Takes the lease if it is free. Resolves with the new epoch, or with undefined if another node holds the lease. */
  acquire(): Promise<number | undefined>
  /**
   * Prolongs the lease of this epoch, even if it has expired. Resolves with false if a later epoch has begun. Rejects if the
   * outcome is unknown.
   */
  renew(epoch: number): Promise<boolean>
  /** Frees the lease of this epoch at once. Does nothing if a later epoch has begun. */
  release(epoch: number): Promise<void>
  /** The present lease. Undefined if there never was one. */
  read(): Promise<LeaseState | undefined>
  close(): Promise<void>
}

export interface LeaseState {
  readonly epoch: number
  /** The name of the node that took the lease last. */
  readonly node: string
  /** The address at which clients reach that node. */
  readonly url?: string
  /** The time until the lease ends, by the clock of the store. 0: the lease is free. */
  readonly msLeft: number
}

/** The error of a store that could not reach its database for so long that it gave up. The last write is stored, or it is not. */
export class StoreAway extends Error {
  override readonly name = 'StoreAway'
}

/** The error of a write by an owner whose epoch is over. Nothing was stored, and nothing will be. */
export class Deposed extends Error {
  override readonly name = 'Deposed'
}
