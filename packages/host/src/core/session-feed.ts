import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Catalog } from './catalog.ts'
import type { Log } from '../log/log.ts'
import type { World } from '../ports/world.ts'

/** What is said of one session's entry: that it is new, or what has changed of it since that was last said. */
type Change = 'added' | Partial<SessionSummary>

/** After something was said, what follows waits so long, in milliseconds, for more of it. */
const pauseMs = 100

/** What happens in the session list, as whoever is subscribed to the root hears it: soon, and not more often than it helps. */
export class SessionFeed {
  readonly #log: Log
  readonly #world: World
  readonly #catalog: Catalog
  readonly #changes = new Map<Uri, Change>()
  #scheduled = false
  #paused = false

  constructor(log: Log, world: World, catalog: Catalog) {
    this.#log = log
    this.#world = world
    this.#catalog = catalog
  }

  added(session: Uri): void {
    this.#changes.set(session, 'added')
    this.#schedule()
  }

  changed(session: Uri, changes: Partial<SessionSummary>): void {
    const news = this.#changes.get(session)
    if (news === 'added') return
    this.#changes.set(session, { ...news, ...changes })
    this.#schedule()
  }

  removed(session: Uri): void {
    this.#changes.delete(session)
    this.#notify('root/sessionRemoved', { session })
  }

  /** Never at once: what is said of a session comes after the answer that it was asked for with. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#world.later(this.#paused ? pauseMs : 0, () => this.#deliver())
  }

  #deliver(): void {
    this.#scheduled = false
    this.#paused = this.#changes.size > 0
    if (!this.#paused) return
    const news = [...this.#changes]
    this.#changes.clear()
    for (const [session, item] of news) {
      const summary = this.#catalog.get(session)
      if (item !== 'added')
        this.#notify('root/sessionSummaryChanged', { session, changes: deliverable(item) })
      else if (summary) this.#notify('root/sessionAdded', { summary })
    }
    this.#schedule()
  }

  #notify(method: string, params: object): void {
    const said = { channel: rootUri, ...params }
    for (const listener of this.#log.channel(rootUri)?.listeners ?? []) listener.notify(method, said)
  }
}

/** A change cannot take a key away: an activity that ended is said as none. What else may go away is not said. */
function deliverable(changes: Partial<SessionSummary>): object {
  return 'activity' in changes ? { ...changes, activity: changes.activity ?? '' } : changes
}
