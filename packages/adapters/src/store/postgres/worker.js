/**
 * The worker thread of PostgreSQL: of a store, a lease or a search index. It makes checksums, and reads and writes the messages of the server,
 * so that the main thread need not. The file is plain JavaScript, because a TypeScript worker does not start under vitest on
 * Node 20. Requests are answered when they are done: writes in order, and reads in order.
 */
import { parentPort } from 'node:worker_threads'
import { Failure, toFailure } from './failure.js'
import { openLease } from './lease.js'
import { openSearch } from './search.js'
import { openStore } from './store.js'

// [S-18] The worker thread has globals of its own, and parses data that came from clients and agents. So `__proto__` is
// removed here too.
delete (/** @type {{ __proto__?: unknown }} */ (Object.prototype).__proto__)

/** @typedef {{ id: number, name: string, args: any[] }} Request */
/** @typedef {{ id: number, value?: unknown, error?: { meaning?: string, message: string } }} Response */
/** @typedef {(...args: any[]) => unknown} Handler */

if (!parentPort) throw new Error('this file is the entry of a worker')
const port = parentPort

/** What this thread can open. @type {{ readonly [name: string]: (options: any) => Promise<{ api: object, value: unknown }> }} */
const openers = { open: openStore, openLease, openSearch }
/** @type {Map<string, Handler>} */
let handlers = new Map()
/** @type {import('./session.js').Target | undefined} */
let target

port.on('message', (/** @type {Request} */ request) => void answered(request))

/** @param {Request} request */
async function answered({ id, name, args }) {
  /** @type {Response} */
  let answer
  try {
    const opener = openers[name]
    answer = { id, value: opener ? await open(opener, args[0]) : await handlers.get(name)?.(...args) }
  } catch (error) {
    answer = { id, error: describe(error) }
  }
  port.postMessage(answer)
  if (name === 'close' || (name in openers && answer.error)) port.close()
}

/**
 * @param {(options: any) => Promise<{ api: object, value: unknown }>} opener
 * @param {{ target: import('./session.js').Target }} options
 */
async function open(opener, options) {
  target = options.target
  const { api, value } = await opener(options)
  handlers = new Map(Object.entries(api))
  return value
}

/** @param {unknown} error */
function describe(error) {
  const failure = target ? toFailure(error, target) : error
  const message = failure instanceof Error ? failure.message : String(failure)
  return failure instanceof Failure ? { meaning: failure.meaning, message } : { message }
}
