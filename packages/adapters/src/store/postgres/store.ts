import type { Handlers } from '../../process/thread-request.ts'
import { blobs } from '../sql/blobs.ts'
import { dropper } from '../sql/drop.ts'
import { forgetter } from '../sql/forget.ts'
import { reader } from '../sql/read.ts'
import { sealer } from '../sql/seal.ts'
import { postgresStore } from './dialect.ts'
import { Failure } from './failure.ts'
import { fence } from './fence.ts'
import { replicasOf } from './lease-row.ts'
import { Link } from './link.ts'
import type { Query } from './link.ts'
import { hostOf, migrate, versionOf } from './migrate.ts'
import type { PostgresPlace } from './place.ts'
import { records } from './records.ts'
import type { PostgresApi, StoreOptions } from './worker-api.ts'
import { writer } from './write.ts'

interface OpenStore {
  readonly api: Omit<Handlers<PostgresApi>, 'open'>
  readonly value: ReturnType<PostgresApi['open']>
}

/**
 * The settings of the connection that writes. Its few statements are planned once: planning the statement of a flush takes longer than
 * running it. Such a plan must not read whole tables, because it stays when they grow.
 */
const PLANNED_ONCE = 'SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off'

/**
 * Opens the store of an owner, or a store for reading. One connection writes and another one reads, so that an echo does not
 * wait for a long read.
 */
export async function openStore(given: StoreOptions): Promise<OpenStore> {
  const { target, epoch, host, patience, answer, idle, laterMigrations } = given
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
    const store = postgresStore(owner)
    const { deleteRest } = dropper(store.dialect)
    const api: OpenStore['api'] = {
      ...reader(store),
      ...records(reading),
      ...blobs(store),
      ...sealer(store),
      ...forgetter(store),
      // PostgreSQL itself gives free space back (VACUUM).
      shrink: () => store.write(deleteRest),
      replicas: () => reading.run(replicasOf),
      flush: writer({ ...owner, batch }),
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

/** Throws if a move into the store has not ended (`move/move.ts`). */
async function refuseUnfinished(query: Query, { name }: PostgresPlace): Promise<void> {
  const { rowCount } = await query(`SELECT 1 FROM meta WHERE key = 'move'`)
  if (rowCount)
    throw new Failure(
      'unreadable',
      `the move into the store at ${name} has not ended: run the same atrium move again`,
    )
}

/** Returns the id of the host in the database. Throws if another one is expected. */
async function expected(query: Query, host: string | undefined, { name }: PostgresPlace): Promise<string> {
  const found = await hostOf(query)
  if (host !== undefined && host !== found)
    throw new Failure(
      'unreadable',
      `the store at ${name} belongs to the host ${found}, and this one is the host ${host}`,
    )
  return found
}

interface Bounds {
  readonly batch: number
  readonly upTo: number
}

/**
 * Returns the number of the last batch, and the highest sequence number that may have been assigned, which is at least that of
 * every envelope.
 */
async function boundsOf(query: Query, { name }: PostgresPlace): Promise<Bounds> {
  const { rows } = await query<{ readonly batch: number; readonly up_to: number }>(
    `SELECT batch, greatest(up_to, (SELECT max(seq) FROM envelopes), (SELECT max(last) FROM segments)) AS up_to FROM bounds`,
  )
  // Without the highest used number, no new sequence number is safe to assign.
  const [row] = rows
  if (!row || rows.length > 1)
    throw new Failure('unreadable', `the store at ${name} has lost its highest number`)
  return { batch: row.batch, upTo: row.up_to }
}
