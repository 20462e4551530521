import type { Records } from '../ports/records.ts'

/**
 * Records that belong to the present step: they reach the store together with the step's actions, never before, so that
 * one flush makes both durable or neither. Reads see what was put, given to the store or not.
 */
export class StepRecords implements Records {
  readonly #store: Records
  #put = new Map<string, string | undefined>()

  constructor(store: Records) {
    this.#store = store
  }

  get size(): number {
    return this.#put.size
  }

  async get(key: string): Promise<string | undefined> {
    return this.#put.has(key) ? this.#put.get(key) : this.#store.get(key)
  }

  put(key: string, text: string): void {
    this.#put.set(key, text)
  }

  async list(prefix: string): Promise<readonly (readonly [string, string])[]> {
    const all = new Map<string, string | undefined>(await this.#store.list(prefix))
    for (const [key, text] of this.#put) if (key.startsWith(prefix)) all.set(key, text)
    return [...all].flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const]))
  }

  delete(key: string): void {
    this.#put.set(key, undefined)
  }

  /** The step is over. */
  addTo(): void {
    const put = this.#put
    this.#put = new Map()
    for (const [key, text] of put)
      if (text === undefined) this.#store.delete(key)
      else this.#store.put(key, text)
  }
}
