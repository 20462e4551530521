import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { Socket, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { findPrograms, serverUser } from './programs.ts'
import type { Programs, ServerUser } from './programs.ts'

const run = promisify(execFile)

export interface ServerOptions {
  /** The password of the user `atrium`. Without one, the server trusts every connection of this machine. */
  readonly password?: string
  readonly settings?: readonly string[]
  /** Whether the server needs little memory and disk. Without it, all sizes are the defaults. */
  readonly small?: boolean
  /** A folder with the data of a new server. It is copied, or made if it is missing: `initdb` takes eight times the CPU time of a copy. */
  readonly template?: string
  /** Separate folders for the tables and the write-ahead log. If undefined, both are in the folder of the server. */
  readonly disks?: { readonly data: string; readonly wal: string } | undefined
}

/** A PostgreSQL server of this machine that can be stopped, killed and started again on the same port. */
export class PostgresServer {
  /** The folder that the server may read. It is removed when the server is closed. */
  readonly folder: string
  /** The user of the server. Undefined if it is the user of this process. */
  readonly user: ServerUser | undefined
  readonly #options: ServerOptions
  readonly #programs: Programs
  #child: ChildProcess | undefined
  #port = 0

  private constructor(folder: string, programs: Programs, options: ServerOptions) {
    this.folder = folder
    this.user = serverUser()
    this.#programs = programs
    this.#options = options
  }

  /** Makes a new server and starts it. Undefined if this machine has no PostgreSQL. */
  static async make(options: ServerOptions = {}): Promise<PostgresServer | undefined> {
    const user = serverUser()
    const folder = mkdtempSync(join(tmpdir(), 'atrium-pg-'))
    try {
      const { data, wal } = options.disks ?? {}
      for (const each of [folder, data, wal])
        if (user && each !== undefined) chownSync(each, user.uid, user.gid)
      const programs = findPrograms(folder, user)
      if (!programs) {
        rmSync(folder, { recursive: true })
        return undefined
      }
      const server = new PostgresServer(folder, programs, options)
      await server.#fill()
      await server.#startOnFreePort()
      return server
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  get port(): number {
    return this.#port
  }

  /** The URL without a password, as `atrium serve --store` takes it. */
  get url(): string {
    return `postgres://atrium@127.0.0.1:${this.port}/postgres`
  }

  /** Whether the server has not ended. A server without space for its log ends by itself. */
  get runs(): boolean {
    return this.#child !== undefined && !hasEnded(this.#child)
  }

  /** Starts the server, and waits until it answers. It may have to recover first. */
  async start(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const text = await this.#startOnce()
      if (text === undefined) return
      // Processes of a server that was killed may still hold its memory, or its port.
      if (attempt === 100 || !/shared memory|Address already in use/.test(text))
        throw new Error(`the server has ended: ${text}`)
      await sleep(100)
    }
  }

  /** Stops the server in order: its connections are closed first. */
  async stop(): Promise<void> {
    await this.#end((child) => void child.kill('SIGINT'))
  }

  /** Kills the server and all of its processes at once, as a power failure would. */
  async kill(): Promise<void> {
    await this.#end(killAll)
  }

  /** Kills the server and removes its folder. */
  async close(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }

  get #data(): string {
    return join(this.#options.disks?.data ?? this.folder, 'data')
  }

  get #how(): { readonly cwd: string; readonly env: Programs['env'] } & Partial<ServerUser> {
    return { ...this.user, cwd: this.folder, env: { ...this.#programs.env, LC_ALL: 'C', TZ: 'UTC' } }
  }

  /** Makes the data folder, as a copy if there is a template. */
  async #fill(): Promise<void> {
    const { template } = this.#options
    if (template === undefined) return this.#initialize()
    if (!existsSync(template)) {
      await this.#initialize()
      const own = `${template}-${process.pid}`
      await run('cp', ['-a', this.#data, own])
      // Another process may have been sooner.
      if (existsSync(template)) rmSync(own, { recursive: true })
      else renameSync(own, template)
    } else await run('cp', ['-a', template, this.#data])
  }

  async #initialize(): Promise<void> {
    const { password, small, disks } = this.#options
    const flags = ['-D', this.#data, '-U', 'atrium', '-E', 'UTF8', '--no-locale', '--no-sync']
    const file = join(this.folder, 'password')
    if (password === undefined) flags.push('-A', 'trust')
    else {
      writeFileSync(file, password, { mode: 0o644 })
      flags.push('-A', 'scram-sha-256', `--pwfile=${file}`)
    }
    if (small) flags.push('--wal-segsize=1')
    if (disks) flags.push('--waldir', join(disks.wal, 'wal'))
    await run(join(this.#programs.bin, 'initdb'), flags, this.#how)
  }

  /** Starts the server for the first time. Another program may take the port before the server does. */
  async #startOnFreePort(): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      this.#port = await freePort()
      const text = await this.#startOnce()
      if (text === undefined) return
      if (attempt === 10 || !text.includes('Address already in use'))
        throw new Error(`the server has ended: ${text}`)
    }
  }

  /** Returns the words of the server if it has ended before it answered. */
  async #startOnce(): Promise<string | undefined> {
    const { small, settings = [] } = this.#options
    const all = [...local, ...(small ? little : []), ...settings]
    const args = ['-D', this.#data, '-p', String(this.port), ...all.flatMap((one) => ['-c', one])]
    const child = spawn(join(this.#programs.bin, 'postgres'), args, {
      ...this.#how,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    })
    this.#child = child
    running.add(child)
    child.once('exit', () => running.delete(child))
    let text = ''
    child.stderr.on('data', (bytes: Buffer) => (text = (text + bytes.toString()).slice(-10_000)))
    const closed = once(child, 'close')
    while (!hasEnded(child)) {
      if (await this.#answers(closed)) return undefined
      await sleep(50)
    }
    await closed
    return text
  }

  /** Whether the server answers. `ended` resolves when it has ended: another program on its port may never answer. */
  async #answers(ended: Promise<unknown>): Promise<boolean> {
    const { port } = this
    const socket = new Socket()
    void ended.then(() => socket.destroy())
    const place = { host: '127.0.0.1', port, user: 'atrium', database: 'postgres', stream: () => socket }
    const client = new pg.Client({ ...place, password: this.#options.password ?? '' })
    client.on('error', () => {})
    try {
      await client.connect()
      await client.end()
      return true
    } catch {
      return false
    }
  }

  async #end(end: (child: ChildProcess) => void): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (!child || hasEnded(child)) return
    const exited = once(child, 'exit')
    end(child)
    await exited
  }
}

/** The settings of every server: it listens to this machine only. Its files are synced, because a host refuses a server without it. */
const local = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']
const little = ['shared_buffers=16MB', 'min_wal_size=2MB', 'max_wal_size=64MB', 'jit=off']

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The cast is safe: `address()` returns a string only for a server on a pipe.
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** Kills a server. Each of its processes leads a session of its own, so they are found by their parent. */
function killAll(child: ChildProcess): void {
  const processes = existsSync('/proc') ? readdirSync('/proc') : []
  const children = processes.filter((name) => /^\d+$/.test(name) && parentOf(name) === child.pid)
  child.kill('SIGKILL')
  for (const pid of children) {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}

function parentOf(pid: string): number | undefined {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))?.[1])
  } catch {
    return undefined
  }
}

/** Servers must not outlive this process. */
const running = new Set<ChildProcess>()
process.on('exit', () => running.forEach(killAll))
