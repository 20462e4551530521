import type { Action, Uri } from '@atrium/protocol/channel'
import type { RowChange } from '../../ports/log.ts'
import { RowIds } from './row-ids.ts'

/** An element of a list in a state that the store keeps as a row of its own, such as a turn of a chat. */
export interface Row {
  readonly id: string
}

/** The rows in a state, which are those in memory. `key` is the name of the list; a kind without rows has no key. */
export function rowsIn(key: string | undefined, state: unknown): readonly Row[] {
  // The key comes from the kind of the state, so the member is that kind's list of rows.
  return key === undefined ? none : ((state as Record<string, readonly Row[] | undefined>)[key] ?? none)
}

/**
 * The rows of one channel: the ids of all rows, and the number of rows that are not in memory. Those are always the oldest
 * rows.
 */
export class ChannelRows {
  readonly ids: RowIds
  readonly #uri: Uri
  readonly #key: string | undefined
  #older: number
  #committedOlder: number
  #lastNeeded = 0
  #lastEmptied = 0

  /** `older`: the ids of the rows that precede those in `state`. */
  constructor(uri: Uri, key: string | undefined, state: unknown, older: readonly string[]) {
    this.#uri = uri
    this.#key = key
    this.#older = older.length
    this.#committedOlder = older.length
    this.ids = new RowIds([...older, ...this.of(state).map(({ id }) => id)])
  }

  /** The number of the channel's rows, in its newest state, that are not in memory. These are the oldest rows. */
  get older(): number {
    return this.#older
  }

  /**
   * The number of rows of the committed state that are not in memory. It differs from `older` only while the removal of all
   * rows is uncommitted.
   */
  get committedOlder(): number {
    return this.#committedOlder
  }

  /**
   * The sequence number of the last action that needs a row: a receiver without the row that the action names cannot
   * apply it.
   */
  get lastNeeded(): number {
    return this.#lastNeeded
  }

  /** The sequence number of the last action that removed all rows. */
  get lastEmptied(): number {
    return this.#lastEmptied
  }

  of(state: unknown): readonly Row[] {
    return rowsIn(this.#key, state)
  }

  /** The ids of the rows that are not in memory: all such rows, or those from `fromId` on. */
  missing(fromId?: string): readonly string[] {
    const from = fromId === undefined ? 0 : this.ids.indexOf(fromId)
    return from < 0 ? [] : this.ids.slice(from, this.#older)
  }

  /** The number of rows that are committed and that no uncommitted action removes. */
  lasting(committed: unknown, head: unknown): number {
    const shown = this.of(committed)
    return this.#older + commonPrefix(shown, this.of(head))
  }

  /**
   * Returns the changes of rows that an action makes. A list of rows changes only at its end: rows are added there or cut
   * off.
   */
  change(action: Action, before: unknown, after: unknown): readonly RowChange[] {
    const old = this.of(before)
    const now = this.of(after)
    if (old === now) return noChange
    if (takesAll(action)) this.#older = 0
    const same = commonPrefix(old, now)
    const removed = this.ids.cut(this.#older + same).map((id) => ({ channel: this.#uri, id }))
    const added = now
      .slice(same)
      .map((row) => ({ channel: this.#uri, id: row.id, text: JSON.stringify(row) }))
    for (const { id } of added) this.ids.add(id)
    return [...removed, ...added]
  }

  /** Remembers the sequence number of an action that needs a row or removes all rows. */
  numbered(action: Action, seq: number): void {
    if (needsRow(action)) this.#lastNeeded = seq
    if (takesAll(action)) this.#lastEmptied = seq
  }

  committed(older: number): void {
    this.#committedOlder = older
  }

  /**
   * Records that rows were loaded into memory, so fewer rows are missing. Returns the function that adds the loaded
   * rows to a state of the channel.
   */
  prepend(rows: readonly Row[]): <S>(state: S) => S {
    this.#older -= rows.length
    this.#committedOlder = this.#older
    return this.#prepending(rows)
  }

  /** Adds rows to the beginning of a state's list. States that shared a list before share the longer list afterwards. */
  #prepending(rows: readonly Row[]): <S>(state: S) => S {
    const key = this.#key
    const lists = new Map<readonly Row[], readonly Row[]>()
    const states = new Map<unknown, unknown>()
    return <S>(state: S) => {
      if (key === undefined) return state
      const own = this.of(state)
      const list = lists.get(own) ?? [...rows, ...own]
      const longer = states.get(state) ?? { ...state, [key]: list }
      lists.set(own, list)
      states.set(state, longer)
      // The cast is safe: a longer list of rows does not change the type of the state.
      return longer as S
    }
  }
}

/**
 * The type of the action that removes rows: all rows after a given one, or, if it names no row, all rows of the
 * channel. It also removes rows that are not in memory.
 */
const cuts = 'chat/truncated'

/**
 * Whether an action removes all rows of the channel. The states before and after the action do not show it: both contain only
 * rows that are in memory.
 */
export function takesAll(action: Action): boolean {
  return action.type === cuts && cutAt(action) === undefined
}

/** Whether a receiver can apply an action only if it has the row that the action names. */
export function needsRow({ type }: Action): boolean {
  return type === cuts || type === 'chat/turnResume'
}

/**
 * The id of the last row that a truncation keeps. Undefined for a truncation that removes all rows, and for every other
 * action.
 */
export function cutAt(action: Action & { readonly turnId?: unknown }): string | undefined {
  const { type, turnId } = action
  return type === cuts && typeof turnId === 'string' ? turnId : undefined
}

function commonPrefix(a: readonly Row[], b: readonly Row[]): number {
  if (a === b) return a.length
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  return same
}

const none: readonly Row[] = []
const noChange: readonly RowChange[] = []
