/**
 * The worker thread of the SQLite store. Only this thread accesses the disk. The file is plain JavaScript, because a
 * TypeScript worker does not start under vitest on Node 20. Requests (`WorkerApi`) are answered in order of arrival,
 * except for `seal`, which others may overtake.
 */
import { parentPort } from 'node:worker_threads'
import { blobs } from './blobs.js'
import { boundWriter, readBound } from './bound-file.js'
import { forgetter } from './forget.js'
import { FULL, Failure, closeDatabase, codeOf, isDamage, isOfDisk, openDatabase } from './open.js'
import { reader } from './read.js'
import { sealer } from './seal.js'
import { shrinker } from './shrink.js'
import { writer } from './write.js'

// [S-18] The worker thread has globals of its own, and parses data that came from clients and agents. So `__proto__` is
// removed here too.
delete (/** @type {{ __proto__?: unknown }} */ (Object.prototype).__proto__)

/** @typedef {{ id: number, name: string, args: unknown[] }} Request */
/** @typedef {{ id: number, value?: unknown, error?: { meaning?: string, message: string } }} Response */
/** @typedef {(...args: any[]) => unknown} Handler */

if (!parentPort) throw new Error('this file is the entry of a worker')
const port = parentPort

let folder = ''
/** Runs after the next answer, so that the answer does not wait for it. */
let afterAnswer = () => {}
/** @type {Map<string, Handler>} */
let handlers = new Map([['open', open]])

port.on('message', (/** @type {Request} */ { id, name, args }) => {
  /** @type {Response} */
  let answer
  try {
    const value = handlers.get(name)?.(...args)
    if (value instanceof Promise) return void answerLater(id, value)
    answer = { id, value }
  } catch (error) {
    answer = { id, error: describe(error) }
  }
  port.postMessage(answer)
  afterAnswer()
  afterAnswer = () => {}
  if (name === 'close' || (name === 'open' && answer.error)) port.close()
})

/**
 * Answers a request that takes several turns of the event loop. Later requests may be answered before it.
 * @param {number} id
 * @param {Promise<unknown>} value
 */
async function answerLater(id, value) {
  try {
    port.postMessage({ id, value: await value })
  } catch (error) {
    port.postMessage({ id, error: describe(error) })
  }
}

/** @param {import('./open.js').OpenOptions} options */
function open(options) {
  folder = options.folder
  const { db, notice } = openDatabase(options)
  const bound = Math.max(readBound(folder), options.bound ?? 0)
  try {
    const { rowsOf, ...read } = reader(db)
    const write = writer(db)
    const { write: writeBound, close: closeBound } = options.readOnly ? noBound : boundWriter(folder)
    if (options.bound !== undefined) writeBound(options.bound)
    /** @type {Record<string, Handler>} */
    const api = {
      ...read,
      ...sealer(db, rowsOf),
      ...forgetter(db, read.dispatchedBy),
      ...shrinker(db),
      ...blobs(db),
      /**
       * @param {import('./write.js').Batch} batch
       * @param {number | undefined} maxPages
       */
      flush(batch, maxPages) {
        if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${maxPages}`)
        write(batch)
        afterAnswer = () => writeBound(batch.steps.reduce((highest, { upTo }) => Math.max(highest, upTo), 0))
      },
      close() {
        closeBound()
        closeDatabase(db, options)
      },
    }
    handlers = new Map(Object.entries(api))
    const upTo = read.upTo()
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
const noBound = { write: () => {}, close: () => {} }

/** @param {unknown} error */
function describe(error) {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Failure) return { meaning: error.meaning, message }
  if (isDamage(error))
    return { meaning: 'unreadable', message: `the store in ${folder} is damaged: ${message}` }
  if (codeOf(error) === FULL) return { meaning: 'full', message }
  // A page that a torn file lacks is reported as an error of the disk. The user needs the folder to find the file.
  return { message: isOfDisk(error) ? `the store in ${folder} cannot be used: ${message}` : message }
}
