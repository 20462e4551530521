import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { HostProcess } from '../host.ts'
import type { Address } from '../host.ts'
import { DatabaseLink } from './database-link.ts'

/** The seconds of a lease: the fewest that the command accepts. */
export const leaseSeconds = 4

/** The place of one node: its data folder, its network to the database, and its process, which may be killed and started again. */
export class NodeSlot {
  readonly name: string
  readonly link: DatabaseLink
  readonly #data: string
  readonly #tokenFile: string
  #host: HostProcess | undefined
  #address: Address | undefined

  private constructor(name: string, link: DatabaseLink, tokenFile: string) {
    this.name = name
    this.link = link
    this.#tokenFile = tokenFile
    this.#data = mkdtempSync(join(tmpdir(), `atrium-chaos-${name}-`))
  }

  static async make(name: string, databasePort: number, tokenFile: string): Promise<NodeSlot> {
    return new NodeSlot(name, await DatabaseLink.to(databasePort), tokenFile)
  }

  get runs(): boolean {
    return this.#host !== undefined
  }

  get stderr(): string {
    return this.#host?.stderr ?? ''
  }

  /** Starts the node, unless it runs. Rejects if it ends before it listens. */
  async start(): Promise<void> {
    if (this.#host) return
    const host = new HostProcess(this.#data, {
      args: [
        '--standby',
        '--store',
        `postgres://atrium@127.0.0.1:${this.link.port}/postgres`,
        '--machine',
        this.name,
        '--lease',
        String(leaseSeconds),
        '--connection-token-file',
        this.#tokenFile,
      ],
    })
    this.#host = host
    void host.exit.then(() => {
      if (this.#host === host) this.#host = this.#address = undefined
    })
    const address = await host.ready
    if (!address) throw new Error(`${this.name} does not start: ${host.stderr}`)
    this.#address = address
  }

  /** The address of the node, if it says that it is the owner. */
  async ownerAddress(): Promise<Address | undefined> {
    const address = this.#address
    if (!address) return undefined
    try {
      const readyz = new URL('/readyz', address.url.replace(/^ws/, 'http'))
      const answer = await fetch(readyz, { signal: AbortSignal.timeout(2000) })
      return answer.ok ? address : undefined
    } catch {
      // A stopped node does not answer.
      return undefined
    }
  }

  signal(name: NodeJS.Signals): void {
    this.#host?.signal(name)
  }

  async kill(): Promise<void> {
    await this.#host?.kill()
  }

  /** Stops the node in order. Rejects if it says that something went wrong. */
  async stop(): Promise<void> {
    const host = this.#host
    host?.signal('SIGTERM')
    const exit = await host?.exit
    if (exit && exit.code !== 0) throw new Error(`${this.name} stopped with an error: ${host?.stderr}`)
  }

  async cleanUp(): Promise<void> {
    this.signal('SIGCONT')
    await this.kill()
    this.link.close()
    rmSync(this.#data, { recursive: true, force: true })
  }
}
