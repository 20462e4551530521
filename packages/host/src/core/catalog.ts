import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { limits } from '@atrium/protocol/limits'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { equal } from '../log/equal.ts'
import { ChatIndex } from './chat-index.ts'
import type { Records } from '../ports/records.ts'
import { Damaged } from '../log/rebuild.ts'
import { summaryOf } from './summary.ts'

const defaultPage = 100

/**
 * The session list: kept in memory and in the records, changed in the same step as its cause. A session that nobody has
 * used yet is known and not listed.
 */
export class Catalog {
  readonly #records: Records
  readonly #sessions = new Map<Uri, SessionSummary>()
  /** Not announced yet, each with the client that made it. */
  readonly #unannounced = new Map<Uri, string>()
  /** Of these not everyone has been told yet: that they have come, and that they have gone. */
  readonly #adding = new Set<Uri>()
  readonly #removing = new Map<Uri, SessionSummary>()
  /** Those that a client has named. */
  readonly #titled = new Set<Uri>()
  /** Each chat's session. */
  readonly chatIndex = new ChatIndex()
  /** The list's order as it was last asked for; nothing when sessions have come or gone since. */
  #order: readonly Position[] | undefined
  /** Nothing where one may have come or gone since it was asked for. */
  #directories: ReadonlySet<Uri> | undefined

  private constructor(records: Records) {
    this.#records = records
  }

  static async open(records: Records): Promise<Catalog> {
    const catalog = new Catalog(records)
    for (const [key, text] of await records.list(prefix)) {
      const summary = read(text)
      // The key and the text both name it: a changed bit in either is noticed.
      if (!summary || key !== `${prefix}${summary.resource}`)
        throw new Damaged(`the session list is damaged at ${JSON.stringify(key)}`)
      catalog.#sessions.set(summary.resource, summary)
      for (const { resource } of summary.chats ?? []) catalog.chatIndex.add(resource, summary.resource)
    }
    for (const [key, creator] of await records.list(quietPrefix)) {
      const uri = key.slice(quietPrefix.length)
      if (!catalog.#sessions.has(uri))
        throw new Damaged(`the session list is damaged: it lacks ${JSON.stringify(uri)}`)
      catalog.#unannounced.set(uri, creator)
    }
    for (const [key] of await records.list(titledPrefix)) catalog.#titled.add(key.slice(titledPrefix.length))
    return catalog
  }

  /** All that are there. */
  get size(): number {
    return this.#sessions.size
  }

  /** Those that are announced. */
  get announced(): number {
    return this.#sessions.size - this.#unannounced.size
  }

  get(uri: Uri): SessionSummary | undefined {
    return this.#sessions.get(uri)
  }

  /** The directories that sessions work in. */
  get directories(): ReadonlySet<Uri> {
    this.#directories ??= new Set(
      [...this.#sessions.values()].flatMap(({ workingDirectories }) => workingDirectories ?? []),
    )
    return this.#directories
  }

  /** The session that a chat belongs to. */
  sessionOf(chat: Uri): Uri | undefined {
    return this.chatIndex.of(chat)
  }

  /** The default chat of a session, where this is the name that some clients make up for it. */
  defaultChatNamed(name: Uri): Uri | undefined {
    return name.endsWith(chatSuffix)
      ? this.#sessions.get(name.slice(0, -chatSuffix.length))?.defaultChat
      : undefined
  }

  /** Who made a session that is not announced. */
  creatorOf(uri: Uri): string | undefined {
    return this.#unannounced.get(uri)
  }

  /** Nobody has been told of a session. */
  isUnlisted(uri: Uri): boolean {
    return this.#adding.has(uri) || this.#unannounced.has(uri)
  }

  add(uri: Uri, createdAt: string, state: SessionState, creator: string): void {
    this.#unannounced.set(uri, creator)
    this.#records.put(`${quietPrefix}${uri}`, creator)
    this.#sessions.set(uri, summaryOf(uri, createdAt, state))
    this.#directories = undefined
    this.save(uri, state)
  }

  /** A client has named a session: no agent gives it another name. */
  titleSet(uri: Uri): void {
    if (!this.#titled.has(uri)) this.#records.put(`${titledPrefix}${uri}`, '')
    this.#titled.add(uri)
  }

  hasTitle(uri: Uri): boolean {
    return this.#titled.has(uri)
  }

  announce(uri: Uri): void {
    this.#unannounced.delete(uri)
    this.#records.delete(`${quietPrefix}${uri}`)
    this.#adding.add(uri)
  }

  delete(uri: Uri): void {
    this.#order = undefined
    this.#directories = undefined
    const summary = this.#sessions.get(uri)
    if (summary && !this.isUnlisted(uri)) this.#removing.set(uri, summary)
    // Not everyone may have been told that one of them has moved.
    for (const { resource } of summary?.chats ?? []) this.chatIndex.forget(resource, uri)
    this.#sessions.delete(uri)
    this.#unannounced.delete(uri)
    this.#titled.delete(uri)
    for (const start of [prefix, quietPrefix, titledPrefix]) this.#records.delete(`${start}${uri}`)
  }

  /** Everyone has been told that a session has come, or that it has gone. */
  listCommitted(uri: Uri): void {
    this.#order = undefined
    this.#adding.delete(uri)
    if (!this.#sessions.has(uri)) this.#removing.delete(uri)
  }

  /** Follows a session's state as it is told. Gives what changed of what the list shows, if anything did. */
  update(uri: Uri, state: SessionState): Partial<SessionSummary> | undefined {
    const before = this.#sessions.get(uri)
    if (!before) return undefined
    const after = summaryOf(uri, before.createdAt, state)
    const keys = new Set([...Object.keys(before), ...Object.keys(after)]) as Set<keyof SessionSummary>
    const changed = [...keys].filter((key) => !equal(after[key], before[key]))
    if (changed.length === 0) return undefined
    if (after.modifiedAt !== before.modifiedAt) this.#order = undefined
    if (changed.includes('workingDirectories')) this.#directories = undefined
    this.#sessions.set(uri, after)
    return this.isUnlisted(uri) ? undefined : Object.fromEntries(changed.map((key) => [key, after[key]]))
  }

  /** Keeps what a session's entry will be once everyone has been told of its state. */
  save(uri: Uri, state: SessionState): void {
    const before = this.#sessions.get(uri)
    if (!before) return
    const after = summaryOf(uri, before.createdAt, state)
    this.#records.put(`${prefix}${uri}`, JSON.stringify(after))
  }

  /** What everyone has been told of, newest first. A cursor names where the page before ended, whether that is still there or not. */
  page(limit = defaultPage, cursor?: string): { items: readonly SessionSummary[]; nextCursor?: string } {
    this.#order ??= this.#positions().toSorted(newestFirst)
    const start = cursor === undefined ? 0 : firstAfter(positionOf(cursor), this.#order)
    const places = this.#longestPrefix(this.#order.slice(start, start + Math.max(1, limit)))
    const items = places.flatMap(
      ({ resource }) => this.#sessions.get(resource) ?? this.#removing.get(resource) ?? [],
    )
    const last = places.at(-1)
    const more = last && start + places.length < this.#order.length
    return { items, ...(more && { nextCursor: cursorOf(last) }) }
  }

  /** As many from the first on as may stand in one answer; one always may. */
  #longestPrefix(places: readonly Position[]): readonly Position[] {
    let length = 0
    const full = places.findIndex(({ resource }, at) => {
      length += titlesOf(this.#sessions.get(resource))
      return at > 0 && length > limits.pageLength
    })
    return full < 0 ? places : places.slice(0, full)
  }

  #positions(): readonly Position[] {
    const there = [...this.#sessions.values()].filter(({ resource }) => !this.isUnlisted(resource))
    return [...there, ...this.#removing.values()].map(({ modifiedAt, resource }) => ({
      modifiedAt,
      resource,
    }))
  }
}

const prefix = 'session/'
const quietPrefix = 'quiet/'
const chatSuffix = '/chat'
const titledPrefix = 'titled/'

function titlesOf({ title, chats = [] }: Partial<SessionSummary> = {}): number {
  return chats.reduce((length, chat) => length + chat.title.length, title?.length ?? 0)
}

function read(text: string): SessionSummary | undefined {
  try {
    return JSON.parse(text) as SessionSummary
  } catch {
    return undefined
  }
}

/** Where a session stands in the list. */
type Position = Pick<SessionSummary, 'modifiedAt' | 'resource'>

function newestFirst(a: Position, b: Position): number {
  if (a.modifiedAt !== b.modifiedAt) return a.modifiedAt < b.modifiedAt ? 1 : -1
  if (a.resource === b.resource) return 0
  return a.resource < b.resource ? 1 : -1
}

/** By halves: anybody may ask, as often as they like. */
function firstAfter(place: Position, order: readonly Position[]): number {
  let from = 0
  let to = order.length
  while (from < to) {
    const middle = (from + to) >> 1
    const there = order[middle]
    if (there && newestFirst(there, place) <= 0) from = middle + 1
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
