import type { Worker } from 'node:worker_threads'
import { newThread } from '../../process/thread.ts'

/** The entry of the thread of a store or a lease. */
const worker = new URL('./worker.js', import.meta.url)

/** Starts a thread. Its environment is empty, because the library would read its settings there. */
export function newPostgresThread(entry = worker): Worker {
  const thread = newThread(entry, { env: {} })
  // A thread that has nothing to do does not keep the process alive.
  thread.unref()
  return thread
}
