/**
 * The worker thread of PostgreSQL: of a store, a lease or a search index. It makes checksums, and reads and writes the messages of the server,
 * so that the main thread need not. Requests are answered when they are done: writes in order, and reads in order.
 */
import { parentPort } from 'node:worker_threads'
import type { Functions, ThreadAnswer, ThreadError, ThreadRequest } from '../../process/thread-request.ts'
import { Failure, toFailure } from './failure.ts'
import { openLease } from './lease-row.ts'
import type { PostgresPlace } from './place.ts'
import { openSearch } from './search.ts'
import { openStore } from './store.ts'
import type { LeaseApi, Meaning, PostgresApi, SearchApi } from './worker-api.ts'

// [S-18] The worker thread has globals of its own, and parses data that came from clients and agents. So `__proto__` is
// removed here too. The cast lets `delete` have it.
delete (Object.prototype as { __proto__?: unknown }).__proto__

type Request = ThreadRequest<PostgresApi> | ThreadRequest<LeaseApi> | ThreadRequest<SearchApi>

if (!parentPort) throw new Error('this file is the entry of a worker')
const port = parentPort

/** What answers the requests to what is open. */
let handlers: { readonly [name: string]: (...args: never[]) => unknown } = {}
let target: PostgresPlace | undefined

port.on('message', (request: Request) => void answered(request))

async function answered(request: Request): Promise<void> {
  const { id, name } = request
  let answer: ThreadAnswer<Meaning>
  try {
    answer = { id, value: await valueFor(request) }
  } catch (error) {
    answer = { id, error: describe(error) }
  }
  port.postMessage(answer)
  if (name === 'close' || (name.startsWith('open') && answer.error)) port.close()
}

async function valueFor(request: Request): Promise<unknown> {
  switch (request.name) {
    case 'open':
      return opened(request.args[0], openStore)
    case 'openLease':
      return opened(request.args[0], openLease)
    case 'openSearch':
      return opened(request.args[0], openSearch)
    default:
      // The cast is right, because the main thread asks only for what it has opened.
      return handlers[request.name]?.(...(request.args as never[]))
  }
}

async function opened<Options extends { readonly target: PostgresPlace }, Api extends Functions<Api>>(
  options: Options,
  opener: (options: Options) => Promise<{ readonly api: Api; readonly value: unknown }>,
): Promise<unknown> {
  target = options.target
  const { api, value } = await opener(options)
  handlers = { ...api }
  return value
}

function describe(error: unknown): ThreadError<Meaning> {
  const failure = target ? toFailure(error, target) : error
  const message = failure instanceof Error ? failure.message : String(failure)
  return failure instanceof Failure ? { meaning: failure.meaning, message } : { message }
}
