import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import { limits } from '@atrium/protocol/limits'
import type { Entry, Listener } from './entry.ts'
import type { RowChange } from '../ports/log.ts'
import { RowIds } from './row-ids.ts'

/** One client's paging: told to it alone, by its connection, and never again. */
const unreplayed = new Set(['chat/turnsLoaded'])

/** A head is due when so much was stored since the last, or so many rows: fewer than a channel wakes with. */
const headLength = 4 * 1024 * 1024
const headRows = 25

/** The kind of this name. */
export function kindOf(name: KindName): ChannelKind {
  const kind = kindNamed(name)
  if (!kind) throw new Error(`there is no channel kind ${name}`)
  return kind
}

/** A stand-in for a channel that is not in memory, to drop it by. Only its URI and its kind are used. */
export function unloaded<K extends KindName>(uri: Uri, kind: K): Channel<K> {
  return new Channel<K>(uri, kindOf(kind), {} as StateOf<K>, 0)
}

/** An item of the list that a kind keeps a row each. */
export interface Row {
  readonly id: string
}

/** A channel that is awake: its states, who listens, and what passed lately. */
export class Channel<K extends KindName = KindName> {
  readonly uri: Uri
  readonly kind: ChannelKind
  readonly kindName: K
  /** The URI as JSON: it stands in every envelope. */
  readonly label: string
  /** Some of what it is made of is stored nowhere. */
  readonly lossy: boolean
  /** After everything appended: for guards and for numbering. */
  head: StateOf<K>
  /** After everything told: for everyone else. Absent until its birth was told. */
  committed: StateOf<K> | undefined
  /** The ids of all rows of the head, also of those that are not in memory: the first `older` of them. */
  readonly rowIds: RowIds
  olderRows: number
  /** The same for what was told: another number only until it is told that all rows were taken away. */
  committedOlder: number
  /** Appended and not yet told. */
  uncommitted = 0
  /** What was last given to the store of it. */
  stored = 0
  /** Stored since the last head was, in actions, in characters and in rows. */
  sinceHead = 0
  lengthSinceHead = 0
  rowsSinceHead = 0
  /** Something was reduced that no head shows. */
  changed = false
  /** The last action, by its number, that whoever lacks a certain row cannot follow. */
  lastRowNeeded = 0
  /** The last action, by its number, that took all rows away. */
  lastEmptied = 0
  /** It is going to be looked at whether it may sleep. */
  sleepCheckDue = false
  readonly listeners = new Set<Listener>()
  readonly #ephemeral: Entry[] = []
  #ephemeralBytes = 0
  /** Of what passed, everything above this number is still here. */
  #ephemeralFrom: number

  /** `older`: the ids of the rows that come before those in the state. */
  constructor(
    uri: Uri,
    kind: ChannelKind,
    head: StateOf<K>,
    passedFrom: number,
    older: readonly string[] = [],
  ) {
    this.uri = uri
    this.kind = kind
    // The caller names the kind by `K`: a `ChannelKind` does not carry its name as a type.
    this.kindName = kind.name as K
    this.label = JSON.stringify(uri)
    this.head = head
    this.olderRows = older.length
    this.committedOlder = older.length
    this.rowIds = new RowIds([...older, ...this.rows(head).map(({ id }) => id)])
    this.lossy = [...kind.classes].some(([type, kept]) => kept === 'ephemeral' && !unreplayed.has(type))
    this.#ephemeralFrom = this.lossy ? passedFrom : 0
  }

  /** Somebody follows it who does not want to be told several things in one. */
  get wantsEach(): boolean {
    for (const listener of this.listeners) if (listener.wantsEach) return true
    return false
  }

  /** The committed state of a channel whose creation is committed: that of every channel that a command or an effect sees. */
  get committedState(): StateOf<K> {
    if (this.committed === undefined) throw new Error(`the creation of ${this.uri} is not committed yet`)
    return this.committed
  }

  /** Whether it is of this kind; the compiler then knows its state and its actions. */
  is<N extends KindName>(name: N): this is Channel<N> {
    const own: KindName = this.kindName
    return own === name
  }

  strideOf(action: Action): number {
    return this.kind.strides.get(action.type) ?? 1
  }

  keepEphemeral(entry: Entry): void {
    this.#ephemeral.push(entry)
    this.#ephemeralBytes += entry.text.length
    while (this.#ephemeralBytes > limits.passingBytes) {
      const gone = this.#ephemeral.shift()
      if (!gone) return
      this.#ephemeralBytes -= gone.text.length
      this.#ephemeralFrom = gone.last
    }
  }

  /** What passed above a number; nothing when some of it is gone. */
  ephemeralSince(after: number): readonly Entry[] | undefined {
    return after < this.#ephemeralFrom ? undefined : this.#ephemeral.filter((entry) => entry.seq > after)
  }

  /** What a client said that only passed, and is still here. */
  ephemeralBy(clientId: string): readonly Entry[] {
    return this.#ephemeral.filter(({ origin }) => origin?.clientId === clientId)
  }

  /** Whether it has a row of this id, in memory or not. */
  has(id: string): boolean {
    return this.rowIds.has(id)
  }

  /** So many rows are told and not about to be taken away. */
  get lasting(): number {
    const told = this.rows(this.committed)
    const head = this.rows(this.head)
    if (told === head) return this.olderRows + told.length
    let same = 0
    while (same < told.length && told[same] === head[same]) same++
    return this.olderRows + same
  }

  /** The ids of the rows that are not in memory: all, or from this one on. */
  missing(fromId?: string): readonly string[] {
    const from = fromId === undefined ? 0 : this.rowIds.indexOf(fromId)
    return from < 0 ? [] : this.rowIds.slice(from, this.olderRows)
  }

  /** The state after an action. One that names a row which is not in memory would seem to change nothing. */
  reduce(action: Action): StateOf<K> {
    const named = cutAt(action)
    if (named !== undefined && this.missing(named).length > 0)
      throw new Error(`${action.type} needs rows of ${this.uri} that are not in memory`)
    const state = this.kind.reduce(this.head, action)
    const kept = this.kind.tail && state !== this.head ? this.kind.tail(state) : state
    // A reducer gives the type of state that it is given; `kind` does not carry that type, so that every channel is a `Channel`.
    return kept as StateOf<K>
  }

  /** A state is the head from now on. Gives how the rows change: their list only grows at its end or is cut there. */
  advance(action: Action, state: StateOf<K>): readonly RowChange[] {
    const old = this.rows(this.head)
    const now = this.rows(state)
    this.head = state
    this.changed = true
    if (old === now) return []
    if (takesAll(action)) this.olderRows = 0
    let same = 0
    while (same < old.length && old[same] === now[same]) same++
    const gone = this.rowIds.cut(this.olderRows + same).map((id) => ({ channel: this.uri, id }))
    const come = now.slice(same).map((row) => ({ channel: this.uri, id: row.id, text: JSON.stringify(row) }))
    for (const { id } of come) this.rowIds.add(id)
    return [...gone, ...come]
  }

  /** Puts rows before those in memory. Returns the function that does the same to the states that wait for their commit. */
  prepend(rows: readonly Row[]): (state: unknown) => unknown {
    const prepending = this.#prepending(rows)
    this.olderRows -= rows.length
    this.committedOlder = this.olderRows
    // Rows are added to a state of this kind, which leaves its type as it is.
    this.head = prepending(this.head) as StateOf<K>
    this.committed = prepending(this.committed) as StateOf<K> | undefined
    return prepending
  }

  /** Adds rows to the beginning of a state's list. States that shared a list share the longer one. */
  #prepending(rows: readonly Row[]): (state: unknown) => unknown {
    const lists = new Map<readonly Row[], readonly Row[]>()
    const states = new Map<unknown, unknown>()
    return (state) => {
      const { rows: key } = this.kind
      if (key === undefined) return state
      const own = this.rows(state)
      const list = lists.get(own) ?? [...rows, ...own]
      const longer = states.get(state) ?? { ...(state as object), [key]: list }
      lists.set(own, list)
      states.set(state, longer)
      return longer
    }
  }

  /** Whether a head should be written: after so many actions, or much text, or rows. */
  headDue(every: number): boolean {
    const { sinceHead, lengthSinceHead, rowsSinceHead } = this
    return sinceHead >= every || lengthSinceHead > headLength || rowsSinceHead >= headRows
  }

  headWritten(): void {
    this.sinceHead = 0
    this.lengthSinceHead = 0
    this.rowsSinceHead = 0
    this.changed = false
  }

  /** The state as a head keeps it: its rows are kept by themselves, and their number stands in their place. */
  headText(): string {
    const { rows } = this.kind
    return JSON.stringify(
      rows === undefined ? this.head : { ...(this.head as object), [rows]: this.rowIds.length },
    )
  }

  /** The rows of a state that are in memory. */
  rows(state: unknown): readonly Row[] {
    const { rows } = this.kind
    return rows === undefined ? none : ((state as Record<string, readonly Row[] | undefined>)[rows] ?? none)
  }
}

/**
 * Takes the rows after one away, or every row: also those not in memory, and by the state alone that could be the last in
 * memory that goes.
 */
const cuts = 'chat/truncated'

export function takesAll(action: Action): boolean {
  return action.type === cuts && cutAt(action) === undefined
}

/** Whether who does not have the row that an action names cannot follow it. */
export function needsRow({ type }: Action): boolean {
  return type === cuts || type === 'chat/turnResume'
}

function cutAt(action: Action): string | undefined {
  return action.type === cuts ? (action as { readonly turnId?: string }).turnId : undefined
}

const none: readonly Row[] = []
