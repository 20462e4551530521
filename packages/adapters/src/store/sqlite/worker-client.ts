import { Worker } from 'node:worker_threads'
import { DiskFull } from '@atrium/host/ports/log'
import { refuseNul } from '../text.ts'

/** The folder holds something that this build cannot read. Nothing was changed. */
export class StoreUnreadable extends Error {
  override readonly name = 'StoreUnreadable'
}

/** Another process has the folder open. */
export class StoreLocked extends Error {
  override readonly name = 'StoreLocked'
}

interface Answer {
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly meaning?: 'full' | 'locked' | 'unreadable'; readonly message: string }
}

interface Asked {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** Questions to the worker of a store, answered in the order they were asked. */
export class Link {
  // Found from `src` and from `dist` alike: the compiler leaves plain JavaScript where it is. Flags of the process are
  // not for the worker: `--input-type` alone would stop it.
  private readonly worker = new Worker(new URL('../../../src/store/sqlite/worker.js', import.meta.url), {
    execArgv: [],
    // What passes through it dies young; the default would let it pile up tens of megabytes first.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  })
  private readonly asked = new Map<number, Asked>()
  private readonly gone: Promise<void>
  private ended: Error | undefined
  private questions = 0

  constructor() {
    this.worker.on('message', (answer: Answer) => this.receive(answer))
    this.worker.on('error', (error) => this.end(error))
    this.gone = new Promise((resolve) => {
      this.worker.on('exit', () => {
        this.end(new Error('the store is closed'))
        resolve()
      })
    })
  }

  /** The caller knows what the answer is: both halves are one program. */
  ask(name: string, args: readonly unknown[], transfer: readonly ArrayBuffer[] = []): Promise<unknown> {
    if (this.ended) return Promise.reject(this.ended)
    return new Promise((resolve, reject) => {
      refuseNul(...args.flat().filter((arg) => typeof arg === 'string'))
      const id = ++this.questions
      this.asked.set(id, { resolve, reject })
      this.worker.ref()
      this.worker.postMessage({ id, name, args }, transfer)
    })
  }

  /** Resolves when the worker is gone, and with it every lock. */
  async close(): Promise<void> {
    if (this.ended) return this.gone
    const closed = this.ask('close', [])
    this.ended = new Error('the store is closed')
    try {
      await closed
    } finally {
      await this.gone
    }
  }

  private receive({ id, value, error }: Answer): void {
    const asked = this.asked.get(id)
    this.asked.delete(id)
    // An idle store keeps no process alive; one that is being closed does, until it is.
    if (this.asked.size === 0 && !this.ended) this.worker.unref()
    if (error) asked?.reject(toError(error))
    else asked?.resolve(value)
  }

  private end(error: Error): void {
    this.ended ??= error
    for (const { reject } of this.asked.values()) reject(error)
    this.asked.clear()
  }
}

const errors = { full: DiskFull, locked: StoreLocked, unreadable: StoreUnreadable }

function toError({ meaning, message }: NonNullable<Answer['error']>): Error {
  return meaning ? new errors[meaning](message) : new Error(message)
}
