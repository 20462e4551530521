import { Worker } from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'

/**
 * Starts a thread. `entry` is the compiled file of its module, as a `new URL` of a literal and the URL of the caller, because the bundler
 * of the command reads that text. The thread does not inherit the flags of the process, because it would not start with `--input-type`.
 */
export function newThread(entry: URL, options: WorkerOptions = {}): Worker {
  return new Worker(threadFile(entry), { execArgv: [], ...options })
}

/**
 * The file from which a thread starts. Tests run on the sources, and Node starts no thread from TypeScript, so each test run first bundles
 * the entries of all threads from their sources (`test/threads.ts`). A bundle also starts sooner than a module that imports many.
 */
export function threadFile(entry: URL): URL {
  if (!import.meta.url.endsWith('.ts')) return entry
  return new URL(entry.href.replace(/\/src\/((?:(?!\/src\/).)*)\.js$/, '/dist/threads/$1.cjs'))
}
