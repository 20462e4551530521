import pg from 'pg'
import { Failure } from './failure.js'

/** @typedef {import('./failure.js').Place & { config: import('pg').ClientConfig, node?: string | undefined }} Target a database and how to connect to it; `node`: who connects, for the people of the database */
/** @typedef {{ client: import('pg').Client, pid: number, began: number, lost: boolean, silent?: number }} Session a connection that was checked, with the process of the server and when that began; `silent`: the milliseconds after which it was given up */

/** The type of numbers with 64 bits. Every number of the store fits into a JavaScript number. */
const INT8 = 20
/** The pause after which the system checks a silent connection, in milliseconds. */
const ALIVE = 10_000

/**
 * Connects to the database, and checks that the server keeps what it confirms.
 * @param {Target} target
 * @param {{ idle: number, answer: number, settings?: string | undefined }} how times in milliseconds: `idle` until the server ends a session that stands still inside a transaction, `answer` until a server that does not answer counts as away; `settings`: further statements of SQL
 * @returns {Promise<Session>}
 */
export async function connect(target, { idle, answer, settings = '' }) {
  const client = new pg.Client({
    ...target.config,
    application_name: applicationName(target),
    keepAlive: true,
    keepAliveInitialDelayMillis: ALIVE,
    types: {
      getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  })
  /** @type {Session} */
  const session = { client, pid: 0, began: 0, lost: false }
  // Without a listener, an error between two queries would end the thread.
  client.on('error', () => (session.lost = true))
  client.on('end', () => (session.lost = true))
  // A server that accepts a connection and then falls silent would hold up every later request.
  const timer = setTimeout(() => giveUp(session, answer), answer)
  try {
    await client.connect()
    Object.assign(session, await checked(client, target))
    // Before the settings below, which would stay at a connection of others.
    await refuseSharing(session, target)
    await client.query(
      `SET search_path TO ${quoted(target.schema)}; SET idle_in_transaction_session_timeout = ${Math.round(idle)};
       SET statement_timeout = 0; SET default_transaction_isolation = 'read committed';
       SET client_min_messages = warning; SET jit = off; ${settings}`,
    )
    return session
  } catch (error) {
    destroy(session)
    throw session.silent === undefined ? error : silence(session)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Closes the connection to a server that has not answered in time.
 * @param {Session} session
 * @param {number} after milliseconds
 */
export function giveUp(session, after) {
  session.silent = after
  destroy(session)
}

/**
 * The error of a connection that was given up. What ran on it has an unknown outcome.
 * @param {Session} session
 */
export const silence = ({ silent = 0 }) =>
  Object.assign(new Error(`it did not answer within ${silent / 1000} seconds`), { code: 'ETIMEDOUT' })

/**
 * Closes a connection at once, without a word to the server.
 * @param {Pick<Session, 'client' | 'lost'>} session
 */
export function destroy(session) {
  session.lost = true
  // The types of the library do not name this member, which has the socket.
  session.client.connection?.stream?.destroy()
}

/** The longest name of an application at a server, in bytes. It keeps ASCII only. */
const NAME_BYTES = 63
/** The part of the name that a long name of a node leaves to the schema. */
const SCHEMA_BYTES = 24

/**
 * The name by which the people of the database know a connection: the same for all connections of a node to one schema.
 * @param {Target} target
 */
export function applicationName({ schema, node = '' }) {
  const who = node.replaceAll(/[^ -~]/g, '?')
  const room = NAME_BYTES - 'atrium'.length - 1
  const most = who === '' ? room : Math.max(SCHEMA_BYTES, room - 1 - who.length)
  return ['atrium', schema.slice(0, most), ...(who === '' ? [] : [who])].join('/').slice(0, NAME_BYTES)
}

/** @param {string} name */
export const quoted = (name) => `"${name.replaceAll('"', '""')}"`

/**
 * Throws if a setting of the server could lose confirmed data, or change texts. Returns the pid of the server's process, and when it
 * began, in microseconds.
 * @param {import('pg').Client} client
 * @param {Target} target
 * @returns {Promise<{ pid: number, began: number }>}
 */
async function checked(client, { name }) {
  const { rows } = await client.query(
    `SELECT current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes, current_setting('server_encoding') AS server_encoding,
       current_setting('server_version_num')::int AS version, pid,
       (extract(epoch FROM backend_start) * 1000000)::int8 AS began
     FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
  )
  const [settings] = rows
  for (const [setting, allowed] of Object.entries(REQUIRED))
    if (!allowed.includes(settings[setting]))
      throw new Failure(
        'unreadable',
        `PostgreSQL at ${name} has ${setting} = ${settings[setting]}; Atrium needs ${allowed[0]}, ${REASONS[setting]}`,
      )
  if (settings.version < OLDEST)
    throw new Failure(
      'unreadable',
      `PostgreSQL at ${name} has version ${Math.floor(settings.version / 10_000)}; Atrium needs version 13 or newer`,
    )
  return { pid: settings.pid, began: settings.began }
}

/** @type {{ readonly [setting: string]: readonly string[] }} */
const REQUIRED = {
  fsync: ['on'],
  full_page_writes: ['on'],
  synchronous_commit: ['on', 'remote_apply'],
  server_encoding: ['UTF8'],
}

/** @type {{ readonly [setting: string]: string }} */
const REASONS = {
  fsync: 'or a power failure could lose confirmed changes',
  full_page_writes: 'or a power failure could damage the tables',
  synchronous_commit: 'or a crash could lose confirmed changes',
  server_encoding: 'to keep every text as it is',
}

/** The oldest version of PostgreSQL that the statements of the store run on. */
const OLDEST = 130_000

/** The time that a second connection may take, in milliseconds. It waits where a pooler keeps sessions and has no more of them. */
const SECOND = 2000
/** How often the first connection asks again for its process. A pooler in use may give it the same one by chance. */
const LOOKS = 3
const PID = 'SELECT pg_backend_pid() AS pid'

/**
 * Throws if there is a pooler that gives each transaction to another process of the server, such as PgBouncer with
 * `pool_mode = transaction`: settings and prepared statements would belong to others there. Sets nothing. A direct connection is known
 * without a query: the server has told its process at the start, where a pooler tells a number of its own.
 * @param {Pick<Session, 'client' | 'pid'>} session
 * @param {Target} target
 */
async function refuseSharing({ client, pid }, target) {
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
    destroy({ client: second, lost: false })
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
