import type { Worker } from 'node:worker_threads'
import { newThread } from '../process/thread.ts'

/** A message to the worker: output of one terminal. */
export interface EmulatorInput {
  readonly id: number
  /** The size before the first update. */
  readonly size: Size
  readonly updates: readonly ScreenUpdate[]
}

/** A message to the worker: it forgets the terminal. */
export interface ForgottenTerminal {
  readonly id: number
  readonly updates?: never
}

/** A message of the worker: the answers to the queries in an input. */
export interface EmulatorOutput {
  readonly id: number
  readonly reply: string
}

/** Output of the program, or a new size. */
export type ScreenUpdate = string | Size

export interface Size {
  readonly cols: number
  readonly rows: number
}

/**
 * Answers queries: escape sequences by which programs ask their terminals something, such as the cursor position. The
 * worker thread starts with the first query.
 */
export class Emulator {
  #worker: Worker | undefined
  #lastId = 0
  readonly #callbacks = new Map<number, (reply: string) => void>()

  newId(): number {
    return ++this.#lastId
  }

  /** Emulates output that contains queries. Calls back with the answers, or an empty text if the worker fails. */
  emulate(input: EmulatorInput, onReply: (reply: string) => void): void {
    this.#callbacks.set(input.id, onReply)
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    worker.postMessage(input)
  }

  forget(id: number): void {
    this.#callbacks.delete(id)
    this.#worker?.postMessage({ id } satisfies ForgottenTerminal)
    this.#unrefIfIdle()
  }

  #start(): Worker {
    const worker = newThread(new URL('./emulator-worker.js', import.meta.url), {
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    })
    worker.on('message', ({ id, reply }: EmulatorOutput) => {
      const callback = this.#callbacks.get(id)
      this.#callbacks.delete(id)
      callback?.(reply)
      this.#unrefIfIdle()
    })
    // An exit event follows each error. Open queries get no answer; the next query starts a new worker.
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      this.#worker = undefined
      const callbacks = [...this.#callbacks.values()]
      this.#callbacks.clear()
      for (const callback of callbacks) callback('')
    })
    return worker
  }

  /** Lets the process end while the worker has nothing to do. */
  #unrefIfIdle(): void {
    if (this.#callbacks.size === 0) this.#worker?.unref()
  }
}
