import type { Worker } from 'node:worker_threads'
import { newThread } from '../../process/thread.ts'

/**
 * Starts a thread for a store, a lease or a search index. Its environment is empty, because the library would read its settings there.
 */
export function newPostgresThread(): Worker {
  const thread = newThread(new URL('./worker.js', import.meta.url), { env: {} })
  // A thread that has nothing to do does not keep the process alive.
  thread.unref()
  return thread
}
