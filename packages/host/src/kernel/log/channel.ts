import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import { strideOf } from '@atrium/protocol/kind'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { RowChange } from '../../ports/log.ts'
import { ChannelRows, cutAt } from './channel-rows.ts'
import type { Row } from './channel-rows.ts'
import { ChannelWrites } from './channel-writes.ts'
import type { Entry, Listener } from './entry.ts'
import { EphemeralEntries } from './kept-entries.ts'
import type { RowIds } from './row-ids.ts'

/** The types of ephemeral actions that are never replayed: pages of history, which are sent to one client. */
const unreplayed = new Set(['chat/turnsLoaded'])

/** Returns the channel kind that has this name. */
export function kindOf(name: KindName): ChannelKind {
  const kind = kindNamed(name)
  if (!kind) throw new Error(`there is no channel kind ${name}`)
  return kind
}

/**
 * Makes a stand-in for a channel that is not in memory. It is only for `Log.drop`, which uses nothing but the URI and the
 * kind.
 */
export function unloaded<K extends KindName>(uri: Uri, kind: K): Channel<K> {
  return new Channel<K>(uri, kindOf(kind), {} as StateOf<K>)
}

interface ChannelOrigin {
  /**
   * Ephemeral actions with higher sequence numbers than this are kept in memory. The oldest are removed when all
   * together are too long.
   */
  readonly ephemeralFrom?: number
  /** The ids of the rows that come before those in the state. */
  readonly older?: readonly string[]
}

/** A channel in memory: its head and its committed state, its rows, its listeners and its newest ephemeral actions. */
export class Channel<K extends KindName = KindName> {
  readonly uri: Uri
  readonly kind: ChannelKind
  readonly kindName: K
  /** The URI as JSON, made once for the envelopes of all actions. */
  readonly label: string
  /** Whether the state depends on ephemeral actions, which are not stored. */
  readonly lossy: boolean
  readonly listeners = new Set<Listener>()
  /** Counts the actions, characters and rows of this channel that were given to the store. */
  readonly writes = new ChannelWrites()
  /** Whether a sleep check is scheduled. The check puts the channel to sleep if nothing needs it. */
  sleepCheckDue = false
  readonly #rows: ChannelRows
  readonly #ephemeral: EphemeralEntries
  #head: StateOf<K>
  #committed: StateOf<K> | undefined
  #uncommitted = 0

  constructor(
    uri: Uri,
    kind: ChannelKind,
    head: StateOf<K>,
    { ephemeralFrom = 0, older = [] }: ChannelOrigin = {},
  ) {
    this.uri = uri
    this.kind = kind
    // The caller chooses `K`, because the type `ChannelKind` does not contain the name of the kind.
    this.kindName = kind.name as K
    this.label = JSON.stringify(uri)
    this.lossy = [...kind.classes].some(([type, kept]) => kept === 'ephemeral' && !unreplayed.has(type))
    this.#head = head
    this.#rows = new ChannelRows(uri, kind.rows, head, older)
    this.#ephemeral = new EphemeralEntries(this.lossy ? ephemeralFrom : 0)
  }

  /** The state after every appended action. It is used by guards and when actions are appended. */
  get head(): StateOf<K> {
    return this.#head
  }

  /**
   * The state after every committed action. Code that neither checks nor appends actions uses this state. Undefined
   * until the creation of the channel is committed.
   */
  get committed(): StateOf<K> | undefined {
    return this.#committed
  }

  /** The committed state, for callers that know that the creation is committed, as commands and effects do. */
  get committedState(): StateOf<K> {
    if (this.#committed === undefined) throw new Error(`the creation of ${this.uri} is not committed yet`)
    return this.#committed
  }

  /** Makes `state` the committed state. `olderRows`: the number of its rows that are not in memory. */
  commit(state: StateOf<K>, olderRows: number): void {
    this.#committed = state
    this.#rows.committed(olderRows)
  }

  /** The number of entries of this channel that are queued and not committed. */
  get uncommitted(): number {
    return this.#uncommitted
  }

  entryQueued(): void {
    this.#uncommitted++
  }

  entryCommitted(): void {
    this.#uncommitted--
  }

  /** Whether a listener has asked to get every action separately, never several merged into one. */
  get wantsEach(): boolean {
    for (const listener of this.listeners) if (listener.wantsEach) return true
    return false
  }

  /** Whether the channel is of this kind. If it is, the compiler knows the types of its state and actions. */
  is<N extends KindName>(name: N): this is Channel<N> {
    const own: KindName = this.kindName
    return own === name
  }

  /** The number of sequence numbers that an action takes. */
  strideOf(action: Action): number {
    return strideOf(this.kind, this.#head, action)
  }

  keepEphemeral(entry: Entry): void {
    this.#ephemeral.add(entry)
  }

  /** The ephemeral entries above a sequence number; undefined if some of these entries are no longer in memory. */
  ephemeralSince(after: number): readonly Entry[] | undefined {
    return this.#ephemeral.since(after)
  }

  /** The ephemeral entries that a client dispatched and that are still in memory. */
  ephemeralBy(clientId: string): readonly Entry[] {
    return this.#ephemeral.dispatchedBy(clientId)
  }

  /** The ids of all rows of the head. The first `olderRows` ids are those of the rows that are not in memory. */
  get rowIds(): RowIds {
    return this.#rows.ids
  }

  get olderRows(): number {
    return this.#rows.older
  }

  get committedOlder(): number {
    return this.#rows.committedOlder
  }

  get lastRowNeeded(): number {
    return this.#rows.lastNeeded
  }

  get lastEmptied(): number {
    return this.#rows.lastEmptied
  }

  /** Whether the head has a row with this id, in memory or not. */
  has(id: string): boolean {
    return this.rowIds.has(id)
  }

  /** The number of rows that are committed and that no uncommitted action removes. */
  get lasting(): number {
    return this.#rows.lasting(this.#committed, this.#head)
  }

  /** The ids of the rows that are not in memory: all such rows, or those from `fromId` on. */
  missing(fromId?: string): readonly string[] {
    return this.#rows.missing(fromId)
  }

  /** The rows in a state of this channel. A state contains only rows that are in memory. */
  rows(state: unknown): readonly Row[] {
    return this.#rows.of(state)
  }

  /**
   * Returns the state after an action. Throws for a truncation at a row that is not in memory, because the reducer would not
   * find the row and would change nothing.
   */
  reduce(action: Action): StateOf<K> {
    const named = cutAt(action)
    if (named !== undefined && this.missing(named).length > 0)
      throw new Error(`${action.type} needs rows of ${this.uri} that are not in memory`)
    const state = this.kind.reduce(this.#head, action)
    const kept = this.kind.tail && state !== this.#head ? this.kind.tail(state) : state
    // The cast is safe: a reducer returns a state of the type that it got. The type of `kind` cannot say so.
    return kept as StateOf<K>
  }

  /** Makes `state`, the state after an action, the head. Returns the changes of the channel's rows. */
  advance(action: Action, state: StateOf<K>): readonly RowChange[] {
    const before = this.#head
    this.#head = state
    this.writes.reduced()
    return this.#rows.change(action, before, state)
  }

  /** Remembers the sequence number of an action that needs a row or removes all rows. */
  numbered(action: Action, seq: number): void {
    this.#rows.numbered(action, seq)
  }

  /** Adds older rows to both states of the channel. Returns the function that adds them to the states of queued entries. */
  prepend(rows: readonly Row[]): <S>(state: S) => S {
    const prepending = this.#rows.prepend(rows)
    this.#head = prepending(this.#head)
    if (this.#committed !== undefined) this.#committed = prepending(this.#committed)
    return prepending
  }

  /**
   * The head as JSON for the store. In place of the list of rows it has the number of rows: the store keeps the rows
   * separately.
   */
  headText(): string {
    const { rows } = this.kind
    return JSON.stringify(rows === undefined ? this.#head : { ...this.#head, [rows]: this.rowIds.length })
  }
}
