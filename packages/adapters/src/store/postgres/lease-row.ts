import type { Handlers } from '../../process/thread-request.ts'
import { only } from '../sql/work.ts'
import { Failure, codeOf } from './failure.ts'
import { Link, transaction } from './link.ts'
import type { Query } from './link.ts'
import { hostOf, migrate, versionOf } from './migrate.ts'
import type { LeaseApi, LeaseOptions, Replica, Replicas } from './worker-api.ts'

/** The longest time to wait for writes of the earlier owner, in milliseconds. The next attempt waits again. */
const LOCK = 1000
/** The times until a silent server counts as lost, in milliseconds: at the start, and at least for a request. */
const ANSWER = { start: 20_000, least: 1000 }

export interface OpenLease {
  readonly api: Omit<Handlers<LeaseApi>, 'openLease'>
  readonly value: { readonly host: string }
}

/** The row of the lease, if there was an owner once. */
interface LeaseRow {
  readonly epoch: number
  readonly node: string
  readonly url: string | null
  readonly left: number | null
}

/**
 * Opens the lease of a store, and creates the tables of a new store. All times are by the clock of the database. A lost
 * connection is an error at once, because its outcome is unknown; the next request connects again.
 */
export async function openLease(options: LeaseOptions): Promise<OpenLease> {
  const { target, node, url, ms } = options
  // Requests are sent one after the other. If one could wait for longer, the lease would end behind a single lost answer.
  const answer = Math.max(ANSWER.least, ms / 4)
  const link = new Link({ target, patience: 0, answer, idle: answer })
  // The tables of a new store may take longer.
  const first = new Link({ target, patience: 0, answer: ANSWER.start, idle: ANSWER.start })
  const host = await hostAt(first, options)
  // The place is right, or the line before would have failed. A connection that is slow or cut is made again by the first request.
  await link.run((query) => query('SELECT 1')).catch(unlessAway)

  const api: OpenLease['api'] = {
    acquire: () =>
      link.run((query) =>
        transaction(query, async () => {
          await query(`SET LOCAL lock_timeout = ${Math.round(Math.min(LOCK, answer / 2))}`)
          const { rows } = await query<Pick<LeaseRow, 'epoch'>>(
            `WITH taken AS (
               UPDATE lease SET epoch = epoch + 1, node = $1, url = $2,
                 expires = clock_timestamp() + $3 * interval '1 millisecond'
               WHERE expires IS NULL OR expires <= clock_timestamp() RETURNING epoch
             )
             UPDATE epoch SET epoch = taken.epoch FROM taken RETURNING epoch.epoch AS epoch`,
            [node, url ?? null, ms],
          )
          return rows[0]?.epoch
        }).catch((error: unknown) => {
          // The earlier owner is still writing (55P03).
          if (codeOf(error) === '55P03') return undefined
          throw error
        }),
      ),

    renew: (epoch) =>
      link.run(async (query) => {
        const { rowCount } = await query(
          `UPDATE lease SET expires = clock_timestamp() + $2 * interval '1 millisecond' WHERE epoch = $1`,
          [epoch, ms],
        )
        return rowCount === 1
      }),

    release: (epoch) =>
      link.run(async (query) => {
        await query('UPDATE lease SET expires = clock_timestamp() WHERE epoch = $1', [epoch])
      }),

    read: () =>
      link.run(async (query) => {
        const { rows } = await query<LeaseRow>(
          `SELECT epoch, node, url, greatest(0, extract(epoch FROM expires - clock_timestamp()) * 1000)::float8 AS left
           FROM lease WHERE node IS NOT NULL`,
        )
        const found = rows[0]
        if (!found) return undefined
        const { epoch, node: holder, url: at, left } = found
        return { epoch, node: holder, ...(at !== null && { url: at }), msLeft: left ?? 0 }
      }),

    replicas: async () => (await link.run(replicasOf)).replicas,

    close: () => link.close(),
  }
  return { api, value: { host } }
}

/** Returns the id of the host that a store belongs to. Creates the tables of a new store. Closes the link. */
async function hostAt(link: Link, { target, existing }: LeaseOptions): Promise<string> {
  try {
    return await link.run(async (query) => {
      if (existing && (await versionOf(query, target)) === 0)
        throw new Failure('unreadable', `the store at ${target.name} is empty`)
      await migrate(query, { target })
      return hostOf(query)
    })
  } finally {
    await link.close()
  }
}

/** Returns the servers that copy the database, as far as the user may see them. */
export async function replicasOf(query: Query): Promise<Replicas> {
  const { rows: replicas } = await query<Replica>(
    `SELECT application_name AS name, state, sync_state AS sync,
       (extract(epoch FROM replay_lag) * 1000)::float8 AS "lagMs",
       CASE WHEN pg_is_in_recovery() OR replay_lsn IS NULL THEN NULL
         ELSE greatest(0, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::float8 END AS "lagBytes"
     FROM pg_stat_replication WHERE state IS NOT NULL ORDER BY 1`,
  )
  const { rows } = await query<{ readonly seen: boolean }>(
    `SELECT pg_has_role('pg_read_all_stats', 'USAGE') AS seen`,
  )
  return { seen: only(rows).seen, replicas }
}

function unlessAway(error: unknown): void {
  if (!(error instanceof Failure) || error.meaning !== 'away') throw error
}
