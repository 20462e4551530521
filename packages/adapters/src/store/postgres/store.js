import { blobs } from './blobs.js'
import { shrinker } from './drop.js'
import { Failure } from './failure.js'
import { fence } from './fence.js'
import { forgetter } from './forget.js'
import { Link } from './link.js'
import { hostOf, migrate, versionOf } from './migrate.js'
import { dispatchedBy, reader } from './read.js'
import { records } from './records.js'
import { replicasOf } from './replicas.js'
import { sealer } from './seal.js'
import { Tails } from './tails.js'
import { writer } from './write.js'

/** @typedef {import('./session.js').Target} Target */
/** @typedef {{ target: Target, epoch?: number | undefined, host?: string | undefined, patience: number, answer: number, idle: number, laterMigrations?: readonly string[] | undefined }} StoreOptions without an epoch, the store is open for reading only */

/**
 * The settings of the connection that writes. Its few statements are planned once: planning the statement of a flush takes longer than
 * running it. Such a plan must not read whole tables, because it stays when they grow.
 */
const PLANNED_ONCE = 'SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off'

/**
 * Opens the store of an owner, or a store for reading. One connection writes and another one reads, so that an echo does not
 * wait for a long read.
 * @param {StoreOptions} options
 */
export async function openStore({ target, epoch, host, patience, answer, idle, laterMigrations }) {
  const options = { target, patience, answer, idle }
  const link = new Link({ ...options, settings: PLANNED_ONCE })
  const reading = new Link(options)
  try {
    const opened = await link.run(async (query) => {
      if (epoch === undefined && (await versionOf(query, target)) === 0)
        throw new Failure('unreadable', `the store at ${target.name} is empty`)
      const addedIndexes = await migrate(query, { target, epoch, laterMigrations })
      if (epoch !== undefined) await fence(query, epoch)
      await refuseUnfinished(query, target)
      return { addedIndexes, host: await expected(query, host, target), ...(await boundsOf(query, target)) }
    })
    // A connection that was there once is made again when it is lost.
    await reading.run((query) => query('SELECT 1'))
    const { batch, ...value } = opened
    const owner = { link, reading, epoch: epoch ?? -1 }
    const tails = new Tails()
    const api = {
      ...reader(reading),
      ...records(reading),
      ...blobs(owner),
      ...sealer(owner),
      ...forgetter(owner, (query, client, most) => dispatchedBy(query, client, { after: 0, most })),
      ...shrinker(owner),
      replicas: () => reading.run(replicasOf),
      flush: writer({ ...owner, tails, batch }),
      async close() {
        await Promise.all([link.close(), reading.close()])
      },
    }
    return { api, value }
  } catch (error) {
    await Promise.all([link.close(), reading.close()])
    throw error
  }
}

/**
 * Throws if a move into the store has not ended (`move/move.ts`).
 * @param {import('./link.js').Query} query
 * @param {Target} target
 */
async function refuseUnfinished(query, { name }) {
  const { rowCount } = await query(`SELECT 1 FROM meta WHERE key = 'move'`)
  if (rowCount)
    throw new Failure(
      'unreadable',
      `the move into the store at ${name} has not ended: run the same atrium move again`,
    )
}

/**
 * Returns the id of the host in the database. Throws if another one is expected.
 * @param {import('./link.js').Query} query
 * @param {string | undefined} host
 * @param {Target} target
 */
async function expected(query, host, { name }) {
  const found = await hostOf(query)
  if (host !== undefined && host !== found)
    throw new Failure(
      'unreadable',
      `the store at ${name} belongs to the host ${found}, and this one is the host ${host}`,
    )
  return found
}

/**
 * Returns the number of the last batch, and the highest sequence number that may have been assigned, which is at least that of
 * every envelope.
 * @param {import('./link.js').Query} query
 * @param {Target} target
 */
async function boundsOf(query, { name }) {
  const { rows } = await query(
    `SELECT batch, greatest(up_to, (SELECT max(seq) FROM envelopes), (SELECT max(last) FROM segments)) AS up_to FROM bounds`,
  )
  // Without the highest used number, no new sequence number is safe to assign.
  if (rows.length !== 1) throw new Failure('unreadable', `the store at ${name} has lost its highest number`)
  return { batch: rows[0].batch, upTo: rows[0].up_to }
}
