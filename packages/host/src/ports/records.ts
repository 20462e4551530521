/**
 * Small texts by key: client records, the list of sessions, running jobs. Records that are put in a synchronous step become
 * durable with the same flush as the step's actions. A read sees every earlier put, durable or not.
 */
export interface Records {
  get(key: string): Promise<string | undefined>
  put(key: string, text: string): void
  /** All records whose key starts with a prefix, ordered by key. */
  list(prefix: string): Promise<readonly (readonly [key: string, text: string])[]>
  delete(key: string): void
}
