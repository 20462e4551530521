import { join } from 'node:path'
import { PostgresServer } from '../../../../proof/src/postgres/server.ts'
import { folderOfRun } from '../../../../test/environment.ts'
import type { PostgresPlace } from '../../src/store/postgres/place.ts'
import { newPlace } from './place.ts'

/** A server of PostgreSQL for tests. */
export interface TestServer {
  readonly port: number
  readonly password: string
  /** Returns the place of a new, empty store. */
  place(): Promise<PostgresPlace>
  /** Ends the server and all of its processes at once, as a power failure would. Undefined for a server of others. */
  readonly kill: (() => Promise<void>) | undefined
  /** Starts the server again on the same port. */
  readonly start: (() => Promise<void>) | undefined
  /** The folder and the user of the server. Undefined for a server of others, which tests do not change. */
  readonly own: Pick<PostgresServer, 'folder' | 'user'> | undefined
  close(): Promise<void>
}

const password = 'a pässword: "\'\\$'

/**
 * Starts a server, or uses the one that ATRIUM_POSTGRES_URL names. Resolves with a reason if there is no PostgreSQL. Every caller has a
 * server of its own.
 */
export async function testServer(settings: readonly string[] = []): Promise<TestServer | string> {
  const url = process.env['ATRIUM_POSTGRES_URL']
  if (url !== undefined && settings.length === 0) return remoteServer(url)
  try {
    const server = await PostgresServer.make({
      password,
      small: true,
      template: join(folderOfRun(), 'postgres'),
      settings: [...fewConnections, ...settings],
    })
    return server ? ownServer(server) : 'skipped: no postgres'
  } catch (error) {
    return `skipped: no postgres: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The settings of a server with few connections and without replication. */
const fewConnections = [
  'max_connections=40',
  'max_wal_senders=0',
  'wal_level=minimal',
  'authentication_timeout=600',
]

function ownServer(server: PostgresServer): TestServer {
  const { port } = server
  return {
    port,
    password,
    kill: () => server.kill(),
    start: () => server.start(),
    own: server,
    place: () => newPlace({ host: '127.0.0.1', port, user: 'atrium', database: 'postgres' }, password),
    close: () => server.close(),
  }
}

function remoteServer(text: string): TestServer {
  const url = new URL(text)
  const { hostname: host, port, username: user, pathname } = url
  const given = decodeURIComponent(url.password)
  return {
    port: Number(port || 5432),
    password: given,
    place: () => newPlace({ host, port: Number(port || 5432), user, database: pathname.slice(1) }, given),
    kill: undefined,
    start: undefined,
    own: undefined,
    close: async () => {},
  }
}
