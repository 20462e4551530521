/**
 * Small facts by key: client records, the session index, open work. What is put in a synchronous step becomes durable
 * with the same flush as the step's actions. Reads see what was put before them, durable or not.
 */
export interface Records {
  get(key: string): Promise<string | undefined>
  put(key: string, text: string): void
  /** All whose key starts so, by key. */
  list(prefix: string): Promise<readonly (readonly [key: string, text: string])[]>
  delete(key: string): void
}
