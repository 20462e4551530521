import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatState } from '@atrium/protocol/chat/state'
import { defaultChatUri } from '@atrium/protocol/uri'
import type { Chance } from '../chance.ts'
import { Client, LinkLost } from './client.ts'
import type { Address } from './client.ts'
import { readRun, writeStored } from './history.ts'
import type { Stored } from './history.ts'
import { HostProcess } from './host.ts'
import type { HostOptions } from './host.ts'
import { judge } from './judge/judge.ts'
import { Sessions, work } from './load.ts'
import { readStored } from './stored.ts'
import type { Tally } from './tally.ts'

/** Longer than this nothing may take that has to happen: then it never will. */
const patience = 30_000

interface Ending {
  /** When the disk was last made to lose something. */
  readonly torn?: number
  /** How the store got its version, where that is not the newest of this build. */
  readonly migrations?: readonly string[]
}

/** One data folder through many lives, the clients that live with it, and what they wrote down. */
export class Trial {
  /** Where the histories are. */
  readonly folder: string
  readonly data: string
  readonly chance: Chance
  readonly clients: Client[] = []
  readonly sessions = new Sessions()
  readonly tally: Tally
  #host: HostProcess | undefined
  #address: Address | undefined

  constructor(tally: Tally, name: string, chance: Chance, data = newData()) {
    this.tally = tally
    this.folder = join(tally.folder, name)
    mkdirSync(this.folder, { recursive: true })
    this.data = data
    this.chance = chance
  }

  get host(): HostProcess {
    if (!this.#host) throw new Error('no life has begun')
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

  /** A client that has seen the end of all it sent, and does not come back. What it saw still counts. */
  retire(client: Client): void {
    client.cut()
    client.flush()
    this.clients.splice(this.clients.indexOf(client), 1)
  }

  /** Begins a life. False when it ended before it listened. */
  async begin(options: HostOptions = {}): Promise<boolean> {
    this.#host = new HostProcess(this.data, options)
    this.#address = await this.soon(this.#host.ready, 'starting the host')
    return this.#address !== undefined
  }

  /** All clients open their links and see everything they ever sent come to an end. */
  async converge(address: () => Address = () => this.address): Promise<void> {
    const back = async (client: Client): Promise<void> => {
      if (!client.open) await client.come(address())
      await client.settle()
    }
    await this.soon(all(this.clients.map(back)), 'clients coming back')
  }

  /** Clients come back and work, each so many steps. True when the host ended meanwhile. */
  async live(steps?: number): Promise<boolean> {
    try {
      await this.converge()
      await this.work(steps)
    } catch (error) {
      if (!(error instanceof LinkLost)) throw error
    }
    // Links end a moment before their process is known to have.
    const ended = this.clients.some((client) => !client.open)
    if (ended) await this.soon(this.host.exit, 'the host’s end')
    return ended
  }

  /** All clients at work, each until its link ends or it has done so many steps. */
  async work(steps?: number, address: () => Address = () => this.address): Promise<void> {
    const working = this.clients.map((client) =>
      work(client, this.sessions, this.chance.branch(), address, steps),
    )
    await this.soon(all(working), 'the load')
  }

  /** A last quiet life in which all that was said comes to an end and a stranger looks at everything; then the verdict. */
  async finish(options: HostOptions & Ending = {}): Promise<void> {
    if (!(await this.begin(options))) throw new Error(`the host does not start: ${this.host.said}`)
    await this.converge()
    const stranger = this.client(`stranger-${this.clients.length}`)
    await stranger.come(this.address)
    for (const uri of this.sessions.live) await stranger.subscribe(uri)
    await this.soon(this.#rest(stranger), 'the end of all turns')
    for (const client of this.clients) client.cut()
    this.host.signal('SIGTERM')
    const { code } = await this.soon(this.host.exit, 'stopping the host')
    if (code !== 0) throw new Error(`the host did not stop well: ${this.host.said}`)
    const stored = await readStored(this.data, this.sessions.live, options.migrations)
    this.verdict({ ...stored, rested: true, ...(options.torn !== undefined && { torn: options.torn }) })
  }

  /** Until no chat has a turn that goes on: looked at again and again, for a client folds nothing. */
  async #rest(stranger: Client): Promise<void> {
    const chats = this.sessions.live.map(defaultChatUri)
    for (const chat of chats)
      for (;;) {
        await stranger.subscribe(chat)
        const { activeTurn } = (stranger.shown.get(chat) ?? {}) as Partial<ChatState>
        if (!activeTurn) break
        await sleep(100)
      }
  }

  verdict(stored: Stored): void {
    for (const client of this.clients) client.flush()
    writeStored(this.folder, stored)
    this.tally.judged(this.folder, judge(readRun(this.folder)))
  }

  async end(): Promise<void> {
    for (const client of this.clients) {
      client.cut()
      client.flush()
    }
    await this.#host?.kill()
    rmSync(this.data, { recursive: true, force: true })
  }

  /** A thing that must happen, and an error that names it if it does not. */
  async soon<T>(happening: Promise<T>, what: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const never = new Promise<never>((_, reject) => {
      const give = (): void => {
        const waits = this.clients.map((client) => client.waits)
        reject(new Error([`never came to an end: ${what}`, ...waits, this.host.said].join('\n')))
      }
      timer = setTimeout(give, patience)
    })
    return Promise.race([happening, never]).finally(() => clearTimeout(timer))
  }
}

/** Resolves when all have come to an end, so that nobody goes on behind our back. */
async function all(happening: readonly Promise<void>[]): Promise<void> {
  const ends = await Promise.allSettled(happening)
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

export function newData(): string {
  return mkdtempSync(join(tmpdir(), 'atrium-chaos-'))
}
