/**
 * Small texts by key, such as client records, the session list and running jobs. Records that are put in a synchronous step
 * become durable by the same flush as the actions of the step. A read sees every earlier put, durable or not.
 */
export interface Records {
  get(key: string): Promise<string | undefined>
  put(key: string, text: string): void
  /** All records whose key starts with a prefix, ordered by key. */
  list(prefix: string): Promise<readonly (readonly [key: string, text: string])[]>
  delete(key: string): void
  /** The different beginnings of all stored keys: up to the first slash, or the whole key if it has none. */
  kinds?(): Promise<readonly string[]>
  /**
   * Sets aside a record that cannot be read. Returns the text that takes its place, if there is one. A store has no such method:
   * the host adds it (`CheckedRecords`).
   */
  setAside?(key: string, text: string): string | undefined
  /** The records with a prefix that were set aside since the start of the host, with what was stored in them. */
  setAsideIn?(prefix: string): readonly (readonly [key: string, text: string])[]
}
