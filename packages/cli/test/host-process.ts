import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { AgentSettings } from '@atrium/adapters/acp/registry'
import { websocketTransport } from '@atrium/adapters/server/websocket-transport'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { WebSocket } from 'ws'
import { bin } from './command.ts'
import { onlyGuide } from './only-guide.ts'

/** The address of a host, as the first line of `atrium serve --json` has it. */
export interface Ready {
  readonly url: string
  readonly token: string
}

export function readyIn(line: string): Ready {
  // The tests of `serve` compare this line with its exact form.
  return JSON.parse(line) as Ready
}

/** One process of `atrium serve`. A test starts another one on the same data folder after a stop or a kill. */
export class HostProcess {
  readonly #child: ChildProcess
  readonly #url: string
  readonly #token: string

  private constructor(child: ChildProcess, { url, token }: Ready) {
    this.#child = child
    this.#url = url
    this.#token = token
  }

  /** `log`: the file descriptor that gets the log of the host. `more`: what is added to its environment. */
  static async start(
    home: string,
    log?: number,
    agents?: AgentSettings,
    flags: readonly string[] = [],
    more: NodeJS.ProcessEnv = {},
  ): Promise<HostProcess> {
    const env = { PATH: process.env['PATH'], HOME: home, ...onlyGuide(agents), ...more }
    const args = [bin, 'serve', '--data', `${home}/data`, '--json', '--port', '0', ...flags]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', log ?? 'ignore'], env })
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the host ended with ${String(code)}`)
    })
    const line = await Promise.race([firstLine(child.stdout), ended])
    ended.catch(() => {})
    return new HostProcess(child, readyIn(line))
  }

  get url(): string {
    return this.#url
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async dial(): Promise<Transport> {
    const socket = new WebSocket(this.#url, { headers: { authorization: `Bearer ${this.#token}` } })
    await once(socket, 'open')
    return websocketTransport(socket)
  }

  /** Stops the host with SIGTERM, and waits for its exit. */
  async stop(): Promise<void> {
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await exited
  }

  /** Kills the host with SIGKILL: it writes nothing more. */
  async kill(): Promise<void> {
    const exited = once(this.#child, 'exit')
    if (this.#child.exitCode !== null || !this.#child.kill('SIGKILL')) return
    await exited
  }
}

function firstLine(stdout: Readable | null): Promise<string> {
  if (!stdout) throw new Error('stdout is no pipe')
  return new Promise((resolve) => createInterface(stdout).once('line', resolve))
}
