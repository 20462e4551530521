import type { Uri } from '@atrium/protocol/channel'
import type { SessionSummary } from '@atrium/protocol/session/state'
import { rootUri } from '@atrium/protocol/uri'
import type { Catalog } from './catalog.ts'
import type { Listener } from '../kernel/log/entry.ts'
import type { Log } from '../kernel/log/log.ts'
import type { World } from '../ports/world.ts'
import type { ListChanges } from './session-list/list-changes.ts'
import { defineKey } from '../kernel/key.ts'

/** The pending notification about one session: the session is new, or these fields have changed since the last notification. */
type Change = 'added' | Partial<SessionSummary>

/** The pause between two rounds of notifications, in milliseconds. Changes during the pause are collected. */
const pauseMs = 100

/** Notifies the subscribers of the root channel about changes of the session list. Changes in quick succession are collected. */
export class SessionFeed {
  readonly #log: Log
  readonly #world: World
  readonly #catalog: Catalog
  readonly #listChanges: ListChanges
  readonly #changes = new Map<Uri, Change>()
  /**
   * The pending notifications about the files that sessions have changed. Only in AHP 0.1 the session list has these
   * files.
   */
  readonly #diffs = new Map<Uri, readonly unknown[]>()
  /** The clients that are notified without a subscription to the root channel, as in 0.1. */
  readonly followers = new Set<Listener>()
  #scheduled = false
  #paused = false

  constructor(log: Log, world: World, catalog: Catalog, listChanges: ListChanges) {
    this.#log = log
    this.#world = world
    this.#catalog = catalog
    this.#listChanges = listChanges
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

  /** Collects a notification about the files that a session has changed, in the form of AHP 0.1. */
  diffsChanged(session: Uri, diffs: readonly unknown[]): void {
    this.#diffs.set(session, diffs)
    this.#schedule()
  }

  removed(session: Uri): void {
    this.#changes.delete(session)
    this.#diffs.delete(session)
    this.#notify('root/sessionRemoved', { session })
  }

  /**
   * Tells a client that comes back what has changed in the session list since a sequence number, if the client is
   * notified of changes of the list at all.
   */
  catchUp(listener: Listener, seq: number): void {
    if (!this.#listeners.has(listener)) return
    const { added, changed, removed } = this.#listChanges.since(seq, this.#log.committedSeq)
    for (const session of removed) this.#send([listener], 'root/sessionRemoved', { session })
    for (const [uris, isNew] of [
      [added, true],
      [changed, false],
    ] as const)
      for (const session of uris) {
        const summary = this.#catalog.get(session)
        if (!summary || this.#catalog.isUnlisted(session)) continue
        if (isNew) this.#send([listener], 'root/sessionAdded', { summary })
        else this.#send([listener], 'root/sessionSummaryChanged', { session, changes: changeable(summary) })
      }
  }

  /**
   * Schedules the notifications. They are never sent at once: they must follow the response of the command that caused the
   * change.
   */
  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    this.#world.later(this.#paused ? pauseMs : 0, () => this.#deliver())
  }

  #deliver(): void {
    this.#scheduled = false
    this.#paused = this.#changes.size > 0 || this.#diffs.size > 0
    if (!this.#paused) return
    const pending = [...this.#changes]
    this.#changes.clear()
    const pendingDiffs = [...this.#diffs]
    this.#diffs.clear()
    for (const [session, item] of pending) {
      const summary = this.#catalog.get(session)
      if (item !== 'added')
        this.#notify('root/sessionSummaryChanged', { session, changes: deliverable(item) })
      else if (summary) this.#notify('root/sessionAdded', { summary })
    }
    for (const [session, diffs] of pendingDiffs)
      if (this.#catalog.get(session) && !this.#catalog.isUnlisted(session))
        this.#send(this.followers, 'root/sessionSummaryChanged', { session, changes: { diffs } })
    this.#schedule()
  }

  #notify(method: string, params: object): void {
    this.#send(this.#listeners, method, params)
  }

  get #listeners(): ReadonlySet<Listener> {
    const subscribed = this.#log.channel(rootUri)?.listeners ?? new Set()
    return this.followers.size === 0 ? subscribed : new Set([...subscribed, ...this.followers])
  }

  #send(listeners: Iterable<Listener>, method: string, params: object): void {
    const message = { channel: rootUri, ...params }
    for (const listener of listeners) listener.notify(method, message)
  }
}

/**
 * Converts changes to the form in which they are sent. A notification cannot remove a field, so an ended activity is
 * sent as an empty text. Other removed fields are not sent.
 */
function deliverable(changes: Partial<SessionSummary>): object {
  return 'activity' in changes ? { ...changes, activity: changes.activity ?? '' } : changes
}

/** All fields of an entry that can change. */
function changeable({
  resource: _resource,
  provider: _provider,
  createdAt: _createdAt,
  ...fields
}: SessionSummary): object {
  return { activity: '', ...fields }
}

export const sessionFeedOf = defineKey<SessionFeed>('session feed')
