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
}
