import { parentPort } from 'node:worker_threads'
import type { ThreadAnswer, ThreadError } from '../../process/thread-request.ts'
import { Failure, toFailure } from './failure.ts'
import type { PostgresPlace } from './place.ts'
import type { Meaning } from './worker-api.ts'

/** Opens something in the database. `api` answers the further requests. */
type Opener = (options: never) => Promise<{ readonly api: object; readonly value: unknown }>

interface Request {
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

/**
 * Answers the requests to this thread. The first one has the name of an opener, and the others are for what it has opened. The thread makes
 * checksums, and reads and writes the messages of the server, so that the main thread need not. A request is answered when it is done:
 * writes in order, and reads in order.
 */
export function answerRequests(openers: { readonly [name: string]: Opener }): void {
  // [S-18] The worker thread has globals of its own, and parses data that came from clients and agents. So `__proto__` is
  // removed here too. The cast lets `delete` have it.
  delete (Object.prototype as { __proto__?: unknown }).__proto__

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
      answer = { id, error: describe(error, target) }
    }
    port.postMessage(answer)
    if (name === 'close' || (name.startsWith('open') && answer.error)) port.close()
  }

  async function valueFor({ name, args }: Request): Promise<unknown> {
    const opener = openers[name]
    // The casts are right, because the main thread asks only for what it has opened, with the options of the opener.
    if (!opener) return handlers[name]?.(...(args as never[]))
    const [options] = args as [{ readonly target: PostgresPlace }]
    target = options.target
    const { api, value } = await opener(options as never)
    handlers = { ...api }
    return value
  }
}

function describe(error: unknown, target: PostgresPlace | undefined): ThreadError<Meaning> {
  const failure = target ? toFailure(error, target) : error
  const message = failure instanceof Error ? failure.message : String(failure)
  return failure instanceof Failure ? { meaning: failure.meaning, message } : { message }
}
