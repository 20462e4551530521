import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checked } from '@atrium/client/shared/schemas'
import { Client } from '@atrium/client/client'
import { newId, world } from '@atrium/client/shared/globals'
import { openSocket } from '@atrium/client/link/websocket'
import { WebSocket } from 'ws'
import { HostProcess } from '../chaos/host.ts'
import type { Address } from '../chaos/host.ts'
import { must, withTimeout } from './failure.ts'
import { sums } from './mcp-server.ts'
import type { Prompts } from './prompts.ts'
import { survivors } from './survivors.ts'

/** An agent under test: its provider name, its prompts, and its part of the host's config. */
export interface AgentUnderTest {
  readonly provider: string
  readonly prompts: Prompts
  /** Whether the agent shows the output of a command to its model, but not to the host. */
  readonly hidesOutput?: boolean
  /** Whether the agent takes messages while it works. */
  readonly steers?: boolean
  /** Milliseconds that must pass before the agent can resume a session. */
  readonly resumeDelayMs?: number
  /** Whether the agent, or else its workers, cannot be made to ask. Then its scenes begin with the consent of a user. */
  readonly actsWithoutAsking?: boolean | 'workers'
  /** Whether the agent accepts MCP servers, but does not use them. The host offers the tools of clients by such a server too. */
  readonly ignoresServers?: boolean
  /**
   * Returns the command that starts the agent with this home folder. Absent for an agent that is part of the host.
   */
  launch?(home: string): Launch
  /** Makes the model of the agent record every request in a file. Absent for an agent without a model. */
  record?(file: string): void
  /** Further entries of the host's config. */
  readonly config?: object
}

export interface Launch {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/**
 * A host that can be killed and restarted, its folder, and its clients. Folder and clients outlive each host process.
 */
export class TestHost {
  readonly agent: AgentUnderTest
  readonly folder: string
  /** The working directory of agents. */
  readonly work: string
  /** The file with all requests to the model of the agent. */
  readonly requests: string
  /** Timeout of every expected event, in milliseconds. */
  readonly timeoutMs: number
  readonly #clients: Client[] = []
  #host: HostProcess | undefined
  #address: Promise<Address | undefined> = Promise.resolve(undefined)

  constructor(agent: AgentUnderTest, timeoutMs: number) {
    this.agent = agent
    this.timeoutMs = timeoutMs
    this.folder = mkdtempSync(join(tmpdir(), 'atrium-agents-'))
    this.work = join(this.folder, 'work')
    const home = join(this.folder, 'home')
    const config = join(this.folder, 'config', 'atrium')
    for (const each of [this.work, home, config]) mkdirSync(each, { recursive: true })
    this.requests = join(home, 'asked.jsonl')
    agent.record?.(this.requests)
    const { provider } = agent
    const { launch } = agent
    const program = launch && { agents: { [provider]: launch(home) }, mcpServers: sums.config }
    writeFileSync(join(config, 'config.json'), JSON.stringify({ ...agent.config, ...program }, null, 2))
  }

  /** The host's stderr, for error messages. */
  get stderr(): string {
    return this.#host?.stderr ?? ''
  }

  async start(): Promise<void> {
    const env = { HOME: this.folder, XDG_CONFIG_HOME: join(this.folder, 'config'), LANG: 'C.UTF-8' }
    const host = new HostProcess(join(this.folder, 'data'), { env })
    this.#host = host
    this.#address = host.ready
    const address = await withTimeout(host.ready, this.timeoutMs, 'a host that listens')
    must(address !== undefined, `the host does not start: ${host.stderr.trim()}`)
    // Reconnects the clients at once, without their retry delay.
    for (const client of this.#clients) client.connect()
  }

  /** Returns a client that lives as long as this object, and reconnects after every restart of the host. */
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

  /** Kills the host. Its child processes must end too. */
  async kill(): Promise<void> {
    await this.#host?.kill()
    await this.#checkNoSurvivors('the host was killed')
  }

  /** Stops the host with SIGTERM. */
  async stop(): Promise<void> {
    const host = this.#host
    must(host !== undefined, 'there was no host')
    host.signal('SIGTERM')
    const { code, signal } = await withTimeout(host.exit, this.timeoutMs, 'the end of the host')
    must(code === 0, `the host ended with ${code ?? signal ?? 'nothing'}`)
    await this.#checkNoSurvivors('the host ended')
  }

  /** Ends everything that was started, and removes the folder unless `keep` is set. */
  async cleanUp(keep: boolean): Promise<void> {
    for (const client of this.#clients) client.close()
    await this.#host?.kill()
    for (const { pid } of await survivors(this.folder, graceMs)) process.kill(pid, 'SIGKILL')
    if (!keep) rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  async #checkNoSurvivors(when: string): Promise<void> {
    const [left] = await survivors(this.folder, graceMs)
    must(!left, `still there after ${when}: ${left?.command ?? ''}`)
  }
}

/** Milliseconds within which child processes must notice the end of their host. */
const graceMs = 10_000
