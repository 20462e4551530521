import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checked } from '@atrium/client/shared/schemas'
import { Client } from '@atrium/client/client'
import { newId, world } from '@atrium/client/shared/globals'
import { openSocket } from '@atrium/client/link/websocket'
import { WebSocket } from 'ws'
import type { Address } from '../chaos/client.ts'
import { HostProcess } from '../chaos/host.ts'
import { must, soon } from './failure.ts'
import { sums } from './mcp-server.ts'
import type { Speech } from './speech.ts'
import { survivors } from './survivors.ts'

/** Who plays: what the host calls it, how it is talked to, and what the host must know of it. */
export interface Player {
  readonly provider: string
  readonly speech: Speech
  /** It tells nobody but its model what a command has printed. */
  readonly mute?: boolean
  /** It finds a session again only after so long. */
  readonly forgetsForMs?: number
  /** How the host starts it; `home` is a folder of its own. Absent: the host has it. */
  launch?(home: string): Launch
  /** What else the host is told. */
  readonly config?: object
}

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** One host with a folder of its own, which may die and come again, and clients that stay. */
export class Stage {
  readonly player: Player
  readonly folder: string
  /** Where agents work. */
  readonly work: string
  /** How long anything may take that has to happen. */
  readonly patience: number
  readonly #clients: Client[] = []
  #host: HostProcess | undefined
  #address: Promise<Address | undefined> = Promise.resolve(undefined)

  constructor(player: Player, patience: number) {
    this.player = player
    this.patience = patience
    this.folder = mkdtempSync(join(tmpdir(), 'atrium-agents-'))
    this.work = join(this.folder, 'work')
    const home = join(this.folder, 'home')
    const config = join(this.folder, 'config', 'atrium')
    for (const each of [this.work, home, config]) mkdirSync(each, { recursive: true })
    const { provider } = player
    const { launch } = player
    const program = launch && { agents: { [provider]: launch(home) }, mcpServers: sums.config }
    writeFileSync(join(config, 'config.json'), JSON.stringify({ ...player.config, ...program }, null, 2))
  }

  /** What the host reported, for those who look for a reason. */
  get said(): string {
    return this.#host?.said ?? ''
  }

  async rise(): Promise<void> {
    const env = { HOME: this.folder, XDG_CONFIG_HOME: join(this.folder, 'config'), LANG: 'C.UTF-8' }
    const host = new HostProcess(join(this.folder, 'data'), { env })
    this.#host = host
    this.#address = host.ready
    const address = await soon(host.ready, this.patience, 'a host that listens')
    must(address !== undefined, `the host does not start: ${host.said.trim()}`)
    // Those who are there need not wait until they would have tried again.
    for (const client of this.#clients) client.connect()
  }

  /** A client for as long as the stage is there; it finds every life of the host. */
  client(): Client {
    const open = async () => {
      const address = await this.#address
      if (!address) throw new Error('there is no host')
      const { url, token } = address
      return openSocket(
        WebSocket as never,
        `${url}${url.includes('?') ? '&' : '?'}tkn=${encodeURIComponent(token)}`,
      )
    }
    const options = { clientId: newId(), versions: ['1.0.0'], world, check: checked, open }
    const client = new Client(options).connect()
    this.#clients.push(client)
    return client
  }

  /** The host dies in the middle of whatever it does; what it started must not live on. */
  async kill(): Promise<void> {
    await this.#host?.kill()
    await this.#alone('the host was killed')
  }

  /** The host ends because it is asked to. */
  async end(): Promise<void> {
    const host = this.#host
    must(host !== undefined, 'there was no host')
    host.signal('SIGTERM')
    const { code, signal } = await soon(host.exit, this.patience, 'the end of the host')
    must(code === 0, `the host ended with ${code ?? signal ?? 'nothing'}`)
    await this.#alone('the host ended')
  }

  /** Whatever happened: nothing of it stays but, where somebody wants to look at it, the folder. */
  async clear(keep: boolean): Promise<void> {
    for (const client of this.#clients) client.close()
    await this.#host?.kill()
    for (const { pid } of await survivors(this.folder, graceMs)) process.kill(pid, 'SIGKILL')
    if (!keep) rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async #alone(when: string): Promise<void> {
    const [left] = await survivors(this.folder, graceMs)
    must(!left, `still there after ${when}: ${left?.command ?? ''}`)
  }
}

/** What was started may take so long to notice that its host has gone. */
const graceMs = 10_000
