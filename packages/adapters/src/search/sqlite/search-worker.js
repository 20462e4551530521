/**
 * The worker thread of the search index. Only this thread uses `search.db`, so neither the store nor the confirmation
 * of an action ever waits for the index. The file is plain JavaScript, because a TypeScript worker does not start
 * under vitest on Node 20. Requests (`SearchApi`) are answered in order of arrival, except that a search may overtake
 * an update.
 */
import { parentPort } from 'node:worker_threads'
import { finder } from './find.js'
import { isBroken, isFull, openIndex, removeIndex } from './open.js'
import { writer } from './write.js'

// [S-18] Data of clients and agents must not reach a prototype. Each thread has globals of its own, so
// `__proto__` is removed in this one, too.
delete (/** @type {{ __proto__?: unknown }} */ (Object.prototype).__proto__)

/** @typedef {{ id: number, name: string, args: unknown[] }} Request */
/** @typedef {(...args: any[]) => unknown} Handler */

if (!parentPort) throw new Error('this file is the entry of a worker')
const port = parentPort

let close = () => {}
/** @type {Map<string, Handler>} */
let handlers = new Map([['open', open]])

port.on('message', (/** @type {Request} */ request) => void answer(request))

/** @param {Request} request */
async function answer({ id, name, args }) {
  try {
    port.postMessage({ id, value: await handlers.get(name)?.(...args) })
  } catch (error) {
    port.postMessage({ id, error: describe(error) })
  }
  if (name === 'close') port.close()
}

/** @param {import('./open.js').OpenOptions} options */
function open(options) {
  const { db, rebuilt } = openIndex(options)
  let isOpen = true
  close = () => {
    if (isOpen) db.close()
    isOpen = false
  }
  /** @type {Record<string, Handler>} */
  const api = {
    ...(options.readOnly ? {} : writer(db)),
    ...finder(db),
    clear() {
      close()
      try {
        removeIndex(options.folder)
      } finally {
        // What could not be removed is searched as before.
        open(options)
      }
    },
    close,
  }
  handlers = new Map(Object.entries(api))
  return { rebuilt }
}

/** @param {unknown} error */
function describe(error) {
  const message = error instanceof Error ? error.message : String(error)
  if (isBroken(error)) return { meaning: 'damaged', message }
  return isFull(error) ? { meaning: 'full', message } : { message }
}
