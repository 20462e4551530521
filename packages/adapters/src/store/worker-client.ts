import { DiskFull } from '@atrium/host/ports/log'
import { Deposed, StoreAway } from '@atrium/host/ports/lease'
import type { Worker } from 'node:worker_threads'
import type { Functions, ThreadAnswer, ThreadError } from '../process/thread-request.ts'
import { refuseNul } from './text.ts'

/** Thrown if this build cannot read the store of the folder. The folder was not changed. */
export class StoreUnreadable extends Error {
  override readonly name = 'StoreUnreadable'
}

/** Thrown if another process has the store open. */
export class StoreLocked extends Error {
  override readonly name = 'StoreLocked'
}

interface PendingRequest {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/** The requests that a worker answers, by their names. Every worker can be closed. */
export type Requests<Api> = Functions<Api> & { close(): void }

/** The worker thread of a store. It answers requests in the order in which they were sent, except for `seal`. */
export class StoreWorker<Api extends Requests<Api>> {
  private readonly worker: Worker
  private readonly pending = new Map<number, PendingRequest>()
  private readonly exited: Promise<void>
  private ended: Error | undefined
  private lastId = 0

  constructor(worker: Worker) {
    this.worker = worker
    this.worker.on('message', (response: ThreadAnswer<Meaning>) => this.receive(response))
    this.worker.on('error', (error) => this.end(error))
    this.exited = new Promise((resolve) => {
      this.worker.on('exit', () => {
        this.end(new Error('the store is closed'))
        resolve()
      })
    })
  }

  request<K extends keyof Api & string>(
    name: K,
    args: Parameters<Api[K]>,
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<ReturnType<Api[K]>> {
    // The value has this type because the worker implements `Api`.
    return this.send(name, args, transfer) as Promise<ReturnType<Api[K]>>
  }

  /** Stops the worker. Resolves when the thread has ended and its locks are released. */
  async close(): Promise<void> {
    if (this.ended) return this.exited
    const closed = this.send('close', [], [])
    this.ended = new Error('the store is closed')
    try {
      await closed
    } finally {
      await this.exited
    }
  }

  private send(name: string, args: readonly unknown[], transfer: readonly ArrayBuffer[]): Promise<unknown> {
    if (this.ended) return Promise.reject(this.ended)
    return new Promise((resolve, reject) => {
      refuseNul(...args.flat().filter((arg) => typeof arg === 'string'))
      const id = ++this.lastId
      this.pending.set(id, { resolve, reject })
      this.worker.ref()
      this.worker.postMessage({ id, name, args }, transfer)
    })
  }

  private receive({ id, value, error }: ThreadAnswer<Meaning>): void {
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

type Meaning = keyof typeof errors

const errors = {
  full: DiskFull,
  locked: StoreLocked,
  unreadable: StoreUnreadable,
  deposed: Deposed,
  away: StoreAway,
}

function toError({ meaning, message }: ThreadError<Meaning>): Error {
  return meaning ? new errors[meaning](message) : new Error(message)
}
