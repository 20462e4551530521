import { Failure, codeOf } from './failure.js'
import { Link, transaction } from './link.js'
import { hostOf, migrate, versionOf } from './migrate.js'
import { replicasOf } from './replicas.js'

/** @typedef {import('./session.js').Target} Target */
/** @typedef {{ target: Target, node: string, url?: string | undefined, ms: number, existing?: boolean | undefined }} LeaseOptions `existing`: a new store is refused instead of created */

/** The longest time to wait for writes of the earlier owner, in milliseconds. The next attempt waits again. */
const LOCK = 1000
/** The times until a silent server counts as lost, in milliseconds: at the start, and at least for a request. */
const ANSWER = { start: 20_000, least: 1000 }

/**
 * Opens the lease of a store, and creates the tables of a new store. All times are by the clock of the database. A lost
 * connection is an error at once, because its outcome is unknown; the next request connects again.
 * @param {LeaseOptions} options
 */
export async function openLease({ target, node, url, ms, existing }) {
  // Requests are sent one after the other. If one could wait for longer, the lease would end behind a single lost answer.
  const answer = Math.max(ANSWER.least, ms / 4)
  const link = new Link({ target, patience: 0, answer, idle: answer })
  // The tables of a new store may take longer.
  const first = new Link({ target, patience: 0, answer: ANSWER.start, idle: ANSWER.start })
  const host = await hostAt(first, { target, existing })
  await link.run((query) => query('SELECT 1'))

  const api = {
    /** @returns {Promise<number | undefined>} */
    acquire: () =>
      link.run((query) =>
        transaction(query, async () => {
          await query(`SET LOCAL lock_timeout = ${Math.round(Math.min(LOCK, answer / 2))}`)
          const { rows } = await query(
            `WITH taken AS (
               UPDATE lease SET epoch = epoch + 1, node = $1, url = $2,
                 expires = clock_timestamp() + $3 * interval '1 millisecond'
               WHERE expires IS NULL OR expires <= clock_timestamp() RETURNING epoch
             )
             UPDATE epoch SET epoch = taken.epoch FROM taken RETURNING epoch.epoch AS epoch`,
            [node, url ?? null, ms],
          )
          return rows[0]?.epoch
        }).catch((error) => {
          // The earlier owner is still writing (55P03).
          if (codeOf(error) === '55P03') return undefined
          throw error
        }),
      ),

    /** @param {number} epoch */
    renew: (epoch) =>
      link.run(async (query) => {
        const { rowCount } = await query(
          `UPDATE lease SET expires = clock_timestamp() + $2 * interval '1 millisecond' WHERE epoch = $1`,
          [epoch, ms],
        )
        return rowCount === 1
      }),

    /** @param {number} epoch */
    release: (epoch) =>
      link.run(async (query) => {
        await query('UPDATE lease SET expires = clock_timestamp() WHERE epoch = $1', [epoch])
      }),

    /** @returns {Promise<{ epoch: number, node: string, url?: string, msLeft: number } | undefined>} */
    read: () =>
      link.run(async (query) => {
        const { rows } = await query(
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

/**
 * Returns the id of the host that a store belongs to. Creates the tables of a new store.
 * @param {Link} link it is closed
 * @param {{ target: Target, existing: boolean | undefined }} options
 */
async function hostAt(link, { target, existing }) {
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
