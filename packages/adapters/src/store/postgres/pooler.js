/**
 * Recognises a connection pooler that gives each transaction to another process of the server, such as PgBouncer with
 * `pool_mode = transaction`. Settings, prepared statements and a lost connection would belong to others there.
 */
import pg from 'pg'
import { Failure } from './failure.js'

/** @typedef {import('./session.js').Session} Session */
/** @typedef {import('./session.js').Target} Target */

/** The time that a second connection may take, in milliseconds. It waits where a pooler keeps sessions and has no more of them. */
const SECOND = 2000
/** How often the first connection asks again for its process. A pooler in use may give it the same one by chance. */
const LOOKS = 3
const PID = 'SELECT pg_backend_pid() AS pid'

/**
 * Throws if there is a pooler that does not keep sessions. Sets nothing. A direct connection is known without a query: the server has told
 * its process at the start, where a pooler tells a number of its own.
 * @param {Pick<Session, 'client' | 'pid'>} session
 * @param {Target} target
 */
export async function refuseSharing({ client, pid }, target) {
  // The types of the library do not name this member.
  if (/** @type {{ processID?: number }} */ (client).processID === pid) return
  const second = new pg.Client({ ...target.config, application_name: 'atrium/pooler-check' })
  second.on('error', () => {})
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  const late = new Promise((resolve) => (timer = setTimeout(resolve, SECOND)))
  const held = heldBy(second)
  try {
    // A process that is in a transaction of the second connection is not one of the first, if it has one of its own.
    const shared = await Promise.race([held, late])
    if (shared === pid || (await movedFrom(client, pid))) throw sharing(target)
    await Promise.race([ended(), late])
    // The process that was given back last is often the next one that a pooler gives away.
    if (await movedFrom(client, pid)) throw sharing(target)
  } finally {
    await Promise.race([ended(), late])
    clearTimeout(timer)
    // The types of the library do not name this member, which has the socket.
    second.connection?.stream?.destroy()
  }

  async function ended() {
    await held.catch(() => {})
    // A pooler keeps no connection to its server that was left inside a transaction.
    await second.query('ROLLBACK').catch(() => {})
    await second.end().catch(() => {})
  }

  /** @param {pg.Client} other */
  async function heldBy(other) {
    try {
      await other.connect()
      await other.query('BEGIN')
      return (await other.query(PID)).rows[0]?.pid
    } catch (error) {
      if (/statement pooling/.test(String(error))) throw sharing(target)
      // There is no place for a second connection, so this look tells nothing.
      return undefined
    }
  }
}

/**
 * Whether a connection has another process of the server than before.
 * @param {import('pg').Client} client
 * @param {number} pid
 */
async function movedFrom(client, pid) {
  for (let look = 0; look < LOOKS; look++) if ((await client.query(PID)).rows[0]?.pid !== pid) return true
  return false
}

/** @param {Target} target */
const sharing = ({ name }) =>
  new Failure(
    'unreadable',
    `at ${name} is a connection pooler that does not keep sessions, such as PgBouncer with pool_mode = transaction. ` +
      'Set pool_mode = session for this database and user there, or name the port of PostgreSQL itself in --store.',
  )
