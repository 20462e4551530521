import { Worker } from 'node:worker_threads'

/** Starts a thread for a store or a lease. */
export function newThread(): Worker {
  // The path is right both from `src` and from `dist`, because the compiler leaves plain JavaScript files in `src`. The
  // worker does not inherit the flags of the process, because it would not start with `--input-type`. Its environment is empty,
  // because the library would read its settings there.
  const thread = new Worker(new URL('../../../src/store/postgres/worker.js', import.meta.url), {
    execArgv: [],
    env: {},
  })
  // A thread that has nothing to do does not keep the process alive.
  thread.unref()
  return thread
}
