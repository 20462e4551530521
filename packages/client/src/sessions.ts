import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Client } from './client.ts'
import { Listeners } from './shared/listeners.ts'

/** A change of one session: its new summary, or undefined if it is gone or not known. */
interface Change {
  readonly session: Uri
  readonly apply: (known: SessionSummary | undefined) => SessionSummary | undefined
}

/**
 * The sessions of one host. The list is fetched once for every link, and updated by notifications. Notifications that arrive
 * during a fetch are applied again to the fetched list.
 */
export class SessionList {
  readonly #client: Client
  readonly #undo: readonly (() => void)[]
  readonly #changes = new Listeners<[]>(() => {})
  #items = new Map<Uri, SessionSummary>()
  /** The items in their order. A change moves one of them; nothing else is sorted again. */
  #sorted: readonly SessionSummary[] = []
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
        this.#changed({ session: summary.resource, apply: () => summary }),
      ),
      client.on('root/sessionRemoved', ({ session }) => this.#changed({ session, apply: () => undefined })),
      client.on('root/sessionSummaryChanged', ({ session, changes }) =>
        // `changes` never holds a key with the value undefined, but the compiler cannot know this: hence the cast.
        this.#changed({
          session,
          apply: (known) => known && withListedDefault({ ...known, ...changes } as SessionSummary),
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

  /** The sessions, last modified first. The same array until something changes. */
  get items(): readonly SessionSummary[] {
    return this.#sorted
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
    for (const { session, apply } of this.#changesSinceFetch.splice(0)) put(items, session, apply)
    this.#items = items
    this.#sorted = [...items.values()].toSorted((a, b) => (isNewer(b, a) ? 1 : -1))
    this.#listed = true
    this.#changes.notify()
  }

  #changed(change: Change): void {
    this.#changesSinceFetch.push(change)
    const { session, apply } = change
    const before = this.#items.get(session)
    const now = put(this.#items, session, apply)
    if (before === now) return
    const others = this.#sorted.filter((item) => item !== before)
    const place = others.findIndex((item) => now && !isNewer(item, now))
    this.#sorted = now ? others.toSpliced(place < 0 ? others.length : place, 0, now) : others
    this.#changes.notify()
  }
}

function put(
  items: Map<Uri, SessionSummary>,
  session: Uri,
  apply: Change['apply'],
): SessionSummary | undefined {
  const now = apply(items.get(session))
  if (now) items.set(session, now)
  else items.delete(session)
  return now
}

function isNewer(one: SessionSummary, other: SessionSummary): boolean {
  return one.modifiedAt > other.modifiedAt
}

/** Changes cannot say that a session has no default chat any more: then its chats do not list it. */
function withListedDefault({ defaultChat, ...summary }: SessionSummary): SessionSummary {
  const isListed = summary.chats?.some(({ resource }) => resource === defaultChat) ?? true
  return defaultChat !== undefined && isListed ? { ...summary, defaultChat } : summary
}
