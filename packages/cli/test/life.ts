import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { AgentSettings } from '@atrium/adapters/acp/registry'
import { websocketTransport } from '@atrium/adapters/server/websocket-transport'
import type { Transport } from '@atrium/protocol/rpc/transport'
import { WebSocket } from 'ws'
import { alone } from './alone.ts'

const bin = fileURLToPath(new URL('../bin/atrium.mjs', import.meta.url))

/** One life of the real command on a folder of data. */
export class Life {
  readonly #child: ChildProcess
  readonly #url: string
  readonly #token: string

  private constructor(child: ChildProcess, { url, token }: { url: string; token: string }) {
    this.#child = child
    this.#url = url
    this.#token = token
  }

  /** `log`: a descriptor for what it reports. */
  static async begin(data: string, log?: number, agents?: AgentSettings): Promise<Life> {
    const env = { PATH: process.env['PATH'], HOME: data, ...alone(agents) }
    const args = [bin, 'serve', '--data', `${data}/data`, '--json', '--port', '0']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', log ?? 'ignore'], env })
    const ended = once(child, 'exit').then(([code]) => {
      throw new Error(`the host ended with ${String(code)}`)
    })
    const first = once(createInterface(child.stdout as Readable), 'line')
    const [line] = (await Promise.race([first, ended])) as [string]
    ended.catch(() => {})
    return new Life(child, JSON.parse(line) as { url: string; token: string })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  async dial(): Promise<Transport> {
    const socket = new WebSocket(this.#url, { headers: { authorization: `Bearer ${this.#token}` } })
    await once(socket, 'open')
    return websocketTransport(socket)
  }

  /** Asked to, and waited for. */
  async stop(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await gone
  }

  /** Nothing that it has not written by now will ever be. */
  async kill(): Promise<void> {
    const gone = once(this.#child, 'exit')
    if (this.#child.exitCode !== null || !this.#child.kill('SIGKILL')) return
    await gone
  }
}
