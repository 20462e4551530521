import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { SmallDisk } from './small-disk.ts'

const run = promisify(execFile)

/** The disks of a server: one for its tables, and one for its write-ahead log. */
interface Disks {
  readonly data: SmallDisk
  readonly wal: SmallDisk
}

/** A server of PostgreSQL that can be stopped, killed and started again on the same port. */
export class DatabaseServer {
  readonly port: number
  /** Undefined if no disk can be mounted here. */
  readonly disks: Disks | undefined
  readonly #bin: string
  readonly #folder: string
  readonly #user: ServerUser | undefined
  #child: ChildProcess | undefined

  private constructor(port: number, bin: string, folder: string, disks: Disks | undefined) {
    this.port = port
    this.disks = disks
    this.#bin = bin
    this.#folder = folder
    this.#user = serverUser()
  }

  /** Makes a new server and starts it. Undefined if this machine has no PostgreSQL. */
  static async make(): Promise<DatabaseServer | undefined> {
    const bin = programs()
    if (bin === undefined) return undefined
    const folder = mkdtempSync(join(tmpdir(), 'atrium-chaos-pg-'))
    const server = new DatabaseServer(await freePort(), bin, folder, mountDisks())
    await server.#initialize()
    await server.start()
    return server
  }

  /** Whether the server has not ended. A server without space for its log ends by itself. */
  get runs(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  get #data(): string {
    return join(this.disks?.data.path ?? this.#folder, 'data')
  }

  async #initialize(): Promise<void> {
    const user = this.#user
    const folders = [this.#folder, this.disks?.data.path, this.disks?.wal.path]
    for (const each of folders) if (user && each !== undefined) chownSync(each, user.uid, user.gid)
    const flags = ['-U', 'atrium', '-E', 'UTF8', '--no-locale', '-A', 'trust', '--no-sync', '--wal-segsize=1']
    if (this.disks) flags.push('--waldir', join(this.disks.wal.path, 'wal'))
    await run(join(this.#bin, 'initdb'), ['-D', this.#data, ...flags], { ...user, cwd: this.#folder })
  }

  /** Starts the server, and waits until it answers. It may have to recover first. */
  async start(): Promise<void> {
    for (;;) {
      const args = ['-D', this.#data, '-p', String(this.port)]
      const child = spawn(join(this.#bin, 'postgres'), [...args, ...settings.flatMap((one) => ['-c', one])], {
        ...this.#user,
        cwd: this.#folder,
        stdio: 'ignore',
        detached: true,
      })
      this.#child = child
      running.add(child)
      child.once('exit', () => running.delete(child))
      while (child.exitCode === null && child.signalCode === null) {
        const asked = ['-q', '-h', '127.0.0.1', '-p', String(this.port)]
        const answered = await run(join(this.#bin, 'pg_isready'), asked).then(
          () => true,
          () => false,
        )
        if (answered) return
        await sleep(100)
      }
      // Processes of a server that was killed may still hold its memory, or its port.
      await sleep(200)
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

  async close(): Promise<void> {
    await this.kill()
    this.disks?.data.release()
    this.disks?.wal.release()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #end(end: (child: ChildProcess) => void): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    end(child)
    await exited
  }
}

/** The settings of a server that needs little memory. It keeps `fsync`, because a host refuses a server without it. */
const settings = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'shared_buffers=16MB',
  'min_wal_size=2MB',
  'max_wal_size=8MB',
  'jit=off',
]

const megabyte = 1024 * 1024

/** Undefined if this user may mount nothing. */
function mountDisks(): Disks | undefined {
  const data = SmallDisk.mount(160 * megabyte)
  const wal = SmallDisk.mount(64 * megabyte)
  if (data && wal) return { data, wal }
  data?.release()
  return undefined
}

interface ServerUser {
  readonly uid: number
  readonly gid: number
}

/** The user of the server, if this process is of root: PostgreSQL does not run as root. */
function serverUser(): ServerUser | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  const found = lines.map((line) => line.split(':')).find(([name]) => name === 'postgres')
  return found && { uid: Number(found[2]), gid: Number(found[3]) }
}

/** The folder of the newest programs of PostgreSQL. */
function programs(): string | undefined {
  const folder = '/usr/lib/postgresql'
  if (!existsSync(folder)) return undefined
  const versions = readdirSync(folder).toSorted((a, b) => Number(b) - Number(a))
  return versions
    .map((version) => join(folder, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'initdb')))
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

/** Kills a server. Each of its processes leads a session of its own, so they are found by their parent. */
function killAll(child: ChildProcess): void {
  const children = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === child.pid)
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

const running = new Set<ChildProcess>()
// Child processes must not outlive this process.
process.on('exit', () => running.forEach(killAll))
