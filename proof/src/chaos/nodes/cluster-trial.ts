import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Chance } from '../../chance.ts'
import type { PostgresServer } from '../../postgres/server.ts'
import { Client } from '../client.ts'
import { LinkLost } from '../errors.ts'
import { expected, turnsEnded } from '../expected.ts'
import { readRun, writeStored } from '../history.ts'
import type { Address } from '../host.ts'
import { judge } from '../judge/judge.ts'
import { Sessions, work } from '../load.ts'
import { readDatabase } from '../stored.ts'
import type { Tally } from '../tally.ts'
import type { Database, Disks } from './database.ts'
import { NodeSlot } from './node-slot.ts'

/** Milliseconds after which an expected event counts as missing. It is long, because the machine may be very busy. */
const timeoutMs = 180_000

/** Three nodes on one database, their clients, and the histories of these. */
export class ClusterTrial {
  readonly folder: string
  readonly nodes: readonly NodeSlot[]
  readonly server: PostgresServer
  /** The disks of the server. Undefined if no disk can be mounted here. */
  readonly disks: Disks | undefined
  readonly clients: readonly Client[]
  readonly sessions = new Sessions()
  readonly chance: Chance
  readonly #tally: Tally
  readonly #secrets: string
  #address: Address | undefined

  private constructor(
    tally: Tally,
    chance: Chance,
    parts: Pick<ClusterTrial, 'nodes' | 'server' | 'disks'>,
    secrets: string,
  ) {
    this.#tally = tally
    this.chance = chance
    this.nodes = parts.nodes
    this.server = parts.server
    this.disks = parts.disks
    this.#secrets = secrets
    this.folder = join(tally.folder, 'nodes')
    mkdirSync(this.folder, { recursive: true })
    this.clients = ['ann', 'ben', 'cid', 'dee'].map((id) => new Client(this.folder, id))
  }

  static async make(tally: Tally, chance: Chance, { server, disks }: Database): Promise<ClusterTrial> {
    const secrets = mkdtempSync(join(tmpdir(), 'atrium-chaos-token-'))
    const token = join(secrets, 'token')
    writeFileSync(token, 'kJ3v0hQ2mYx9cE7TnR5sWb1LpZ8uGdAo4fViHtKjXyM', { mode: 0o600 })
    const names = ['one', 'two', 'three']
    const nodes = await Promise.all(names.map((name) => NodeSlot.make(name, server.port, token)))
    return new ClusterTrial(tally, chance, { nodes, server, disks }, secrets)
  }

  /** Repairs every network, and starts every node that does not run. */
  async heal(): Promise<void> {
    for (const node of this.nodes) {
      node.signal('SIGCONT')
      node.link.heal()
    }
    await this.withTimeout(Promise.all(this.nodes.map((node) => node.start())), 'starting the nodes')
  }

  /** Waits until a node says that it is the owner. Two may say so for a moment; `not` is not asked. */
  async owner(not?: NodeSlot): Promise<NodeSlot> {
    const find = async (): Promise<NodeSlot> => {
      for (;;) {
        const asked = this.nodes.filter((node) => node !== not)
        const found = await Promise.all(asked.map((node) => node.ownerAddress()))
        const at = this.chance.pick([...found.keys()].filter((each) => found[each]))
        const node = at === undefined ? undefined : asked[at]
        if (at !== undefined && node) {
          this.#address = found[at]
          return node
        }
        await sleep(50)
      }
    }
    return this.withTimeout(find(), 'an owner')
  }

  /** Connects all clients to the owner, and waits until everything they ever sent has an outcome. */
  async converge(): Promise<void> {
    await this.withTimeout(
      Promise.all(this.clients.map((client) => this.#back(client))),
      'clients reconnecting',
    )
  }

  /** Lets all clients work until their links end. */
  async work(): Promise<void> {
    const address = () => {
      if (!this.#address) throw new Error('there is no owner')
      return this.#address
    }
    const { sessions } = this
    await Promise.all(
      this.clients.map((client) => work({ client, sessions, chance: this.chance.branch(), address })),
    )
  }

  /** The number of times that a client was told of a full disk: that its actions wait, or are refused. */
  get told(): number {
    const refusals = ({ answers }: Client) =>
      answers.filter(({ rejectionReason = '' }) => rejectionReason.includes('full')).length
    return this.clients.reduce((sum, client) => sum + client.toldFull + refusals(client), 0)
  }

  /** Waits until a node has said something that it has not said before. */
  async nodesSay(text: string): Promise<void> {
    const said = () => this.nodes.reduce((sum, { stderr }) => sum + stderr.split(text).length - 1, 0)
    const before = said()
    await this.until(() => said() > before)
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await sleep(50)
  }

  cutClients(): void {
    for (const client of this.clients) client.cut()
  }

  /** Heals everything, waits until everything has its outcome and every turn has ended, and judges the run. */
  async finish(): Promise<void> {
    await this.heal()
    await this.converge()
    const newcomer = new Client(this.folder, 'newcomer')
    const looking = this.#linked(newcomer, async () => {
      for (const uri of this.sessions.live) await newcomer.subscribe(uri)
      await turnsEnded(newcomer, this.sessions)
    })
    await this.withTimeout(looking, 'the end of all turns')
    const owner = await this.owner()
    for (const client of [...this.clients, newcomer]) {
      client.cut()
      client.flush()
    }
    for (const node of this.nodes)
      if (node !== owner) await this.withTimeout(node.stop(), 'stopping a standby')
    await this.withTimeout(owner.stop(), 'stopping the owner')
    const { url } = this.server
    writeStored(this.folder, { ...(await readDatabase(url, this.sessions.live)), rested: true })
    this.#tally.judged(this.folder, judge(readRun(this.folder)))
  }

  async cleanUp(): Promise<void> {
    this.cutClients()
    for (const client of this.clients) client.flush()
    for (const node of this.nodes) await node.cleanUp()
    rmSync(this.#secrets, { recursive: true, force: true })
  }

  /** Waits for an event that must happen. Rejects with its name if it does not. */
  withTimeout<T>(event: Promise<T>, what: string): Promise<T> {
    const logs = () => this.nodes.map(({ name, stderr }) => `${name}: ${stderr.slice(-3000)}`)
    return expected(event, { what, timeoutMs, clients: this.clients, logs })
  }

  /** Connects a client to the owner, and waits until everything that it ever sent has an outcome. */
  #back(client: Client): Promise<void> {
    return this.#linked(client, () => client.settle())
  }

  /**
   * Connects a client to the owner, and lets it do something. Does so again with the next owner if that was deposed
   * meanwhile, which may happen at any time if the machine is busy.
   */
  async #linked(client: Client, task: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        if (!client.open) {
          await this.owner()
          if (this.#address) await client.connect(this.#address)
        }
        return await task()
      } catch (error) {
        if (!(error instanceof LinkLost)) throw error
        client.cut()
        await sleep(100)
      }
    }
  }
}
