import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Client } from './client.ts'
import { Listeners } from './shared/listeners.ts'

type Change = (items: Map<Uri, SessionSummary>) => void

/**
 * The sessions of one host. The list is fetched once for every link, and updated by notifications. Notifications that arrive
 * during a fetch are applied again to the fetched list.
 */
export class SessionList {
  readonly #client: Client
  readonly #undo: readonly (() => void)[]
  readonly #changes = new Listeners<[]>(() => {})
  #items: ReadonlyMap<Uri, SessionSummary> = new Map()
  /** The changes that notifications have brought since the last fetch began. */
  #changesSinceFetch: Change[] = []
  #listed = false
  #fetches = 0

  constructor(client: Client) {
    this.#client = client
    // Only subscribers of the root channel are notified about sessions.
    const root = client.subscribe('root', rootUri)
    this.#undo = [
      () => root.release(),
      client.on('root/sessionAdded', ({ summary }) =>
        this.#apply((items) => items.set(summary.resource, summary)),
      ),
      client.on('root/sessionRemoved', ({ session }) => this.#apply((items) => items.delete(session))),
      client.on('root/sessionSummaryChanged', ({ session, changes }) =>
        this.#apply((items) => {
          const known = items.get(session)
          // `changes` never holds a key with the value undefined, but the compiler cannot know this: hence the cast.
          if (known) items.set(session, withListedDefault({ ...known, ...changes } as SessionSummary))
        }),
      ),
      client.onLink(({ state }) => void (state === 'live' && this.#fetch())),
    ]
    if (client.link.state === 'live') void this.#fetch()
  }

  /** Whether the list has been fetched at least once. */
  get listed(): boolean {
    return this.#listed
  }

  /** The sessions, last modified first. */
  get items(): readonly SessionSummary[] {
    return [...this.#items.values()].toSorted((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1))
  }

  onChange(listener: () => void): () => void {
    return this.#changes.add(listener)
  }

  release(): void {
    for (const undo of this.#undo) undo()
    this.#fetches++
  }

  async #fetch(): Promise<void> {
    const fetch = ++this.#fetches
    this.#changesSinceFetch = []
    const items = new Map<Uri, SessionSummary>()
    try {
      let cursor: string | undefined
      do {
        const page = await this.#client.ask('listSessions', cursor === undefined ? {} : { cursor })
        for (const summary of page.items) items.set(summary.resource, summary)
        cursor = page.nextCursor
      } while (cursor !== undefined && fetch === this.#fetches)
    } catch {
      // Either the link was lost, and the list is fetched again over the next link. Or the host does not support
      // `listSessions`, and its notifications alone fill the list.
      return
    }
    if (fetch !== this.#fetches) return
    for (const change of this.#changesSinceFetch.splice(0)) change(items)
    this.#items = items
    this.#listed = true
    this.#changes.notify()
  }

  #apply(change: Change): void {
    this.#changesSinceFetch.push(change)
    const items = new Map(this.#items)
    change(items)
    this.#items = items
    this.#changes.notify()
  }
}

/** Changes cannot say that a session has no default chat any more: then its chats do not list it. */
function withListedDefault({ defaultChat, ...summary }: SessionSummary): SessionSummary {
  const isListed = summary.chats?.some(({ resource }) => resource === defaultChat) ?? true
  return defaultChat !== undefined && isListed ? { ...summary, defaultChat } : summary
}
