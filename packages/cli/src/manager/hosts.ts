import { hostname } from 'node:os'
import { Hosts } from '@atrium/client/hosts'
import type { Client } from '@atrium/client/client'
import { connect } from '../link/connect.ts'
import type { HostOptions } from '../link/connect.ts'
import { sentenceOf } from '../terminal/exit.ts'

/** The hosts whose sessions the manager shows, each by its name, with the options that a command needs to reach it. */
export class ManagedHosts {
  readonly hosts = new Hosts()
  readonly #options = new Map<string, HostOptions>()
  /** What is wrong with the hosts that could not be reached. */
  readonly problems: string[] = []

  /** Connects to the first host, which must answer, and to the others, which may be away. */
  async open(first: HostOptions, also: readonly string[]): Promise<void> {
    this.#add(first, await connect(first))
    const others = also.map(async (host) => {
      const options = { host }
      try {
        this.#add(options, await connect(options))
      } catch (error) {
        this.problems.push(sentenceOf(error))
      }
    })
    await Promise.all(others)
  }

  get several(): boolean {
    return this.#options.size > 1
  }

  options(host: string): HostOptions {
    return this.#options.get(host) ?? {}
  }

  /** The name of the first host. */
  get first(): string {
    return [...this.#options.keys()][0] ?? ''
  }

  /** The hosts that are away at the moment. */
  get away(): readonly string[] {
    return [...this.hosts.links].flatMap(([name, { state }]) => (state === 'live' ? [] : [name]))
  }

  close(): void {
    for (const name of this.#options.keys()) this.hosts.client(name)?.close()
  }

  #add(options: HostOptions, client: Client): void {
    const name = options.host === undefined ? hostname() : new URL(options.host).host
    this.#options.set(name, options)
    this.hosts.add(name, client)
  }
}
