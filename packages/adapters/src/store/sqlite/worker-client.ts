import { DiskFull } from '@atrium/host/ports/log'
import { refuseNul } from '../text.ts'
import { takeThread } from './thread.ts'
import type { WorkerApi } from './worker-api.ts'

/** Thrown if this build cannot read the store of the folder. The folder was not changed. */
export class StoreUnreadable extends Error {
  override readonly name = 'StoreUnreadable'
}

/** Thrown if another process has the store open. */
export class StoreLocked extends Error {
  override readonly name = 'StoreLocked'
}

interface WorkerResponse {
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly meaning?: 'full' | 'locked' | 'unreadable'; readonly message: string }
}

interface PendingRequest {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** The worker thread of a store. It answers requests in the order in which they were sent, except for `seal`. */
export class StoreWorker {
  private readonly worker = takeThread()
  private readonly pending = new Map<number, PendingRequest>()
  private readonly exited: Promise<void>
  private ended: Error | undefined
  private lastId = 0

  constructor() {
    this.worker.on('message', (response: WorkerResponse) => this.receive(response))
    this.worker.on('error', (error) => this.end(error))
    this.exited = new Promise((resolve) => {
      this.worker.on('exit', () => {
        this.end(new Error('the store is closed'))
        resolve()
      })
    })
  }

  request<K extends keyof WorkerApi>(
    name: K,
    args: Parameters<WorkerApi[K]>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<ReturnType<WorkerApi[K]>> {
    if (this.ended) return Promise.reject(this.ended)
    return new Promise((resolve, reject) => {
      refuseNul(...args.flat().filter((arg) => typeof arg === 'string'))
      const id = ++this.lastId
      // The value has this type because `worker.js` implements `WorkerApi`.
      this.pending.set(id, { resolve: (value) => resolve(value as ReturnType<WorkerApi[K]>), reject })
      this.worker.ref()
      this.worker.postMessage({ id, name, args }, transfer)
    })
  }

  /** Stops the worker. Resolves when the thread has ended and its locks are released. */
  async close(): Promise<void> {
    if (this.ended) return this.exited
    const closed = this.request('close', [])
    this.ended = new Error('the store is closed')
    try {
      await closed
    } finally {
      await this.exited
    }
  }

  private receive({ id, value, error }: WorkerResponse): void {
    const request = this.pending.get(id)
    this.pending.delete(id)
    // An idle worker does not keep the process alive. A worker that is closing does, until it has exited.
    if (this.pending.size === 0 && !this.ended) this.worker.unref()
    if (error) request?.reject(toError(error))
    else request?.resolve(value)
  }

  private end(error: Error): void {
    this.ended ??= error
    for (const { reject } of this.pending.values()) reject(error)
    this.pending.clear()
  }
}

const errors = { full: DiskFull, locked: StoreLocked, unreadable: StoreUnreadable }

function toError({ meaning, message }: NonNullable<WorkerResponse['error']>): Error {
  return meaning ? new errors[meaning](message) : new Error(message)
}
