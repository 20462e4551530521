import type { Store } from '@atrium/host/ports/store'
import { threadStore } from '../thread-store.ts'
import type { WorkerApi } from '../worker-api.ts'
import { StoreWorker } from '../worker-client.ts'
import { takeThread } from './thread.ts'

export { StoreLocked, StoreUnreadable } from '../worker-client.ts'

export interface SqliteOptions {
  /** Opens the store for reading only. Every method that writes throws. */
  readonly readOnly?: boolean
  /** Returns the maximum number of pages of the file. It is called before each flush. A larger file counts as a full disk. */
  readonly maxPages?: () => number
  /** Called with a sentence for the user, if the store has something to say when it is opened. */
  readonly notice?: (sentence: string) => void
  /** A bound that is known from another store (`restore.ts`). The numbers up to it count as used and lost. */
  readonly bound?: number
  /** The free bytes on the disk and in memory. Only tests set it. */
  readonly room?: { readonly disk: number; readonly memory: number }
  /** Migrations that run after those of this build, as if a later build had opened the store. Only tests set it. */
  readonly laterMigrations?: readonly string[]
}

/**
 * Opens the store in `<folder>/atrium.db`. A worker thread writes one transaction per flush. A lock keeps other hosts from
 * opening the store.
 */
export async function openSqlite(folder: string, options: SqliteOptions = {}): Promise<Store> {
  const { readOnly = false, maxPages, laterMigrations, room, bound } = options
  const worker = new StoreWorker<WorkerApi>(takeThread())
  const opened = await worker.request('open', [{ folder, readOnly, laterMigrations, room, bound }])
  const { upTo, lost, notice } = opened
  if (notice !== undefined) options.notice?.(notice)
  return threadStore({ worker, upTo, lost, place: folder, readOnly, maxPages })
}
