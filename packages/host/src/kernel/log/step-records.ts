import type { Records } from '../../ports/records.ts'

/**
 * The records of the present step. The store is given the records together with the step's actions and never earlier, so that
 * one flush makes both durable or neither. A read sees every record that was put, whether the store has it or not.
 */
export class StepRecords implements Records {
  readonly #store: Records
  #changes = new Map<string, RecordText | undefined>()
  /** The number of steps whose changes the store was given. */
  #steps = 0

  constructor(store: Records) {
    this.#store = store
  }

  get size(): number {
    return this.#changes.size
  }

  async get(key: string): Promise<string | undefined> {
    const change = this.#changes.get(key)
    if (change !== undefined) return textOf(change)
    return this.#changes.has(key) ? undefined : this.#store.get(key)
  }

  /** Puts a record. If the text is a function, it is called at the end of the step, unless a later put has replaced it. */
  put(key: string, text: RecordText): void {
    this.#changes.set(key, text)
  }

  async list(prefix: string): Promise<readonly (readonly [string, string])[]> {
    const steps = this.#steps
    const stored = await this.#store.list(prefix)
    // The store was given changes meanwhile. The list may be from before, and they are no changes of the present step.
    if (steps !== this.#steps) return this.list(prefix)
    const changed = [...this.#changes].flatMap(([key, text]) =>
      key.startsWith(prefix) ? [[key, text && textOf(text)] as const] : [],
    )
    if (changed.length === 0) return stored
    const all = new Map<string, string | undefined>([...stored, ...changed])
    return [...all].flatMap(([key, text]) => (text === undefined ? [] : [[key, text] as const]))
  }

  delete(key: string): void {
    this.#changes.set(key, undefined)
  }

  setAside(key: string, text: string): string | undefined {
    return this.#store.setAside?.(key, text)
  }

  setAsideIn(prefix: string): readonly (readonly [string, string])[] {
    return this.#store.setAsideIn?.(prefix) ?? []
  }

  /** Gives the record changes of the step to the store. */
  writeToStore(): void {
    const changes = this.#changes
    if (changes.size > 0) this.#steps++
    this.#changes = new Map()
    for (const [key, text] of changes)
      if (text === undefined) this.#store.delete(key)
      else this.#store.put(key, textOf(text))
  }
}

type RecordText = string | (() => string)

function textOf(text: RecordText): string {
  return typeof text === 'function' ? text() : text
}
