import { memoryStore } from '@atrium/adapters/store/memory'
import type { MemoryStore } from '@atrium/adapters/store/memory'
import { LeaseRow } from '@atrium/adapters/store/memory-lease'
import type { LeaseHolder } from '@atrium/adapters/store/memory-lease'
import type { Step } from '@atrium/host/ports/log'
import type { Lease } from '@atrium/host/ports/lease'

/** What an owner writes in one transaction. */
export interface Batch {
  readonly epoch: number
  /** Counts the batches of an epoch. */
  readonly number: number
  readonly steps: readonly Step[]
  readonly records: ReadonlyMap<string, string | undefined>
}

/** A node as the database sees it: its name, and its clock, which the database must not use. */
export interface Asking extends LeaseHolder {
  wall(): number
}

/**
 * The simulated database: a store in memory, the row of the lease, and a clock of its own. It also keeps books, apart from the code
 * under test, about who may write and who holds the lease, and reports what must never happen.
 */
export class Database {
  readonly store: MemoryStore
  readonly row: LeaseRow
  readonly leaseMs: number
  /** The transactions that have begun and are not committed. */
  readonly open = new Set<Batch>()
  /** The number of the last batch of each epoch that was committed. */
  readonly #committed = new Map<number, number>()
  readonly #fail: (rule: string, problem: string) => void
  readonly #elapsed: () => number
  #asking: Asking | undefined
  #validUntil = 0

  constructor(leaseMs: number, elapsed: () => number, fail: (rule: string, problem: string) => void) {
    this.leaseMs = leaseMs
    this.#elapsed = elapsed
    this.#fail = fail
    this.store = memoryStore({ soon: (task) => task() })
    this.row = new LeaseRow(leaseMs, () => this.now())
  }

  /** The clock of the database, whoever asks. */
  now(): number {
    return this.#elapsed()
  }

  /** The requests for the lease, as they arrive at the database. */
  leaseFor(asking: Asking): Lease {
    const lease = this.row.leaseOf({ node: asking.node })
    const served = <T>(ask: () => Promise<T>): Promise<T> => {
      this.#asking = asking
      return ask()
    }
    return {
      ms: this.leaseMs,
      read: () => served(() => lease.read()),
      close: () => lease.close(),
      renew: (epoch) =>
        served(async () => {
          const held = await lease.renew(epoch)
          if (held) this.#validUntil = this.#elapsed() + this.leaseMs
          return held
        }),
      acquire: () =>
        served(async () => {
          const epoch = await lease.acquire()
          if (epoch === undefined) return undefined
          if (this.#elapsed() < this.#validUntil)
            this.#fail(
              'L40',
              `${asking.node} took a lease that ends in ${this.#validUntil - this.#elapsed()} ms`,
            )
          this.#validUntil = this.#elapsed() + this.leaseMs
          return epoch
        }),
      release: (epoch) =>
        served(async () => {
          if (epoch === this.row.epoch) this.#validUntil = this.#elapsed()
          await lease.release(epoch)
        }),
    }
  }

  /** The number of the last committed batch of an epoch. An owner asks for it if the outcome of a commit is unknown. */
  lastBatch(epoch: number): number {
    return this.#committed.get(epoch) ?? 0
  }

  /** Commits a transaction, which is fenced. */
  async commit(batch: Batch): Promise<void> {
    this.open.delete(batch)
    this.row.fence(batch.epoch)
    if (batch.epoch < this.row.epoch)
      this.#fail(
        'L41',
        `the owner of epoch ${batch.epoch} wrote in epoch ${this.row.epoch}; ${this.#asking?.node} asked for the lease last`,
      )
    if (batch.number <= this.lastBatch(batch.epoch))
      this.#fail('L45', `batch ${batch.number} of epoch ${batch.epoch} was stored twice`)
    this.#committed.set(batch.epoch, batch.number)
    for (const step of batch.steps) this.store.log.append(step)
    for (const [key, text] of batch.records)
      if (text === undefined) this.store.records.delete(key)
      else this.store.records.put(key, text)
    await this.store.log.flush()
  }

  /** The records that a reader sees: what is committed, and nothing of open transactions. */
  async list(prefix: string): Promise<readonly (readonly [string, string])[]> {
    return this.store.records.list(prefix)
  }
}
