import type { Worker } from 'node:worker_threads'
import { DiskFull } from '@atrium/host/ports/log'
import { IndexDamaged } from '@atrium/host/ports/search-index'
import { newThread } from '../../process/thread.ts'
import type { ThreadAnswer } from '../../process/thread-request.ts'
import type { Meaning, SearchApi } from './worker-api.ts'

interface Pending {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

/**
 * The worker thread of an index. It starts with the first request, so that it does not delay the start of the host.
 */
export class SearchThread {
  readonly #worker: Worker
  readonly #pending = new Map<number, Pending>()
  readonly #exited: Promise<void>
  #ended: Error | undefined
  #closing = false
  #lastId = 0

  constructor() {
    this.#worker = newThread(new URL('./search-worker.js', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    })
    this.#worker.unref()
    this.#worker.on('message', (answer: ThreadAnswer<Meaning>) => this.#receive(answer))
    this.#worker.on('error', (error: Error) => this.#end(error))
    this.#exited = new Promise((resolve) => {
      this.#worker.on('exit', () => {
        this.#end(new Error('the thread of the search index has ended'))
        resolve()
      })
    })
  }

  /** Whether the thread has ended. */
  get ended(): boolean {
    return this.#ended !== undefined
  }

  request<K extends keyof SearchApi>(
    name: K,
    ...args: Parameters<SearchApi[K]>
  ): Promise<ReturnType<SearchApi[K]>> {
    if (this.#ended) return Promise.reject(this.#ended)
    return new Promise((resolve, reject) => {
      const id = ++this.#lastId
      // The value has this type because `search-worker.ts` implements `SearchApi`.
      this.#pending.set(id, { resolve: (value) => resolve(value as ReturnType<SearchApi[K]>), reject })
      this.#worker.ref()
      this.#worker.postMessage({ id, name, args })
    })
  }

  /** Ends the thread. Resolves when the file is closed. */
  async close(): Promise<void> {
    this.#closing = true
    if (!this.#ended) await this.request('close')
    await this.#exited
  }

  #receive({ id, value, error }: ThreadAnswer<Meaning>): void {
    const request = this.#pending.get(id)
    this.#pending.delete(id)
    // An idle thread does not keep the process alive. A thread that is closing does, until it has ended.
    if (this.#pending.size === 0 && !this.#closing) this.#worker.unref()
    if (!error) return request?.resolve(value)
    const { meaning, message } = error
    request?.reject(meaning ? new errors[meaning](message) : new Error(message))
  }

  #end(error: Error): void {
    this.#ended ??= error
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }
}

const errors = { full: DiskFull, damaged: IndexDamaged }
