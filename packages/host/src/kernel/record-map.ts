import type { Records } from '../ports/records.ts'
import { readText } from './records/checked-records.ts'

/** How a value is converted to the text of a record, and back. */
export interface RecordFormat<V> {
  read(text: string): V
  write(value: V): string
}

/** The format of texts, which are stored as they are. A map of which only the keys matter has empty texts as values. */
export const textFormat: RecordFormat<string> = { read: (text) => text, write: (value) => value }

/**
 * A map that is kept in memory and in records: one record for each entry, with keys that begin with one prefix. A
 * change becomes durable in the same transaction as the actions that are appended with it.
 */
export class RecordMap<V> {
  readonly #records: Records
  readonly #prefix: string
  readonly #format: RecordFormat<V>
  readonly #entries = new Map<string, V>()

  private constructor(records: Records, prefix: string, format: RecordFormat<V>) {
    this.#records = records
    this.#prefix = prefix
    this.#format = format
  }

  /** Loads every record that begins with the prefix. A record that cannot be read is set aside. */
  static async open<V>(records: Records, prefix: string, format: RecordFormat<V>): Promise<RecordMap<V>> {
    const map = new RecordMap(records, prefix, format)
    for (const [key, text] of await records.list(prefix)) {
      // A value is never undefined: a format makes a value of every text, or throws.
      const value = readText(records, key, { text, read: format.read })
      if (value !== undefined) map.#entries.set(key.slice(prefix.length), value)
    }
    return map
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    return this.#entries.get(key)
  }

  has(key: string): boolean {
    return this.#entries.has(key)
  }

  keys(): readonly string[] {
    return [...this.#entries.keys()]
  }

  values(): readonly V[] {
    return [...this.#entries.values()]
  }

  entries(): readonly (readonly [string, V])[] {
    return [...this.#entries]
  }

  set(key: string, value: V): void {
    this.#entries.set(key, value)
    this.#records.put(`${this.#prefix}${key}`, this.#format.write(value))
  }

  /** Deletes an entry. Returns whether there was one. */
  delete(key: string): boolean {
    const deleted = this.#entries.delete(key)
    if (deleted) this.#records.delete(`${this.#prefix}${key}`)
    return deleted
  }
}
