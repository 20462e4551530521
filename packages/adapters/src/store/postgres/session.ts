import pg from 'pg'
import { Failure } from './failure.ts'
import type { PostgresPlace } from './place.ts'

/** A connection that was checked. */
export interface Session extends Backend {
  readonly client: pg.Client
  lost: boolean
  /** The milliseconds after which it was given up. */
  silent?: number
}

/** The process of the server, and when it began, in microseconds. */
interface Backend {
  pid: number
  began: number
}

interface ConnectOptions {
  /** The milliseconds until the server ends a session that stands still inside a transaction. */
  readonly idle: number
  /** The milliseconds until a server that does not answer counts as away. */
  readonly answer: number
  /** Further statements of SQL. */
  readonly settings?: string | undefined
}

/** The type of numbers with 64 bits. Every number of the store fits into a JavaScript number. */
const INT8 = 20
/** The pause after which the system checks a silent connection, in milliseconds. */
const ALIVE = 10_000

/** Connects to the database, and checks that the server keeps what it confirms. */
export async function connect(
  target: PostgresPlace,
  { idle, answer, settings = '' }: ConnectOptions,
): Promise<Session> {
  const client = new pg.Client({
    ...target.config,
    application_name: applicationName(target),
    keepAlive: true,
    keepAliveInitialDelayMillis: ALIVE,
    types: {
      getTypeParser: (oid, format) => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)),
    },
  })
  const session: Session = { client, pid: 0, began: 0, lost: false }
  // Without a listener, an error between two queries would end the thread.
  const lose = () => {
    session.lost = true
  }
  client.on('error', lose)
  client.on('end', lose)
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

/** Closes the connection to a server that has not answered for these milliseconds. */
export function giveUp(session: Session, after: number): void {
  session.silent = after
  destroy(session)
}

/** The error of a connection that was given up. What ran on it has an unknown outcome. */
export const silence = ({ silent = 0 }: Session): Error =>
  Object.assign(new Error(`it did not answer within ${silent / 1000} seconds`), { code: 'ETIMEDOUT' })

/** Closes a connection at once, without a word to the server. */
export function destroy(session: Pick<Session, 'client' | 'lost'>): void {
  session.lost = true
  internals(session.client).connection?.stream?.destroy()
}

/** Members that the library has and its types do not name: the connection with its socket, and what the server has told at the start. */
interface Internals {
  readonly connection?: { readonly stream?: { destroy(): void } }
  readonly processID?: number | null
}

/** The cast is right for the pinned version of the library. */
const internals = (client: pg.Client): Internals => client as Internals

/** The longest name of an application at a server, in bytes. It keeps ASCII only. */
const NAME_BYTES = 63
/** The part of the name that a long name of a node leaves to the schema. */
const SCHEMA_BYTES = 24

/** The name by which the people of the database know a connection: the same for all connections of a node to one schema. */
export function applicationName({ schema, node = '' }: Pick<PostgresPlace, 'schema' | 'node'>): string {
  const who = node.replaceAll(/[^ -~]/g, '?')
  const room = NAME_BYTES - 'atrium'.length - 1
  const most = who === '' ? room : Math.max(SCHEMA_BYTES, room - 1 - who.length)
  return ['atrium', schema.slice(0, most), ...(who === '' ? [] : [who])].join('/').slice(0, NAME_BYTES)
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** Throws if a setting of the server could lose confirmed data, or change texts. Returns the process of the server. */
async function checked(client: pg.Client, { name }: PostgresPlace): Promise<Backend> {
  const { rows } = await client.query<Settings>(
    `SELECT current_setting('synchronous_commit') AS synchronous_commit, current_setting('fsync') AS fsync,
       current_setting('full_page_writes') AS full_page_writes, current_setting('server_encoding') AS server_encoding,
       current_setting('server_version_num')::int AS version, pid,
       (extract(epoch FROM backend_start) * 1000000)::int8 AS began
     FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
  )
  const [settings] = rows
  if (!settings) throw new Error('the server does not tell its settings')
  for (const [setting, allowed] of Object.entries(REQUIRED))
    if (!allowed.includes(String(settings[setting])))
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

/** The settings that matter, each as a text, and some numbers. */
interface Settings extends Backend {
  readonly [setting: string]: string | number
  readonly version: number
}

const REQUIRED: { readonly [setting: string]: readonly string[] } = {
  fsync: ['on'],
  full_page_writes: ['on'],
  synchronous_commit: ['on', 'remote_apply'],
  server_encoding: ['UTF8'],
}

const REASONS: { readonly [setting: string]: string } = {
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

/**
 * Throws if there is a pooler that gives each transaction to another process of the server, such as PgBouncer with
 * `pool_mode = transaction`: settings and prepared statements would belong to others there. Sets nothing. A direct connection is known
 * without a query: the server has told its process at the start, where a pooler tells a number of its own.
 */
async function refuseSharing(
  { client, pid }: Pick<Session, 'client' | 'pid'>,
  target: PostgresPlace,
): Promise<void> {
  if (internals(client).processID === pid) return
  const second = new pg.Client({ ...target.config, application_name: 'atrium/pooler-check' })
  second.on('error', () => {})
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, SECOND, undefined)
  })
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

  async function ended(): Promise<void> {
    await held.catch(() => {})
    // A pooler keeps no connection to its server that was left inside a transaction.
    await second.query('ROLLBACK').catch(() => {})
    await second.end().catch(() => {})
  }

  async function heldBy(other: pg.Client): Promise<number | undefined> {
    try {
      await other.connect()
      await other.query('BEGIN')
      return await pidOf(other)
    } catch (error) {
      if (/statement pooling/.test(String(error))) throw sharing(target)
      // There is no place for a second connection, so this look tells nothing.
      return undefined
    }
  }
}

/** Whether a connection has another process of the server than before. */
async function movedFrom(client: pg.Client, pid: number): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) if ((await pidOf(client)) !== pid) return true
  return false
}

async function pidOf(client: pg.Client): Promise<number | undefined> {
  const { rows } = await client.query<Pick<Backend, 'pid'>>('SELECT pg_backend_pid() AS pid')
  return rows[0]?.pid
}

const sharing = ({ name }: PostgresPlace): Failure =>
  new Failure(
    'unreadable',
    `at ${name} is a connection pooler that does not keep sessions, such as PgBouncer with pool_mode = transaction. ` +
      'Set pool_mode = session for this database and user there, or name the port of PostgreSQL itself in --store.',
  )
