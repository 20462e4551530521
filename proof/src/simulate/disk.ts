import { memoryStore } from '@atrium/adapters/store/memory'
import type { MemoryStore } from '@atrium/adapters/store/memory'
import { DiskFull } from '@atrium/host/ports/log'
import type { Step } from '@atrium/host/ports/log'
import type { Store } from '@atrium/host/ports/store'

/** What a store must keep whole: a step, with the records that were put beside it. */
export interface Transaction {
  readonly step: Step | undefined
  readonly records: Map<string, string | undefined>
}

/**
 * A disk whose owner decides when each question is answered and each flush ends. A crash keeps every transaction that
 * was flushed, and of the others any number from the first on.
 */
export class Disk {
  readonly transactions: Transaction[] = []
  /** So many of them are safe. */
  durable = 0
  full = false
  /** The next flush fails for good. */
  broken = false
  readonly #given: (step: Step, at: number) => void
  #image: MemoryStore = emptyImage()
  #questions: (() => void)[] = []
  #flushes: (() => void)[] = []

  constructor(given: (step: Step, at: number) => void) {
    this.#given = given
  }

  get waiting(): number {
    return this.#questions.length + this.#flushes.length
  }

  /** Answers one of the questions; whoever answers sees only what is safe by then. */
  answer(at = 0): void {
    this.#questions.splice(at % Math.max(1, this.#questions.length), 1)[0]?.()
  }

  /** Ends the flush that is under way, whatever was asked before or after it. */
  flush(): void {
    this.#flushes.shift()?.()
  }

  /** The power fails: so many transactions are left. What was asked is never answered. */
  crash(left: number): void {
    this.#questions = []
    this.#flushes = []
    this.transactions.length = left
    this.durable = left
    this.#image = emptyImage()
    void this.#keep(0, left)
  }

  /** For one life. */
  open(alive: () => boolean): Store {
    this.#image = this.#image.reopen()
    let open: Transaction | undefined
    const begin = (step: Step | undefined): Transaction => {
      const begun = { step, records: new Map<string, string | undefined>() }
      open = begun
      this.transactions.push(begun)
      // What is put later was not put in the same step.
      queueMicrotask(() => open === begun && (open = undefined))
      return begun
    }
    const record = (key: string, text: string | undefined) => {
      if (alive()) (open ?? begin(undefined)).records.set(key, text)
    }
    const ask = <T>(answer: () => Promise<T>): Promise<T> =>
      new Promise((resolve) => {
        if (alive()) this.#questions.push(() => resolve(answer()))
      })
    return {
      log: {
        upTo: this.#image.log.upTo,
        append: (step) => {
          if (!alive()) return
          begin(step)
          this.#given(step, this.transactions.length - 1)
        },
        flush: () => {
          const upTo = this.transactions.length
          return new Promise((resolve) => {
            if (alive()) this.#flushes.push(() => resolve(this.#flush(upTo)))
          })
        },
        read: (...asked) => ask(() => this.#image.log.read(...asked)),
        dispatchedBy: (...asked) => ask(() => this.#image.log.dispatchedBy(...asked)),
        load: (...asked) => ask(() => this.#image.log.load(...asked)),
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

  /** The records whose key starts so, with what is not safe yet. */
  async #recordsFrom(prefix: string): Promise<Map<string, string>> {
    // Of one moment: a flush may end while the image is asked.
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
    return this.#keep(from, upTo)
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
