import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { plantedCommand } from '../plant/command.ts'
import type { Patch } from '../plant/patch.ts'

const bin = fileURLToPath(new URL('../../../packages/cli/bin/atrium.mjs', import.meta.url))

/**
 * Returns the home folder of every host: empty, and the same for all. The state of a host names folders in its home.
 * Tests compare the states of hosts on copies of one data folder, so these hosts must have the same home.
 */
function home(): string {
  const folder = join(tmpdir(), 'atrium-chaos-home')
  mkdirSync(folder, { recursive: true })
  return folder
}

/** The address of a host. */
export interface Address {
  readonly url: string
  readonly token: string
  /** The value of the `Host` header if `url` leads through a proxy: the host accepts only its own name. */
  readonly host?: string
}

export interface HostOptions {
  readonly patches?: readonly Patch[]
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly uid?: number
  /** Flags of Node. With them, the process has an IPC channel. */
  readonly node?: readonly string[]
}

/** The exit status of a process. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** The real host command, run as a child process. */
export class HostProcess {
  readonly child: ChildProcess
  readonly exit: Promise<Exit>
  /** The address that the host listens on; undefined if the process exits first. */
  readonly ready: Promise<Address | undefined>
  #out = ''
  #err = ''

  /** Patches for every host that this process starts. */
  static planted: readonly Patch[] = []

  constructor(data: string, { patches: own = [], args = [], env = {}, uid, node }: HostOptions = {}) {
    const patches = [...own, ...HostProcess.planted]
    const command = patches.length > 0 ? plantedCommand(patches) : bin
    const words = [...(node ?? []), command, 'serve', '--json', '--port', '0', '--data', data, ...args]
    this.child = spawn(process.execPath, words, {
      stdio: ['ignore', 'pipe', 'pipe', ...(node ? ['ipc' as const] : [])],
      env: {
        PATH: process.env['PATH'],
        HOME: home(),
        XDG_CONFIG_HOME: `${data}/none`,
        ...env,
      },
      ...(uid !== undefined && { uid, gid: uid }),
    })
    running.add(this.child)
    this.exit = once(this.child, 'close').then(([code, signal]) => {
      running.delete(this.child)
      return { code: code as number | null, signal: signal as NodeJS.Signals | null }
    })
    this.child.stderr?.on('data', (chunk: Buffer) => (this.#err += chunk.toString()))
    const line = new Promise<string>((resolve) => {
      this.child.stdout?.on('data', (chunk: Buffer) => {
        this.#out += chunk.toString()
        if (this.#out.includes('\n')) resolve(this.#out)
      })
    })
    this.ready = Promise.race([
      line.then((text) => JSON.parse(text) as Address),
      this.exit.then(() => undefined),
    ])
  }

  /** The text on stderr so far. */
  get stderr(): string {
    return this.#err
  }

  /** Resolves when stderr contains the text this many times. */
  async whenStderrHas(text: string, times: number): Promise<void> {
    while (this.#err.split(text).length <= times) await once(this.child.stderr ?? this.child, 'data')
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name)
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL')
    await this.exit
  }
}

const running = new Set<ChildProcess>()
// Child processes must not outlive this process.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})
