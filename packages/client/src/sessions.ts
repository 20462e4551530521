import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Client } from './client.ts'
import { Listeners } from './shared/listeners.ts'

/**
 * The sessions of one host, kept true: listed once for every link, changed by what the host tells in between. What is told
 * while the list is on its way is done to it again when it is there.
 */
export class SessionList {
  readonly #client: Client
  readonly #undo: readonly (() => void)[]
  readonly #changes = new Listeners<[]>(() => {})
  #items: ReadonlyMap<Uri, SessionSummary> = new Map()
  #told: ((items: Map<Uri, SessionSummary>) => void)[] = []
  #listed = false
  #round = 0

  constructor(client: Client) {
    this.#client = client
    // A host tells those who follow the root.
    const root = client.subscribe('root', rootUri)
    this.#undo = [
      () => root.release(),
      client.on('root/sessionAdded', ({ summary }) =>
        this.#tell((items) => items.set(summary.resource, summary)),
      ),
      client.on('root/sessionRemoved', ({ session }) => this.#tell((items) => items.delete(session))),
      client.on('root/sessionSummaryChanged', ({ session, changes }) =>
        this.#tell((items) => {
          const known = items.get(session)
          if (known) items.set(session, { ...known, ...changes } as SessionSummary)
        }),
      ),
      client.onLink(({ state }) => void (state === 'live' && this.#list())),
    ]
    if (client.link.state === 'live') void this.#list()
  }

  /** Whether there was a list; an empty one is one. */
  get listed(): boolean {
    return this.#listed
  }

  /** Those that changed last come first. */
  get items(): readonly SessionSummary[] {
    return [...this.#items.values()].toSorted((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1))
  }

  onChange(listener: () => void): () => void {
    return this.#changes.add(listener)
  }

  release(): void {
    for (const undo of this.#undo) undo()
    this.#round++
  }

  async #list(): Promise<void> {
    const round = ++this.#round
    this.#told = []
    const items = new Map<Uri, SessionSummary>()
    try {
      let cursor: string | undefined
      do {
        const page = await this.#client.ask('listSessions', cursor === undefined ? {} : { cursor })
        for (const summary of page.items) items.set(summary.resource, summary)
        cursor = page.nextCursor
      } while (cursor !== undefined && round === this.#round)
    } catch {
      // The link ended, and the next one lists again; or the host cannot, and what it tells is all there is.
      return
    }
    if (round !== this.#round) return
    for (const change of this.#told.splice(0)) change(items)
    this.#items = items
    this.#listed = true
    this.#changes.notify()
  }

  #tell(change: (items: Map<Uri, SessionSummary>) => void): void {
    this.#told.push(change)
    const items = new Map(this.#items)
    change(items)
    this.#items = items
    this.#changes.notify()
  }
}
