/**
 * The half of the SQLite store that touches the disk. Plain JavaScript, because a worker of TypeScript does not start
 * under vitest on Node 20. Questions are answered one after another, in the order they came.
 */
import { parentPort } from 'node:worker_threads'
import { blobs } from './blobs.js'
import { FULL, Failure, closeDatabase, codeOf, isDamage, openDatabase } from './open.js'
import { reader } from './read.js'
import { writer } from './write.js'

// [S-18] The worker has globals of its own, and what it reads came from outside.
delete (/** @type {{ __proto__?: unknown }} */ (Object.prototype).__proto__)

/** @typedef {{ id: number, name: string, args: unknown[] }} Question */
/** @typedef {{ id: number, value?: unknown, error?: { meaning?: string, message: string } }} Answer */
/** @typedef {(...args: any[]) => unknown} Answering */

if (!parentPort) throw new Error('this file is the entry of a worker')
const port = parentPort

let folder = ''
/** @type {Map<string, Answering>} */
let answers = new Map([['open', open]])

port.on('message', (/** @type {Question} */ { id, name, args }) => {
  /** @type {Answer} */
  let answer
  try {
    answer = { id, value: answers.get(name)?.(...args) }
  } catch (error) {
    answer = { id, error: describe(error) }
  }
  port.postMessage(answer)
  if (name === 'close' || (name === 'open' && answer.error)) port.close()
})

/** @param {import('./open.js').Opening} opening */
function open(opening) {
  folder = opening.folder
  const db = openDatabase(opening)
  try {
    const read = reader(db)
    const write = writer(db)
    /** @type {Record<string, Answering>} */
    const table = {
      ...read,
      ...blobs(db),
      /**
       * @param {import('./write.js').Batch} batch
       * @param {number | undefined} maxPages
       */
      flush(batch, maxPages) {
        if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${maxPages}`)
        write(batch)
      },
      close: () => closeDatabase(db, opening),
    }
    answers = new Map(Object.entries(table))
    return read.upTo()
  } catch (error) {
    closeDatabase(db, opening)
    throw new Failure(
      'unreadable',
      `the store in ${opening.folder} lacks something: ${describe(error).message}`,
    )
  }
}

/** @param {unknown} error */
function describe(error) {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof Failure) return { meaning: error.meaning, message }
  if (isDamage(error))
    return { meaning: 'unreadable', message: `the store in ${folder} is damaged: ${message}` }
  return codeOf(error) === FULL ? { meaning: 'full', message } : { message }
}
