import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import { newThread } from '../../process/thread.ts'

/** A thread that was started ahead of time, and that no store has taken yet. */
let ready: Worker | undefined

/**
 * Starts the thread of the next store ahead of time. The thread loads SQLite while its caller loads the rest of the program.
 */
export function startThread(): void {
  ready ??= newStoreThread()
}

/** Returns the thread that was started ahead of time, or else a new one. */
export function takeThread(): Worker {
  const thread = ready ?? newStoreThread()
  ready = undefined
  return thread
}

/**
 * Ends the thread that was started ahead of time, unless a store has taken it. The process must not exit before the thread has
 * ended: it would crash if the thread were loading SQLite at that moment.
 */
export async function endThread(): Promise<void> {
  const thread = ready
  ready = undefined
  if (!thread) return
  const exited = once(thread, 'exit')
  thread.ref()
  thread.postMessage({ id: 0, name: 'close', args: [] })
  await exited
}

function newStoreThread(): Worker {
  const thread = newThread(new URL('./worker.js', import.meta.url), {
    // Nearly all data in the worker is short-lived. With the default limit, the young generation of the heap would grow to
    // tens of megabytes.
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  })
  // A thread that has nothing to do does not keep the process alive.
  thread.unref()
  return thread
}
