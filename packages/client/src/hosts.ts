import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import type { Client } from './client.ts'
import { Listeners } from './shared/listeners.ts'
import type { LinkStatus } from './link/reconnect.ts'
import { SessionList } from './sessions.ts'

/** A session with the name of its host: two hosts may use the same URI. */
export interface HostedSession extends SessionSummary {
  readonly host: string
}

/** Several hosts with one session list. Each host has its own link. */
export class Hosts {
  readonly #hosts = new Map<
    string,
    { readonly client: Client; readonly list: SessionList; readonly end: () => void }
  >()
  readonly #changes = new Listeners<[]>(() => {})
  /** The entries with the names of their hosts. A summary that has not changed keeps its entry. */
  #hosted = new WeakMap<SessionSummary, HostedSession>()

  /** Adds a host. A host with the same name is removed first; its client is not closed, which is left to the caller. */
  add(name: string, client: Client): void {
    this.remove(name)
    const list = new SessionList(client)
    const undo = [list.onChange(() => this.#changes.notify()), client.onLink(() => this.#changes.notify())]
    const end = () => {
      for (const each of undo) each()
      list.release()
    }
    this.#hosts.set(name, { client, list, end })
    this.#changes.notify()
  }

  remove(name: string): void {
    this.#hosts.get(name)?.end()
    if (this.#hosts.delete(name)) this.#changes.notify()
  }

  client(name: string): Client | undefined {
    return this.#hosts.get(name)?.client
  }

  get links(): ReadonlyMap<string, LinkStatus> {
    return new Map([...this.#hosts].map(([name, { client }]) => [name, client.link]))
  }

  /** The sessions of all hosts, last modified first. A disconnected host's sessions stay in the list. */
  get sessions(): readonly HostedSession[] {
    const lists = [...this.#hosts].map(([host, { list }]) =>
      list.items.map((session) => this.#named(session, host)),
    )
    const [only = [], ...others] = lists
    if (others.length === 0) return only
    return lists.flat().toSorted((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1))
  }

  #named(session: SessionSummary, host: string): HostedSession {
    const known = this.#hosted.get(session)
    if (known) return known
    const named = { ...session, host }
    this.#hosted.set(session, named)
    return named
  }

  find(uri: Uri): readonly HostedSession[] {
    return this.sessions.filter(({ resource }) => resource === uri)
  }

  onChange(listener: () => void): () => void {
    return this.#changes.add(listener)
  }
}
