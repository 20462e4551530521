import { PostgresServer } from '@atrium/proof/postgres'
import pg from 'pg'

/** A server of PostgreSQL for a bench. */
export interface Database {
  /** The URL without a password, as `atrium serve --store` takes it. */
  readonly url: string
  readonly password: string
  /** Connects to the server, as the bare side of a comparison does. */
  connect(): Promise<pg.Client>
  close(): Promise<void>
}

/** The server that ATRIUM_POSTGRES_URL names, or a new one on this machine. Undefined if this machine has no PostgreSQL. */
export async function openDatabase(): Promise<Database | undefined> {
  const given = process.env['ATRIUM_POSTGRES_URL']
  if (given !== undefined) {
    const url = new URL(given)
    const password = decodeURIComponent(url.password)
    url.password = ''
    return { ...reachable(url.href, password), close: async () => {} }
  }
  // The sizes are the defaults, and every commit is synced.
  const server = await PostgresServer.make()
  return server && { ...reachable(server.url, ''), close: () => server.close() }
}

function reachable(url: string, password: string): Omit<Database, 'close'> {
  return {
    url,
    password,
    async connect() {
      // The library takes the password from the URL alone, if there is a URL.
      const whole = new URL(url)
      whole.password = password
      const client = new pg.Client({ connectionString: whole.href })
      client.on('error', () => {})
      await client.connect()
      return client
    },
  }
}
