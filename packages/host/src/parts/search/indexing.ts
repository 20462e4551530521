import type { Action, Uri } from '@atrium/protocol/channel'
import type { ChatSummary } from '@atrium/protocol/chat/state'
import type { LimitValues } from '@atrium/protocol/limits'
import type { Catalog } from '../../catalog/catalog.ts'
import type { ListChanges } from '../../catalog/session-list/list-changes.ts'
import type { Channel } from '../../kernel/log/channel.ts'
import { DiskFull } from '../../ports/log.ts'
import type { Records } from '../../ports/records.ts'
import { IndexDamaged } from '../../ports/search-index.ts'
import type { SearchIndex } from '../../ports/search-index.ts'
import type { World } from '../../ports/world.ts'
import type { TurnSource } from './chat-turns.ts'
import { PendingChanges } from './pending-changes.ts'
import { changesOf, isListed } from './session-changes.ts'

/** The delay from a change to its indexing, in milliseconds. Changes that come meanwhile are indexed together. */
const changeMs = 100
/** The delay from the start of the host to the first indexing, in milliseconds. Clients can reconnect first. */
const startMs = 5000
/**
 * The pause after the indexing of an outdated session, in milliseconds. A session is outdated if changes from before
 * this start of the host are not in the index yet, or if its indexing has failed.
 */
const pauseMs = 20
/** The delay before failed indexing is tried again, in milliseconds. */
const retryMs = 60_000

export interface IndexingParts extends TurnSource {
  readonly index: SearchIndex
  readonly catalog: Catalog
  readonly listChanges: ListChanges
  readonly records: Records
  readonly world: World
  readonly limits: LimitValues
  /** The runs of the host, by their first sequence number, whose index is trusted (`searchedEpochs`). */
  readonly trusted: readonly number[]
  /** Whether this is the first run of a host on the store. Then there is nothing to index until something changes. */
  readonly isNew: boolean
}

/**
 * Feeds the index in the background, after actions are committed: one session at a time, in slices. It remembers only
 * the ids of changed turns, and reads their texts when it indexes them. So a slow index holds up nothing and needs no
 * more memory.
 */
export class Indexing {
  readonly #parts: IndexingParts
  /** The sessions that have changed since they were indexed in this run of the host. */
  readonly #changed = new Map<Uri, PendingChanges>()
  /** The sessions that must be indexed whole: they changed before this run of the host, or their indexing failed. */
  readonly #outdated = new Set<Uri>()
  /** The sessions that the index has. Undefined until the index was asked. */
  #known: Set<Uri> | undefined
  /** The number of truncations of each session that are not committed yet. */
  readonly #truncating = new Map<Uri, number>()
  #cancelTimer: (() => void) | undefined
  /** The work under way. Never rejects. */
  #work: Promise<void> | undefined
  /** The last problem that was reported. The same one is not reported again. */
  #problem = ''
  #ended = false

  constructor(parts: IndexingParts) {
    this.#parts = parts
    if (!parts.isNew) this.#schedule(startMs)
  }

  /** The number of sessions that are not up to date in the index. */
  get waiting(): number {
    return this.#known ? new Set([...this.#changed.keys(), ...this.#outdated]).size : this.#listed().length
  }

  isWaiting(session: Uri): boolean {
    return !this.#known || this.#changed.has(session) || this.#outdated.has(session)
  }

  /**
   * Called in the step that truncates a chat of the session. Puts a record which says that removed turns must leave
   * the index. It becomes durable together with the truncation. After a crash only the record shows what is to be
   * done, because a truncation need not change the session list.
   */
  truncating(session: Uri): void {
    this.#parts.records.put(`${owedPrefix}${session}`, '')
    this.#truncating.set(session, (this.#truncating.get(session) ?? 0) + 1)
  }

  /** Notes what a committed action of a session or chat changes in the index, and schedules the indexing. */
  committed(channel: Channel, action: Action): void {
    if (channel.is('session')) {
      const pending = this.changed(channel.uri)
      const added = addedChat(action)
      if (added !== undefined) pending.wholeChat(added)
      return
    }
    const session = channel.is('chat') ? this.#parts.catalog.sessionOf(channel.uri) : undefined
    if (session === undefined) return
    const pending = this.#changed.get(session) ?? new PendingChanges()
    if (!pending.committed(channel.uri, action)) return
    if (action.type === 'chat/truncated') this.#truncated(session)
    this.#changed.set(session, pending)
    this.#schedule(changeMs)
  }

  /** Notes that a session has changed, or that it was disposed of. Returns its changes, for the caller to add to. */
  changed(session: Uri): PendingChanges {
    const pending = this.#changed.get(session) ?? new PendingChanges()
    this.#changed.set(session, pending)
    this.#schedule(changeMs)
    return pending
  }

  /** Reports that a search has found the index damaged, and rebuilds the index. */
  async damaged(error: IndexDamaged): Promise<void> {
    this.#parts.world.report('search index rebuilt', error.message)
    await this.rebuild()
  }

  /** Empties the index, and builds it again in the background. Rejects if the index cannot be emptied. */
  async rebuild(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    let cleared: Promise<number> | undefined
    await this.#exclusive(() => (cleared = this.#clear()))
    await cleared
    this.#schedule(0)
  }

  /** Ends the work after the change that is being written, and closes the index. */
  async close(): Promise<void> {
    this.#ended = true
    this.#cancelTimer?.()
    await this.#work
    await this.#parts.index.close()
  }

  #schedule(ms: number): void {
    if (this.#ended || this.#work) return
    this.#cancelTimer ??= this.#parts.world.later(ms, () => {
      this.#cancelTimer = undefined
      void this.#exclusive(() => this.#run())
    })
  }

  /** Runs work when the work before it has ended. */
  async #exclusive(work: () => Promise<number | undefined>): Promise<void> {
    while (this.#work) await this.#work
    const attempt = this.#attempt(work)
    this.#work = attempt.then(() => {})
    const pause = await attempt
    this.#work = undefined
    const more = this.#changed.size + this.#outdated.size > 0
    if (pause !== undefined || more) this.#schedule(pause ?? changeMs)
  }

  /**
   * Indexes all changed sessions, then at most one outdated session. Returns the pause before the next run, in
   * milliseconds; undefined if no session is outdated.
   */
  async #run(): Promise<number | undefined> {
    if (!this.#known) await this.#begin()
    // What changes meanwhile waits for the next time, so that a session that changes all the time is not indexed all the time.
    const changed = [...this.#changed]
    for (const [session, pending] of changed) {
      if (this.#ended) break
      this.#changed.delete(session)
      if (this.#outdated.has(session)) pending.everything = true
      await this.#indexSession(session, pending)
    }
    const [session] = this.#outdated
    if (session === undefined || this.#ended) return undefined
    const pending = new PendingChanges()
    pending.everything = true
    await this.#indexSession(session, pending)
    return pauseMs
  }

  async #begin(): Promise<void> {
    const { index, log, trusted, listChanges, records } = this.#parts
    const versions = await index.begin(log.first, trusted)
    const owed = await records.list(owedPrefix)
    this.#known = new Set(versions.keys())
    const listed = this.#listed()
    for (const session of listed)
      if (versions.get(session) !== listChanges.versionOf(session)) this.#outdated.add(session)
    const present = new Set(listed)
    for (const session of versions.keys()) if (!present.has(session)) this.#outdated.add(session)
    for (const [key] of owed) this.#outdated.add(key.slice(owedPrefix.length))
  }

  #listed(): readonly Uri[] {
    const { catalog } = this.#parts
    return catalog.all.map(({ resource }) => resource).filter((session) => isListed(catalog, session))
  }

  async #indexSession(session: Uri, pending: PendingChanges): Promise<void> {
    const { index, world, records, catalog } = this.#parts
    if (!this.#known?.has(session)) pending.everything = true
    try {
      for await (const change of changesOf(this.#parts, session, pending)) {
        if (this.#ended) throw new Error('the host is ending')
        await index.update(change)
        if (pending.everything) await new Promise<void>((resolve) => void world.later(0, resolve))
      }
    } catch (error) {
      // No change is lost: the whole session is indexed again later. It comes last then, so that it holds up no other.
      this.#outdated.delete(session)
      this.#outdated.add(session)
      throw error
    }
    this.#outdated.delete(session)
    if (isListed(catalog, session)) this.#known?.add(session)
    else this.#known?.delete(session)
    // The record of `truncating` is no longer needed, and the next step of the log deletes it. But it stays if the
    // session was truncated again meanwhile.
    const again = this.#truncating.has(session) || this.#changed.get(session)?.cut === true
    if ((pending.everything || pending.cut) && !again) records.delete(`${owedPrefix}${session}`)
  }

  #truncated(session: Uri): void {
    const others = (this.#truncating.get(session) ?? 1) - 1
    if (others > 0) this.#truncating.set(session, others)
    else this.#truncating.delete(session)
  }

  async #attempt(work: () => Promise<number | undefined>): Promise<number | undefined> {
    try {
      return await work()
    } catch (error) {
      if (this.#ended || error instanceof DiskFull) return retryMs
      if (!(error instanceof IndexDamaged)) {
        if (String(error) !== this.#problem) this.#parts.world.report('indexing failed', error)
        this.#problem = String(error)
        return retryMs
      }
      this.#parts.world.report('search index rebuilt', error.message)
      return this.#clear().catch(() => retryMs)
    }
  }

  /** Empties the index, so that the next run indexes all sessions. Returns the pause before that run: 0 ms. */
  async #clear(): Promise<number> {
    // A failed `clear` may have removed a part of the index. So the next run reads from the index which sessions it
    // has, and indexes the others.
    this.#known = undefined
    await this.#parts.index.clear()
    this.#outdated.clear()
    return 0
  }
}

/**
 * The chat that an action adds to a session; undefined for other actions. The chat may already have turns: it may be
 * a copy, or may come from another session.
 */
function addedChat(action: Action & { readonly summary?: unknown }): Uri | undefined {
  if (action.type !== 'session/chatAdded') return undefined
  // The action is committed, so a reducer has taken it: it has a summary.
  return (action.summary as ChatSummary).resource
}

/** The key prefix of the records that name sessions with truncated turns which may still be in the index. */
const owedPrefix = 'unsearched/'
