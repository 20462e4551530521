import { Worker } from 'node:worker_threads'

/** What the emulator of one terminal is given; without items it is forgotten. */
export interface Fed {
  readonly id: number
  /** Before the first item. */
  readonly size: Size
  readonly items?: readonly Item[]
}

/** What is shown, or another size. */
export type Item = string | Size

export interface Size {
  readonly cols: number
  readonly rows: number
}

/** Answers what programs ask of their terminals, in a thread that is begun with the first question of any of them. */
export class Emulator {
  #worker: Worker | undefined
  #ids = 0
  readonly #waiting = new Map<number, (reply: string) => void>()

  id(): number {
    return ++this.#ids
  }

  feed(fed: Fed, reply: (reply: string) => void): void {
    this.#waiting.set(fed.id, reply)
    const worker = (this.#worker ??= this.#begin())
    worker.ref()
    worker.postMessage(fed)
  }

  forget(id: number): void {
    this.#waiting.delete(id)
    this.#worker?.postMessage({ id })
    this.#rest()
  }

  #begin(): Worker {
    const worker = new Worker(new URL('../../src/terminals/emulator-worker.js', import.meta.url), {
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 8 },
    })
    worker.on('message', ({ id, reply }: { readonly id: number; readonly reply: string }) => {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      waiting?.(reply)
      this.#rest()
    })
    // Nobody is answered what was asked of it; the next question begins another.
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      this.#worker = undefined
      const all = [...this.#waiting.values()]
      this.#waiting.clear()
      for (const waiting of all) waiting('')
    })
    return worker
  }

  /** Without a question it keeps no process alive. */
  #rest(): void {
    if (this.#waiting.size === 0) this.#worker?.unref()
  }
}
