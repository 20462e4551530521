import type { Blobs } from './blobs.ts'
import type { LogStore } from './log.ts'
import type { Records } from './records.ts'

/** The three stores of a host. One adapter implements all of them, so that one flush makes them durable together. */
export interface Store {
  readonly log: LogStore
  readonly records: Records
  readonly blobs: Blobs
}
