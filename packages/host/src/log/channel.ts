import type { Action, Uri } from '@atrium/protocol/channel'
import { kindNamed } from '@atrium/protocol/channels'
import type { ChannelKind } from '@atrium/protocol/kind'
import type { StateOf } from '@atrium/protocol/kind-types'
import type { KindName } from '@atrium/protocol/reducers'
import type { RowChange } from '../ports/log.ts'
import { ChannelRows, cutAt } from './channel-rows.ts'
import type { Row } from './channel-rows.ts'
import { ChannelWrites } from './channel-writes.ts'
import type { Entry, Listener } from './entry.ts'
import { EphemeralEntries } from './ephemeral-entries.ts'
import type { RowIds } from './row-ids.ts'

/** Ephemeral actions that are sent to one client alone, as pages of history, and are never replayed. */
const unreplayed = new Set(['chat/turnsLoaded'])

/** Returns the kind of a name. */
export function kindOf(name: KindName): ChannelKind {
  const kind = kindNamed(name)
  if (!kind) throw new Error(`there is no channel kind ${name}`)
  return kind
}

/** A stand-in for a channel that is not in memory, for `Log.drop`, which uses only the URI and the kind. */
export function unloaded<K extends KindName>(uri: Uri, kind: K): Channel<K> {
  return new Channel<K>(uri, kindOf(kind), {} as StateOf<K>)
}

interface ChannelOrigin {
  /** The number above which every ephemeral action of the channel will be kept in memory. */
  readonly ephemeralFrom?: number
  /** The ids of the rows that precede those in the state. */
  readonly older?: readonly string[]
}

/** A channel in memory: its two states, its rows, its listeners and its newest ephemeral actions. */
export class Channel<K extends KindName = KindName> {
  readonly uri: Uri
  readonly kind: ChannelKind
  readonly kindName: K
  /** The URI as JSON, made once for the envelopes of all actions. */
  readonly label: string
  /** Whether the state depends on actions that are stored nowhere. */
  readonly lossy: boolean
  readonly listeners = new Set<Listener>()
  /** What the store was given of the channel. */
  readonly writes = new ChannelWrites()
  /** Whether a check is scheduled that puts the channel to sleep if nothing needs it. */
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
    // The caller names the kind by `K`: a `ChannelKind` does not carry its name as a type.
    this.kindName = kind.name as K
    this.label = JSON.stringify(uri)
    this.lossy = [...kind.classes].some(([type, kept]) => kept === 'ephemeral' && !unreplayed.has(type))
    this.#head = head
    this.#rows = new ChannelRows(uri, kind.rows, head, older)
    this.#ephemeral = new EphemeralEntries(this.lossy ? ephemeralFrom : 0)
  }

  /** The state after every appended action. Guards and the numbering of actions use it. */
  get head(): StateOf<K> {
    return this.#head
  }

  /** The state after every committed action, for everything else. Undefined until the creation is committed. */
  get committed(): StateOf<K> | undefined {
    return this.#committed
  }

  /** The committed state of a channel whose creation is committed: that of every channel that a command or an effect sees. */
  get committedState(): StateOf<K> {
    if (this.#committed === undefined) throw new Error(`the creation of ${this.uri} is not committed yet`)
    return this.#committed
  }

  /** Makes a state the committed one. `olderRows`: the number of its rows that are not in memory. */
  commit(state: StateOf<K>, olderRows: number): void {
    this.#committed = state
    this.#rows.committed(olderRows)
  }

  /** The number of entries that are queued and not yet committed. */
  get uncommitted(): number {
    return this.#uncommitted
  }

  entryQueued(): void {
    this.#uncommitted++
  }

  entryCommitted(): void {
    this.#uncommitted--
  }

  /** Whether a listener asked for every action by itself, never several merged into one. */
  get wantsEach(): boolean {
    for (const listener of this.listeners) if (listener.wantsEach) return true
    return false
  }

  /** Whether the channel is of this kind; the compiler then knows its state and its actions. */
  is<N extends KindName>(name: N): this is Channel<N> {
    const own: KindName = this.kindName
    return own === name
  }

  /** The count of sequence numbers that an action takes. */
  strideOf(action: Action): number {
    return this.kind.strides.get(action.type) ?? 1
  }

  keepEphemeral(entry: Entry): void {
    this.#ephemeral.add(entry)
  }

  /** The ephemeral entries above a number; undefined when some of them are gone. */
  ephemeralSince(after: number): readonly Entry[] | undefined {
    return this.#ephemeral.since(after)
  }

  /** The ephemeral entries that a client dispatched and that are still in memory. */
  ephemeralBy(clientId: string): readonly Entry[] {
    return this.#ephemeral.dispatchedBy(clientId)
  }

  /** The ids of all rows of the head. The first `olderRows` of them are not in memory. */
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

  /** Whether the head has a row of this id, in memory or not. */
  has(id: string): boolean {
    return this.rowIds.has(id)
  }

  /** The number of rows that are committed and that no uncommitted action removes. */
  get lasting(): number {
    return this.#rows.lasting(this.#committed, this.#head)
  }

  /** The ids of the rows that are not in memory: all of them, or those from one id on. */
  missing(fromId?: string): readonly string[] {
    return this.#rows.missing(fromId)
  }

  /** The rows of a state of this channel that are in memory. */
  rows(state: unknown): readonly Row[] {
    return this.#rows.of(state)
  }

  /** Returns the state after an action. Throws for a cut at a row that is not in memory: reducing it would change nothing. */
  reduce(action: Action): StateOf<K> {
    const named = cutAt(action)
    if (named !== undefined && this.missing(named).length > 0)
      throw new Error(`${action.type} needs rows of ${this.uri} that are not in memory`)
    const state = this.kind.reduce(this.#head, action)
    const kept = this.kind.tail && state !== this.#head ? this.kind.tail(state) : state
    // A reducer gives the type of state that it is given; `kind` does not carry that type, so that every channel is a `Channel`.
    return kept as StateOf<K>
  }

  /** Makes the state after an action the head. Returns the changes of its rows. */
  advance(action: Action, state: StateOf<K>): readonly RowChange[] {
    const before = this.#head
    this.#head = state
    this.writes.reduced()
    return this.#rows.change(action, before, state)
  }

  /** Records the number of an action that needs a row or removes all rows. */
  numbered(action: Action, seq: number): void {
    this.#rows.numbered(action, seq)
  }

  /** Puts rows before those in memory. Returns the function that does the same to the states of queued entries. */
  prepend(rows: readonly Row[]): <S>(state: S) => S {
    const prepending = this.#rows.prepend(rows)
    this.#head = prepending(this.#head)
    if (this.#committed !== undefined) this.#committed = prepending(this.#committed)
    return prepending
  }

  /** The head as JSON for the store. The store keeps the rows by themselves, so their number stands in their place. */
  headText(): string {
    const { rows } = this.kind
    return JSON.stringify(rows === undefined ? this.#head : { ...this.#head, [rows]: this.rowIds.length })
  }
}
