import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Catalog } from './catalog.ts'
import type { Log } from '../log/log.ts'
import type { World } from '../ports/world.ts'

/** The pending notification about one session: it is new, or these fields have changed since the last one. */
type Change = 'added' | Partial<SessionSummary>

/** Pause between two notifications, in milliseconds, in which changes are collected. */
const pauseMs = 100

/** Notifies the subscribers of the root about changes of the session list, and collects changes that follow quickly. */
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
    const pending = this.#changes.get(session)
    if (pending === 'added') return
    this.#changes.set(session, { ...pending, ...changes })
    this.#schedule()
  }

  removed(session: Uri): void {
    this.#changes.delete(session)
    this.#notify('root/sessionRemoved', { session })
  }

  /** Never synchronous: the notification must follow the response of the command that caused it. */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#world.later(this.#paused ? pauseMs : 0, () => this.#deliver())
  }

  #deliver(): void {
    this.#scheduled = false
    this.#paused = this.#changes.size > 0
    if (!this.#paused) return
    const pending = [...this.#changes]
    this.#changes.clear()
    for (const [session, item] of pending) {
      const summary = this.#catalog.get(session)
      if (item !== 'added')
        this.#notify('root/sessionSummaryChanged', { session, changes: deliverable(item) })
      else if (summary) this.#notify('root/sessionAdded', { summary })
    }
    this.#schedule()
  }

  #notify(method: string, params: object): void {
    const message = { channel: rootUri, ...params }
    for (const listener of this.#log.channel(rootUri)?.listeners ?? []) listener.notify(method, message)
  }
}

/** A change cannot remove a key, so an activity that ended is sent as an empty one. Other removed keys are not sent. */
function deliverable(changes: Partial<SessionSummary>): object {
  return 'activity' in changes ? { ...changes, activity: changes.activity ?? '' } : changes
}
