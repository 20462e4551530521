import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'

/** A database and how to connect to it. It has the password, so it must not get into a log or an error; `name` may. */
export interface PostgresPlace {
  /** The place as errors and logs name it, without the password. */
  readonly name: string
  readonly user: string
  readonly database: string
  /** The schema of the tables. */
  readonly schema: string
  /** Who connects, as the people of the database see it in `application_name`. */
  readonly node?: string
  readonly config: {
    readonly host: string
    readonly port: number
    readonly user: string
    readonly database: string
    readonly password?: string
    readonly ssl:
      | false
      | { readonly rejectUnauthorized: boolean; readonly ca?: string; readonly host?: string }
  }
}

/** Thrown for the URL of a database that cannot be used. */
export class BadPostgresUrl extends Error {
  override readonly name = 'BadPostgresUrl'
}

export const isPostgresUrl = (text: string): boolean => /^postgres(?:ql)?:/i.test(text)

/**
 * Reads the URL of a database: `postgres://user@host:port/database?sslmode=verify-full&sslrootcert=file&schema=atrium`. The password
 * is in the environment: in PGPASSWORD, or in the file that ATRIUM_POSTGRES_PASSWORD_FILE names. A password in the URL is refused,
 * because everybody on a machine can read the arguments of its programs.
 */
export async function postgresPlace(
  text: string,
  env: { readonly [name: string]: string | undefined },
): Promise<PostgresPlace> {
  const url = parsed(text)
  const host = url.searchParams.get('host') ?? decodeURIComponent(url.hostname.replace(/^\[|\]$/g, ''))
  const port = Number(url.port || 5432)
  const user = decodeURIComponent(url.username)
  const database = decodeURIComponent(url.pathname.slice(1))
  if (host === '' || user === '' || database === '')
    throw new BadPostgresUrl(`The URL of the database must be like postgres://user@host:5432/database.`)
  const schema = url.searchParams.get('schema') ?? 'atrium'
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema))
    throw new BadPostgresUrl(
      `The schema in the URL of the database must consist of at most 51 lower-case letters, digits and underscores.`,
    )
  const password = await passwordOf(env)
  const config = { host, port, user, database, ssl: await tlsOf(url, host) }
  return {
    name: `${host.includes('/') ? host : `${isIP(host) === 6 ? `[${host}]` : host}:${port}`}/${database}`,
    user,
    database,
    schema,
    config: { ...config, ...(password !== undefined && { password }) },
  }
}

const KNOWN = ['host', 'schema', 'sslmode', 'sslrootcert']

function parsed(text: string): URL {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    // The text is not repeated, because it may have a password.
    throw new BadPostgresUrl('The URL of the database must be like postgres://user@host:5432/database.')
  }
  if (url.password !== '')
    throw new BadPostgresUrl(
      'The URL of the database must not have a password: set PGPASSWORD, or name a file with it in ATRIUM_POSTGRES_PASSWORD_FILE.',
    )
  const unknown = [...url.searchParams.keys()].find((key) => !KNOWN.includes(key))
  if (unknown !== undefined)
    throw new BadPostgresUrl(
      `The URL of the database has "${unknown}", which is not one of ${KNOWN.join(', ')}.`,
    )
  return url
}

async function passwordOf(env: { readonly [name: string]: string | undefined }): Promise<string | undefined> {
  const file = env['ATRIUM_POSTGRES_PASSWORD_FILE']
  if (file === undefined) return env['PGPASSWORD']
  try {
    return (await readFile(file, 'utf8')).replace(/\r?\n$/, '')
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'it cannot be read'
    throw new BadPostgresUrl(
      `The file ${file}, which ATRIUM_POSTGRES_PASSWORD_FILE names, has no password: ${reason}.`,
    )
  }
}

/** The kind of encryption. A connection to another machine is encrypted and its server verified, unless the URL says otherwise. */
async function tlsOf(url: URL, host: string): Promise<PostgresPlace['config']['ssl']> {
  const local = host.startsWith('/') || host === 'localhost' || host === '::1' || host.startsWith('127.')
  const mode = url.searchParams.get('sslmode') ?? (local ? 'disable' : 'verify-full')
  const file = url.searchParams.get('sslrootcert')
  if (mode === 'disable') return false
  if (mode === 'require') return { rejectUnauthorized: false }
  if (mode !== 'verify-full')
    throw new BadPostgresUrl('The sslmode of the database must be disable, require or verify-full.')
  // Node compares the certificate with the name `localhost` if it is told no other, and the library tells it no address.
  const verified = { rejectUnauthorized: true, ...(isIP(host) !== 0 && { host }) }
  if (file === null) return verified
  const ca = await readFile(file, 'utf8').catch(() => {
    throw new BadPostgresUrl(`The file ${file}, which sslrootcert names, cannot be read.`)
  })
  return { ...verified, ca }
}
