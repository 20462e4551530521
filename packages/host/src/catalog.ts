import type { Uri } from '@atrium/protocol/channel'
import { AhpError } from '@atrium/protocol/errors'
import { limits } from '@atrium/protocol/limits'
import type { SessionState, SessionSummary } from '@atrium/protocol/session/state'
import { compact } from '@atrium/protocol/update'
import { equal } from './equal.ts'
import type { Records } from './ports/records.ts'
import { Damaged } from './rebuild.ts'

const defaultPage = 100

/** The session list: kept in memory and in the records, changed in the same step as its cause. */
export class Catalog {
  readonly #records: Records
  readonly #sessions = new Map<Uri, SessionSummary>()
  /** Of these not everyone has been told yet: that they have come, and that they have gone. */
  readonly #coming = new Set<Uri>()
  readonly #going = new Map<Uri, SessionSummary>()
  /** The list's order as it was last asked for; nothing when sessions have come or gone since. */
  #order: readonly Place[] | undefined

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
    }
    return catalog
  }

  get size(): number {
    return this.#sessions.size
  }

  get(uri: Uri): SessionSummary | undefined {
    return this.#sessions.get(uri)
  }

  set(summary: SessionSummary): void {
    this.#order = undefined
    this.#coming.add(summary.resource)
    this.#sessions.set(summary.resource, summary)
    this.#records.put(`${prefix}${summary.resource}`, JSON.stringify(summary))
  }

  delete(uri: Uri): void {
    this.#order = undefined
    const summary = this.#sessions.get(uri)
    if (summary) this.#going.set(uri, summary)
    this.#sessions.delete(uri)
    this.#records.delete(`${prefix}${uri}`)
  }

  /** Everyone has been told that a session has come, or that it has gone. */
  told(uri: Uri): void {
    this.#order = undefined
    this.#coming.delete(uri)
    if (!this.#sessions.has(uri)) this.#going.delete(uri)
  }

  /** Follows a session's state as it is told. Gives what changed of its summary, if anything did. */
  follow(uri: Uri, state: SessionState): Partial<SessionSummary> | undefined {
    const before = this.#sessions.get(uri)
    if (!before) return undefined
    const after = { ...before, ...shared(state) }
    const changes = Object.fromEntries(
      Object.entries(after).filter(([key, value]) => !equal(value, before[key as keyof SessionSummary])),
    )
    if (Object.keys(changes).length === 0) return undefined
    this.#sessions.set(uri, after)
    return changes
  }

  /** Keeps what a session's entry will be once everyone has been told of its state. */
  keep(uri: Uri, state: SessionState): void {
    const before = this.#sessions.get(uri)
    if (before) this.#records.put(`${prefix}${uri}`, JSON.stringify({ ...before, ...shared(state) }))
  }

  /** What everyone has been told of, newest first. A cursor names where the page before ended, whether that is still there or not. */
  page(limit = defaultPage, cursor?: string): { items: readonly SessionSummary[]; nextCursor?: string } {
    this.#order ??= this.#places().toSorted(newestFirst)
    const start = cursor === undefined ? 0 : firstAfter(placeOf(cursor), this.#order)
    const places = this.#fitting(this.#order.slice(start, start + Math.max(1, limit)))
    const items = places.flatMap(
      ({ resource }) => this.#sessions.get(resource) ?? this.#going.get(resource) ?? [],
    )
    const last = places.at(-1)
    const more = last && start + places.length < this.#order.length
    return { items, ...(more && { nextCursor: cursorOf(last) }) }
  }

  /** As many from the first on as may stand in one answer; one always may. */
  #fitting(places: readonly Place[]): readonly Place[] {
    let length = 0
    const full = places.findIndex(({ resource }, at) => {
      length += this.#sessions.get(resource)?.title.length ?? 0
      return at > 0 && length > limits.pageLength
    })
    return full < 0 ? places : places.slice(0, full)
  }

  #places(): readonly Place[] {
    const there = [...this.#sessions.values()].filter(({ resource }) => !this.#coming.has(resource))
    return [...there, ...this.#going.values()].map(({ modifiedAt, resource }) => ({ modifiedAt, resource }))
  }
}

const prefix = 'session/'

type Shared = Pick<
  SessionSummary,
  | 'provider'
  | 'title'
  | 'status'
  | 'activity'
  | 'project'
  | 'workingDirectories'
  | 'annotations'
  | 'defaultChat'
>

/** What a summary shows of a session's own state. */
export function shared(state: SessionState): Shared {
  const { provider, title, status, activity, project, workingDirectories, annotations, defaultChat } = state
  return compact<Shared>({
    provider,
    title,
    status,
    activity,
    project,
    workingDirectories,
    annotations,
    defaultChat,
  })
}

function read(text: string): SessionSummary | undefined {
  try {
    return JSON.parse(text) as SessionSummary
  } catch {
    return undefined
  }
}

/** Where a session stands in the list. */
type Place = Pick<SessionSummary, 'modifiedAt' | 'resource'>

function newestFirst(a: Place, b: Place): number {
  if (a.modifiedAt !== b.modifiedAt) return a.modifiedAt < b.modifiedAt ? 1 : -1
  if (a.resource === b.resource) return 0
  return a.resource < b.resource ? 1 : -1
}

/** By halves: anybody may ask, as often as they like. */
function firstAfter(place: Place, order: readonly Place[]): number {
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

function cursorOf({ modifiedAt, resource }: Place): string {
  return `${modifiedAt} ${resource}`
}

function placeOf(cursor: string): Place {
  const [, modifiedAt, resource] = /^(\d{4}-\S+Z) (.+)$/.exec(cursor) ?? []
  if (modifiedAt === undefined || resource === undefined)
    throw AhpError.invalidParams('listSessions: unknown cursor')
  return { modifiedAt, resource }
}
