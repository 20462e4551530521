import { memoryStore } from '@atrium/adapters/store/memory'
import type { MemoryStore } from '@atrium/adapters/store/memory'
import { DiskFull } from '@atrium/host/ports/log'
import type { Head, LogStore, Sealed, Step } from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'
import { count } from './tally.ts'

/** The unit that a store keeps as a whole or not at all: a step, and the records written with it. */
export interface Transaction {
  readonly step: Step | undefined
  readonly records: Map<string, string | undefined>
}

/**
 * A disk whose owner decides when each read is answered and when each flush ends. A crash keeps every flushed
 * transaction, and of the others a prefix of any length.
 */
export class Disk {
  readonly transactions: Transaction[] = []
  /** Number of transactions that are durable. */
  durable = 0
  /**
   * The highest `upTo` that was ever flushed: the highest sequence number that may have been assigned. A store keeps
   * it outside of its journal, so it is still there if the journal is lost.
   */
  bound = 0
  full = false
  /** Whether the next flush fails permanently. */
  broken = false
  readonly #onAppend: (step: Step, at: number) => void
  readonly #onForget: (checkpoint: Head) => void
  /**
   * Every compression (seal) and every deletion of old envelopes so far, with the number of transactions that were
   * durable then. A crash repeats them on the transactions that are left.
   */
  #rewrites: { readonly durable: number; readonly run: (log: LogStore) => Promise<unknown> }[] = []
  #image: MemoryStore = emptyImage()
  #reads: (() => void)[] = []
  /** The channel whose reads hang, and these reads. They are answered after `resume`. */
  #slow: string | undefined
  #hanging: (() => void)[] = []
  #flushes: (() => void)[] = []

  constructor(onAppend: (step: Step, at: number) => void, onForget: (checkpoint: Head) => void = () => {}) {
    this.#onAppend = onAppend
    this.#onForget = onForget
  }

  get waiting(): number {
    return this.#reads.length + this.#hanging.length + this.#flushes.length
  }

  /** Answers one of the waiting reads. The answer contains only what is durable by then. */
  answer(at = 0): void {
    this.#reads.splice(at % Math.max(1, this.#reads.length), 1)[0]?.()
  }

  /** Lets the reads of a channel hang while others are answered. */
  hang(channel: string): void {
    this.#slow = channel
  }

  /** Lets the reads that hang be answered. */
  resume(): void {
    this.#slow = undefined
    this.#reads.push(...this.#hanging.splice(0))
  }

  /** Ends the oldest flush, independently of the reads around it. */
  flush(): void {
    this.#flushes.shift()?.()
  }

  /**
   * Simulates a power failure that leaves this many transactions. Waiting reads and flushes are never answered. The
   * bound stays as it is, even if flushed transactions are lost. With `olderBound` it becomes the bound of the
   * transactions that are left.
   */
  crash(left: number, olderBound = false): void {
    this.#reads = []
    this.#hanging = []
    this.#flushes = []
    this.transactions.length = left
    this.durable = left
    this.#image = emptyImage()
    this.#rewrites = this.#rewrites.filter(({ durable }) => durable <= left)
    let kept = 0
    for (const { durable, run } of this.#rewrites) {
      void this.#keep(kept, durable)
      void run(this.#image.log)
      kept = durable
    }
    void this.#keep(kept, left)
    this.bound = Math.max(olderBound ? 0 : this.bound, this.#boundOf(left))
  }

  /** Returns the numbers of a channel's durable envelopes, in ascending order. */
  numbersOf(channel: string): readonly number[] {
    return this.transactions
      .slice(0, this.durable)
      .flatMap(({ step }) => step?.envelopes ?? [])
      .flatMap((envelope) => (envelope.channel === channel ? envelope.seq : []))
  }

  /** Compresses (seals) a slice of the durable envelopes of a channel. The result is durable at once. */
  async seal(...asked: Parameters<LogStore['seal']>): Promise<Sealed> {
    const sealed = await this.#rewrite((log) => log.seal(...asked))
    if (sealed.envelopes > 0) count('slices sealed')
    return sealed
  }

  /**
   * Deletes the durable envelopes of a channel up to a checkpoint, a state that takes their place. The result is
   * durable at once.
   */
  async #forget(checkpoint: Head, keys: number): Promise<boolean> {
    const forgot = await this.#rewrite((log) => log.forget(checkpoint, keys))
    if (forgot) {
      this.#onForget(checkpoint)
      count('checkpoints written')
    }
    return forgot
  }

  #rewrite<T>(run: (log: LogStore) => Promise<T>): Promise<T> {
    if (this.full) return Promise.reject(new DiskFull('no space left on a simulated disk'))
    this.#rewrites.push({ durable: this.durable, run })
    return run(this.#image.log)
  }

  /** Opens the store for one host run. */
  open(alive: () => boolean): Store {
    this.#image = this.#image.reopen()
    let open: Transaction | undefined
    const begin = (step: Step | undefined): Transaction => {
      const begun = { step, records: new Map<string, string | undefined>() }
      open = begun
      this.transactions.push(begun)
      // Records that are put before this microtask runs join the transaction. A later record begins another
      // transaction.
      queueMicrotask(() => open === begun && (open = undefined))
      return begun
    }
    const record = (key: string, text: string | undefined) => {
      if (alive()) (open ?? begin(undefined)).records.set(key, text)
    }
    const ask = <T>(answer: () => Promise<T>, channel?: string): Promise<T> =>
      new Promise((resolve) => {
        if (!alive()) return
        const hangs = channel !== undefined && channel === this.#slow
        const reads = hangs ? this.#hanging : this.#reads
        reads.push(() => resolve(answer()))
      })
    return {
      log: {
        upTo: this.#image.log.upTo,
        ...(this.bound > this.#image.log.upTo && { lost: this.bound }),
        append: (step) => {
          if (!alive()) return
          begin(step)
          this.#onAppend(step, this.transactions.length - 1)
        },
        flush: () => {
          const upTo = this.transactions.length
          return new Promise((resolve) => {
            if (alive()) this.#flushes.push(() => resolve(this.#flush(upTo)))
          })
        },
        read: (...asked) =>
          ask(() => this.#image.log.read(...asked), asked[0].length === 1 ? asked[0][0] : undefined),
        dispatchedBy: (...asked) => ask(() => this.#image.log.dispatchedBy(...asked)),
        load: (...asked) => ask(() => this.#image.log.load(...asked), asked[0]),
        seal: (...asked) => ask(() => this.seal(...asked)),
        creation: (...asked) => ask(() => this.#image.log.creation(...asked), asked[0]),
        forget: (...asked) => ask(() => this.#forget(...asked), asked[0].channel),
        shrink: () => ask(async () => false),
        rows: (...asked) => ask(() => this.#image.log.rows(...asked)),
        close: () => ask(async () => {}),
      },
      records: {
        get: (key) => ask(async () => (await this.#recordsFrom(key)).get(key)),
        put: record,
        list: (prefix) => ask(async () => [...(await this.#recordsFrom(prefix))].toSorted(byKey)),
        delete: (key) => record(key, undefined),
      },
      blobs: this.#image.blobs,
    }
  }

  /** Returns the records whose key has this prefix, including those that are not durable yet. */
  async #recordsFrom(prefix: string): Promise<Map<string, string>> {
    // Lists the transactions that are not durable before the `await`, because a flush may end while the image is
    // read.
    const unsafe = this.transactions.slice(this.durable)
    const all = new Map(await this.#image.records.list(prefix))
    for (const { records } of unsafe)
      for (const [key, text] of records) {
        if (!key.startsWith(prefix)) continue
        if (text === undefined) all.delete(key)
        else all.set(key, text)
      }
    return all
  }

  async #flush(upTo: number): Promise<void> {
    if (this.full) throw new DiskFull('no space left on a simulated disk')
    if (this.broken) throw new Error('a simulated disk has failed')
    const from = this.durable
    this.durable = Math.max(from, upTo)
    this.bound = Math.max(this.bound, this.#boundOf(this.durable))
    return this.#keep(from, upTo)
  }

  #boundOf(count: number): number {
    return this.transactions.slice(0, count).reduce((most, { step }) => Math.max(most, step?.upTo ?? 0), 0)
  }

  #keep(from: number, upTo: number): Promise<void> {
    const { log, records } = this.#image
    for (const { step, records: put } of this.transactions.slice(from, upTo)) {
      if (step) log.append(step)
      for (const [key, text] of put)
        if (text === undefined) records.delete(key)
        else records.put(key, text)
    }
    return log.flush()
  }
}

function emptyImage(): MemoryStore {
  return memoryStore({ soon: (task) => task() })
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : Number(a > b)
}
