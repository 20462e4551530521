/**
 * The worker thread of the SQLite store. Only this thread accesses the disk. Requests (`WorkerApi`) are answered in order of
 * arrival, except for `seal`, which others may overtake.
 */
import { parentPort } from 'node:worker_threads'
import type { Handlers, ThreadAnswer, ThreadError, ThreadRequest } from '../../process/thread-request.ts'
import type { WorkerApi } from '../worker-api.ts'
import { blobs } from '../sql/blobs.ts'
import { forgetter } from '../sql/forget.ts'
import { reader } from '../sql/read.ts'
import { sealer } from '../sql/seal.ts'
import { boundWriter, readBound } from './bound-file.ts'
import type { BoundWriter } from './bound-file.ts'
import { FULL, Failure, codeOf, isDamage, isOfDisk } from './failure.ts'
import type { Meaning } from './failure.ts'
import { highest } from './highest.ts'
import { closeDatabase, openDatabase } from './open.ts'
import type { OpenOptions } from './open.ts'
import { records } from './records.ts'
import { shrinker } from './shrink.ts'
import { sqliteStore } from './store.ts'
import { writer } from './write.ts'

// [S-18] The worker thread has globals of its own, and parses data that came from clients and agents. So `__proto__` is
// removed here too. The cast lets `delete` have it.
delete (Object.prototype as { __proto__?: unknown }).__proto__

if (!parentPort) throw new Error('this file is the entry of a worker')
const port = parentPort

let folder = ''
/** Runs after the next answer, so that the answer does not wait for it. */
let afterAnswer = (): void => {}
/** A store that is not open answers one request. */
let handlers: Partial<Handlers<WorkerApi>> = { open }

port.on('message', <K extends keyof WorkerApi>({ id, name, args }: ThreadRequest<WorkerApi, K>) => {
  let answer: ThreadAnswer<Meaning>
  try {
    const handler: Partial<Handlers<WorkerApi>>[K] = handlers[name]
    const value = handler?.(...args)
    if (value instanceof Promise) return void answerLater(id, value)
    answer = { id, value }
  } catch (error) {
    answer = { id, error: describe(error) }
  }
  send(answer)
  afterAnswer()
  afterAnswer = () => {}
  if (name === 'close' || (name === 'open' && answer.error)) port.close()
})

/** Answers a request that takes several turns of the event loop. Later requests may be answered before it. */
async function answerLater(id: number, value: Promise<unknown>): Promise<void> {
  let answer: ThreadAnswer<Meaning>
  try {
    answer = { id, value: await value }
  } catch (error) {
    answer = { id, error: describe(error) }
  }
  send(answer)
}

function send(answer: ThreadAnswer<Meaning>): void {
  port.postMessage(answer)
}

function open(options: OpenOptions): ReturnType<WorkerApi['open']> {
  folder = options.folder
  const { db, notice } = openDatabase(options)
  const bound = Math.max(readBound(folder), options.bound ?? 0)
  try {
    const store = sqliteStore(db)
    const write = writer(db, store)
    const boundFile = options.readOnly ? noBound : boundWriter(folder)
    if (options.bound !== undefined) boundFile.write(options.bound)
    handlers = {
      ...reader(store),
      ...records(db),
      ...sealer(store),
      ...forgetter(store),
      ...shrinker(db, store),
      ...blobs(store),
      flush(batch, maxPages) {
        if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${maxPages}`)
        write(batch)
        afterAnswer = () => boundFile.write(batch.steps.reduce((most, { upTo }) => Math.max(most, upTo), 0))
      },
      close() {
        boundFile.close()
        closeDatabase(db, options)
      },
    }
    const upTo = highest(db)
    return { upTo, ...(bound > upTo && { lost: bound }), ...(notice !== undefined && { notice }) }
  } catch (error) {
    closeDatabase(db, options)
    throw new Failure(
      'unreadable',
      `the store in ${options.folder} is incomplete: ${describe(error).message}`,
    )
  }
}

/** The bound file of a store that is opened for reading only. It is not written. */
const noBound: BoundWriter = { write: () => {}, close: () => {} }

function describe(error: unknown): ThreadError<Meaning> {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Failure) return { meaning: error.meaning, message }
  if (isDamage(error))
    return { meaning: 'unreadable', message: `the store in ${folder} is damaged: ${message}` }
  if (codeOf(error) === FULL) return { meaning: 'full', message }
  // A page that a torn file lacks is reported as an error of the disk. The user needs the folder to find the file.
  return { message: isOfDisk(error) ? `the store in ${folder} cannot be used: ${message}` : message }
}
