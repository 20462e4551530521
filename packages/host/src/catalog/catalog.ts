import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { limits } from '@atrium/protocol/limits'
import type { AnnotationsSummary, SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { firstChat } from './uris.ts'
import { ChatIndex } from './chat-index.ts'
import type { LogStore } from '../ports/log.ts'
import type { ListChanges } from './session-list/list-changes.ts'
import { prefix, storedList } from './session-list/stored-list.ts'
import { RecordMap, textFormat } from '../kernel/record-map.ts'
import type { StepRecords } from '../kernel/log/step-records.ts'
import { changedFields, summaryOf } from './summary.ts'
import { defineKey } from '../kernel/key.ts'

const defaultPage = 100

/**
 * The session list, kept in memory and in the records. The list changes in the same transaction as the state that it
 * describes. A session that was created in advance is announced when it is first used. Before that the catalog knows the
 * session but does not list it.
 */
export class Catalog {
  readonly #records: StepRecords
  readonly #listChanges: ListChanges
  readonly #sessions = new Map<Uri, SessionSummary>()
  /** The creator of each session that is not announced yet. */
  readonly #unannounced: RecordMap<string>
  /** Sessions whose announcement is appended and not committed. */
  readonly #adding = new Set<Uri>()
  /** Sessions whose deletion is appended and not committed, with their last entries. */
  readonly #removing = new Map<Uri, SessionSummary>()
  /** The sessions that a client has given a title. Only the keys matter. */
  readonly #titled: RecordMap<string>
  /** The counts of the annotations of each session, including uncommitted actions. The entries have the committed counts. */
  readonly #annotations = new Map<Uri, AnnotationsSummary>()
  readonly chatIndex = new ChatIndex()
  /** The sessions that are not listed, because their entries and their logs are damaged. */
  lacking: readonly Uri[] = []
  /** All listed sessions, newest first. Undefined after a change, until a reader needs it. */
  #order: readonly Position[] | undefined
  /** The directories of all sessions. A change sets it to undefined; the next reader computes it again. */
  #directories: ReadonlySet<Uri> | undefined

  private constructor(
    records: StepRecords,
    listChanges: ListChanges,
    unannounced: RecordMap<string>,
    titled: RecordMap<string>,
  ) {
    this.#records = records
    this.#listChanges = listChanges
    this.#unannounced = unannounced
    this.#titled = titled
  }

  static async open(records: StepRecords, listChanges: ListChanges, log: StoredLog): Promise<Catalog> {
    const unannounced = await RecordMap.open(records, 'quiet/', textFormat)
    const titled = await RecordMap.open(records, 'titled/', textFormat)
    const catalog = new Catalog(records, listChanges, unannounced, titled)
    const { entries, lacking } = await storedList(records, log.store, log.first)
    for (const { summary, numbers, state } of entries) {
      catalog.#sessions.set(summary.resource, summary)
      listChanges.load(summary.resource, numbers)
      if (summary.annotations) catalog.#annotations.set(summary.resource, summary.annotations)
      if (summary.chats) catalog.chatIndex.load(summary)
      if (state) catalog.save(summary.resource, state)
    }
    catalog.lacking = lacking
    for (const [uri, creator] of unannounced.entries()) {
      if (catalog.#sessions.has(uri)) continue
      records.setAside(`quiet/${uri}`, creator)
      unannounced.delete(uri)
    }
    return catalog
  }

  /** The number of sessions, announced or not. */
  get size(): number {
    return this.#sessions.size
  }

  /** The number of announced sessions. */
  get announced(): number {
    return this.#sessions.size - this.#unannounced.size
  }

  get(uri: Uri): SessionSummary | undefined {
    return this.#sessions.get(uri)
  }

  /** The directories that sessions work in. */
  get directories(): ReadonlySet<Uri> {
    this.#directories ??= new Set(this.all.flatMap(({ workingDirectories = [] }) => workingDirectories))
    return this.#directories
  }

  /** The entries of all sessions, announced or not. */
  get all(): readonly SessionSummary[] {
    return [...this.#sessions.values()]
  }

  /** All sessions and their chats. */
  get channels(): readonly Uri[] {
    return [...this.#sessions.values()].flatMap(({ resource, chats = [] }) => [
      resource,
      ...chats.map((chat) => chat.resource),
    ])
  }

  sessionOf(chat: Uri): Uri | undefined {
    return this.chatIndex.of(chat)
  }

  /** Returns the default chat of a session for the alias `<session>/chat`. Some clients make up this alias. */
  defaultChatNamed(name: Uri): Uri | undefined {
    const session = name.endsWith(chatSuffix) ? name.slice(0, -chatSuffix.length) : undefined
    const entry = session === undefined ? undefined : this.#sessions.get(session)
    return session === undefined || !entry ? undefined : firstChat(session, entry)
  }

  /** Returns the client that created a session, if the session is not announced yet. */
  creatorOf(uri: Uri): string | undefined {
    return this.#unannounced.get(uri)
  }

  /** Returns whether the entry of the session was sent to no client yet. */
  isUnlisted(uri: Uri): boolean {
    return this.#adding.has(uri) || this.#unannounced.has(uri)
  }

  add(uri: Uri, createdAt: string, state: SessionState, creator: string): void {
    this.#unannounced.set(uri, creator)
    this.#sessions.set(uri, summaryOf(uri, createdAt, state))
    this.#directories = undefined
    this.save(uri, state)
  }

  /** Records that a client has given the session a title. From then on agents must not change the title. */
  titleSet(uri: Uri): void {
    if (!this.#titled.has(uri)) this.#titled.set(uri, '')
  }

  hasTitle(uri: Uri): boolean {
    return this.#titled.has(uri)
  }

  announce(uri: Uri): void {
    this.#unannounced.delete(uri)
    this.#adding.add(uri)
  }

  delete(uri: Uri): void {
    this.#order = undefined
    this.#directories = undefined
    const summary = this.#sessions.get(uri)
    if (summary && !this.isUnlisted(uri)) this.#removing.set(uri, summary)
    // The index keeps a chat that has moved to another session, even if the move is not committed yet.
    for (const { resource } of summary?.chats ?? []) this.chatIndex.forget(resource, uri)
    this.#sessions.delete(uri)
    this.#unannounced.delete(uri)
    this.#titled.delete(uri)
    this.#annotations.delete(uri)
    this.#records.delete(`${prefix}${uri}`)
  }

  /** Completes the announcement or the deletion of a session. Call it once either is committed. */
  listCommitted(uri: Uri): void {
    this.#order = undefined
    this.#adding.delete(uri)
    if (!this.#sessions.has(uri)) this.#removing.delete(uri)
  }

  /**
   * Updates a session's entry to the session's committed state, and to the committed counts of its annotations. Returns the
   * changes that clients must be sent, if any.
   */
  update(
    uri: Uri,
    state: SessionState,
    annotations = this.#sessions.get(uri)?.annotations,
  ): Partial<SessionSummary> | undefined {
    const before = this.#sessions.get(uri)
    if (!before) return undefined
    const after = withAnnotations(summaryOf(uri, before.createdAt, state), annotations)
    const changed = changedFields(before, after)
    if (changed.length === 0) return undefined
    if (after.modifiedAt !== before.modifiedAt) this.#order = undefined
    if (changed.includes('workingDirectories')) this.#directories = undefined
    this.#sessions.set(uri, after)
    return this.isUnlisted(uri) ? undefined : Object.fromEntries(changed.map((key) => [key, after[key]]))
  }

  /**
   * Stores the sequence numbers of a session's changes, followed by the session's entry for `state`, in the
   * transaction that made this state.
   */
  save(uri: Uri, state: SessionState): void {
    const before = this.#sessions.get(uri)
    if (!before) return
    const after = () => withAnnotations(summaryOf(uri, before.createdAt, state), this.#annotations.get(uri))
    this.#records.put(`${prefix}${uri}`, () => this.#listChanges.textOf(uri) + JSON.stringify(after()))
  }

  /** Stores the counts of a session's annotations, in the transaction that changes them. */
  annotated(uri: Uri, state: SessionState, annotations: AnnotationsSummary): void {
    this.#annotations.set(uri, annotations)
    this.save(uri, state)
  }

  /**
   * Returns a page of the committed list, newest session first. A cursor names a position and not a session, so it stays
   * valid when the session is gone.
   */
  page(limit = defaultPage, cursor?: string): { items: readonly SessionSummary[]; nextCursor?: string } {
    this.#order ??= this.#positions().toSorted(newestFirst)
    const start = cursor === undefined ? 0 : firstAfter(positionOf(cursor), this.#order)
    const positions = this.#longestPrefix(this.#order.slice(start, start + Math.max(1, limit)))
    const items = positions.flatMap(
      ({ resource }) => this.#sessions.get(resource) ?? this.#removing.get(resource) ?? [],
    )
    const last = positions.at(-1)
    const more = last && start + positions.length < this.#order.length
    return { items, ...(more && { nextCursor: cursorOf(last) }) }
  }

  /** Returns the longest prefix of the list that fits into one response. The prefix has at least one entry. */
  #longestPrefix(positions: readonly Position[]): readonly Position[] {
    let length = 0
    const full = positions.findIndex(({ resource }, at) => {
      length += titlesOf(this.#sessions.get(resource))
      return at > 0 && length > limits.pageLength
    })
    return full < 0 ? positions : positions.slice(0, full)
  }

  #positions(): readonly Position[] {
    const there = [...this.#sessions.values()].filter(({ resource }) => !this.isUnlisted(resource))
    return [...there, ...this.#removing.values()].map(({ modifiedAt, resource }) => ({
      modifiedAt,
      resource,
    }))
  }
}

const chatSuffix = '/chat'

function withAnnotations(
  summary: SessionSummary,
  annotations: AnnotationsSummary | undefined,
): SessionSummary {
  return annotations ? { ...summary, annotations } : summary
}

function titlesOf({ title, chats = [] }: Partial<SessionSummary> = {}): number {
  return chats.reduce((length, chat) => length + chat.title.length, title?.length ?? 0)
}

/** The stored log, and the first number of this run of the host. */
interface StoredLog {
  readonly store: Pick<LogStore, 'load' | 'creation'>
  readonly first: number
}

/** The position of a session in the list. */
type Position = Pick<SessionSummary, 'modifiedAt' | 'resource'>

function newestFirst(a: Position, b: Position): number {
  if (a.modifiedAt !== b.modifiedAt) return a.modifiedAt < b.modifiedAt ? 1 : -1
  if (a.resource === b.resource) return 0
  return a.resource < b.resource ? 1 : -1
}

/** Finds the first entry after a position by binary search, because clients may ask for pages as often as they like. */
function firstAfter(position: Position, order: readonly Position[]): number {
  let from = 0
  let to = order.length
  while (from < to) {
    const middle = (from + to) >> 1
    const there = order[middle]
    if (there && newestFirst(there, position) <= 0) from = middle + 1
    else to = middle
  }
  return from
}

function cursorOf({ modifiedAt, resource }: Position): string {
  return `${modifiedAt} ${resource}`
}

function positionOf(cursor: string): Position {
  const [, modifiedAt, resource] = /^(\d{4}-\S+Z) (.+)$/.exec(cursor) ?? []
  if (modifiedAt === undefined || resource === undefined)
    throw AhpError.invalidParams('listSessions: unknown cursor')
  return { modifiedAt, resource }
}

export const catalogOf = defineKey<Catalog>('catalog')
