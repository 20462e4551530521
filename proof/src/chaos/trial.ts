import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Chance } from '../chance.ts'
import { Client } from './client.ts'
import { LinkLost } from './errors.ts'
import { expected, turnsEnded } from './expected.ts'
import { readRun, writeStored } from './history.ts'
import type { Stored } from './history.ts'
import { HostProcess } from './host.ts'
import type { Address, HostOptions } from './host.ts'
import { judge } from './judge/judge.ts'
import { Sessions, work } from './load.ts'
import type { OlderClient } from './older-client.ts'
import { OlderCrowd } from './older-crowd.ts'
import { readStored } from './stored.ts'
import type { Tally } from './tally.ts'

/** Milliseconds after which an expected event counts as missing. It is long, because the machine may be very busy. */
const timeoutMs = 120_000

interface Ending {
  /** The last time the disk was made to lose data, as `performance.now()` gave it. */
  readonly torn?: number
  /** The migrations of the store, if its schema is newer than the schema of this build. */
  readonly migrations?: readonly string[]
}

/** One data folder through many host runs, its clients, and their histories. */
export class Trial {
  /** The folder of the histories. */
  readonly folder: string
  readonly data: string
  readonly chance: Chance
  readonly clients: Client[] = []
  readonly sessions: Sessions
  readonly tally: Tally
  /** The clients of older protocol versions, if the trial has some. */
  #older: OlderCrowd | undefined
  #host: HostProcess | undefined
  #address: Address | undefined

  constructor(tally: Tally, name: string, chance: Chance, data = newDataFolder()) {
    this.sessions = new Sessions(`${name}-`)
    this.tally = tally
    this.folder = join(tally.folder, name)
    mkdirSync(this.folder, { recursive: true })
    this.data = data
    this.chance = chance
  }

  get host(): HostProcess {
    if (!this.#host) throw new Error('no host was started')
    return this.#host
  }

  get address(): Address {
    if (!this.#address) throw new Error('the host does not listen')
    return this.#address
  }

  client(id: string): Client {
    const client = new Client(this.folder, id)
    this.clients.push(client)
    return client
  }

  /** Lets clients of older protocol versions join. */
  addOlderClients(suffix = ''): void {
    this.#older = new OlderCrowd(this.folder, this.sessions, suffix)
  }

  /** Works with a host that runs already. */
  join(host: HostProcess, address: Address): void {
    this.#host = host
    this.#address = address
  }

  /** Removes a client that knows the outcome of everything it sent. The history of the client is still judged. */
  retire(client: Client): void {
    client.cut()
    client.flush()
    this.clients.splice(this.clients.indexOf(client), 1)
  }

  /** Starts a host. Returns false if it exits before it listens. */
  async start(options: HostOptions = {}): Promise<boolean> {
    this.#host = new HostProcess(this.data, options)
    this.#address = await this.withTimeout(this.#host.ready, 'starting the host')
    return this.#address !== undefined
  }

  /** Starts a host. Rejects with what it said if it exits before it listens. */
  async mustStart(options: HostOptions = {}): Promise<void> {
    if (!(await this.start(options))) throw new Error(`the host does not start: ${this.host.stderr}`)
  }

  /** Connects all clients, and waits until everything they ever sent has an outcome. */
  async converge(address: () => Address = () => this.address): Promise<void> {
    const back = async (client: Client): Promise<void> => {
      if (!client.open) await client.connect(address())
      await client.settle()
    }
    const older = this.#older
    const olderBack = older?.clients.map((client) => older.back(client, address)) ?? []
    await this.withTimeout(all([...this.clients.map(back), ...olderBack]), 'clients reconnecting')
  }

  /** Repeats what a lost link has ended. A host may refuse the link of a client that gets no processor time. */
  async insist<T>(task: () => Promise<T>): Promise<T> {
    for (let times = 1; ; times++)
      try {
        return await task()
      } catch (error) {
        if (!(error instanceof LinkLost) || times > 20) throw error
        this.tally.outcome('links lost while clients came back')
      }
  }

  /** Connects the clients and lets each do this many steps. Returns whether the host exited meanwhile. */
  async workUntilExit(steps?: number): Promise<boolean> {
    try {
      await this.converge()
      await this.work(steps)
    } catch (error) {
      if (!(error instanceof LinkLost)) throw error
    }
    // The links end a moment before the exit of the host process is known.
    const ended = this.clients.some((client) => !client.open)
    if (ended) await this.withTimeout(this.host.exit, 'the exit of the host')
    return ended
  }

  /** Lets all clients work, each until its link ends or it has done this many steps. */
  async work(steps?: number, address: () => Address = () => this.address): Promise<void> {
    const working = this.clients.map((client) =>
      work({ client, sessions: this.sessions, chance: this.chance.branch(), address, steps }),
    )
    await this.withTimeout(all([...working, this.olderWork(steps)]), 'the load')
  }

  async olderWork(steps?: number): Promise<void> {
    const older = this.#older
    await all(older?.clients.map((client) => older.work(client, this.chance.branch(), steps)) ?? [])
  }

  /**
   * Starts the host for a last time, without faults. Waits until everything has its outcome and every turn has ended,
   * lets a new client read all sessions, stops the host, and judges the run.
   */
  async finish(options: HostOptions & Ending = {}): Promise<void> {
    await this.mustStart(options)
    const difference = await this.settle()
    this.cut()
    this.host.signal('SIGTERM')
    const { code } = await this.withTimeout(this.host.exit, 'stopping the host')
    if (code !== 0) throw new Error(`the host stopped with an error: ${this.host.stderr}`)
    const stored = await readStored(this.data, this.sessions.live, options.migrations)
    this.judgeRun({ ...stored, rested: true, ...(options.torn !== undefined && { torn: options.torn }) })
    if (difference !== undefined) this.tally.problem(difference)
  }

  /**
   * Waits until everything has its outcome and every turn has ended, and lets a new client read all sessions. Returns what
   * older clients see differently from new ones of their versions.
   */
  async settle(): Promise<string | undefined> {
    await this.converge()
    const newcomer = this.client(`newcomer-${this.clients.length}-${basename(this.folder)}`)
    await this.insist(() => newcomer.connect(this.address))
    for (const uri of this.sessions.live) await newcomer.subscribe(uri)
    await this.withTimeout(turnsEnded(newcomer, this.sessions), 'the end of all turns')
    return this.#older?.difference(this.address, timeoutMs / 3)
  }

  /** Ends the links of all clients. */
  cut(): void {
    for (const client of this.#all) client.cut()
  }

  judgeRun(stored: Stored): void {
    for (const client of this.#all) client.flush()
    for (const { version, returns } of this.#older?.clients ?? [])
      this.tally.outcome(`returns of a client of ${version}`, returns)
    writeStored(this.folder, stored)
    this.tally.judged(this.folder, judge(readRun(this.folder)))
  }

  async cleanUp(): Promise<void> {
    for (const client of this.#all) {
      client.cut()
      client.flush()
    }
    await this.#host?.kill()
    rmSync(this.data, { recursive: true, force: true })
  }

  get #all(): readonly (Client | OlderClient)[] {
    return [...this.clients, ...(this.#older?.clients ?? [])]
  }

  /** Waits for an event that must happen. Rejects with its name if it does not. */
  withTimeout<T>(event: Promise<T>, what: string): Promise<T> {
    return expected(event, { what, timeoutMs, clients: this.#all, logs: () => [this.host.stderr] })
  }
}

/** Waits until all promises have settled, so that nothing goes on in the background. Then throws the first error. */
async function all(event: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(event)
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

interface Cast {
  readonly tally: Tally
  readonly name: string
  readonly chance: Chance
  readonly clients?: readonly string[]
  /** Whether clients of older protocol versions take part. */
  readonly older?: boolean
  readonly data?: string
}

/** Makes a trial for a task, and cleans up after it. */
export async function withTrial(cast: Cast, task: (trial: Trial) => Promise<void>): Promise<void> {
  const { tally, name, chance, clients = [], older = false, data } = cast
  const trial = new Trial(tally, name, chance, data)
  for (const id of clients) trial.client(id)
  if (older) trial.addOlderClients()
  try {
    await task(trial)
  } finally {
    await trial.cleanUp()
  }
}

export function newDataFolder(): string {
  return mkdtempSync(join(tmpdir(), 'atrium-chaos-'))
}
