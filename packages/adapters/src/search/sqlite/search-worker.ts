/**
 * The worker thread of the search index. Only this thread uses `search.db`, so neither the store nor the confirmation
 * of an action ever waits for the index. Requests (`SearchApi`) are answered in order of arrival, except that a search
 * may overtake an update.
 */
import { parentPort } from 'node:worker_threads'
import type { Handlers, ThreadAnswer, ThreadError, ThreadRequest } from '../../process/thread-request.ts'
import { finder } from './find.ts'
import { isBroken, isFull, openIndex, removeIndex } from './open.ts'
import type { OpenOptions, Opened } from './open.ts'
import type { Meaning, SearchApi } from './worker-api.ts'
import { writer } from './write.ts'

// [S-18] Data of clients and agents must not reach a prototype. Each thread has globals of its own, so
// `__proto__` is removed in this one, too. The cast lets `delete` have it.
delete (Object.prototype as { __proto__?: unknown }).__proto__

if (!parentPort) throw new Error('this file is the entry of a worker')
const port = parentPort

let close = (): void => {}
/** An index that is only read answers fewer requests. */
let handlers: Partial<Handlers<SearchApi>> = { open }

port.on('message', (request: ThreadRequest<SearchApi>) => void answer(request))

async function answer<K extends keyof SearchApi>(request: ThreadRequest<SearchApi, K>): Promise<void> {
  const { id, name, args } = request
  try {
    const handler: Partial<Handlers<SearchApi>>[K] = handlers[name]
    send({ id, value: await handler?.(...args) })
  } catch (error) {
    send({ id, error: describe(error) })
  }
  if (name === 'close') port.close()
}

function send(message: ThreadAnswer<Meaning>): void {
  port.postMessage(message)
}

function open(options: OpenOptions): Pick<Opened, 'rebuilt'> {
  const { db, rebuilt } = openIndex(options)
  let isOpen = true
  close = () => {
    if (isOpen) db.close()
    isOpen = false
  }
  handlers = {
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
  return { rebuilt }
}

function describe(error: unknown): ThreadError<Meaning> {
  const message = error instanceof Error ? error.message : String(error)
  if (isBroken(error)) return { meaning: 'damaged', message }
  return isFull(error) ? { meaning: 'full', message } : { message }
}
