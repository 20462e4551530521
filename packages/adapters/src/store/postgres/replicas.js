/** @typedef {{ name: string, state: string, sync: string, lagMs: number | null, lagBytes: number | null }} Replica a server that copies the database */

/**
 * Returns the servers that copy the database, as far as the user may see them. `seen`: whether the user may see all of them.
 * @param {import('./link.js').Query} query
 * @returns {Promise<{ seen: boolean, replicas: Replica[] }>}
 */
export async function replicasOf(query) {
  const { rows } = await query(
    `SELECT application_name AS name, state, sync_state AS sync,
       (extract(epoch FROM replay_lag) * 1000)::float8 AS "lagMs",
       CASE WHEN pg_is_in_recovery() OR replay_lsn IS NULL THEN NULL
         ELSE greatest(0, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn))::float8 END AS "lagBytes"
     FROM pg_stat_replication WHERE state IS NOT NULL ORDER BY 1`,
  )
  const right = await query(`SELECT pg_has_role('pg_read_all_stats', 'USAGE') AS seen`)
  const replicas = rows.map(({ name, state, sync, lagMs, lagBytes }) => {
    return { name, state, sync, lagMs, lagBytes }
  })
  return { seen: right.rows[0].seen, replicas }
}
