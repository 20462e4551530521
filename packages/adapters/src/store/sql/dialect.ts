import type { Line } from '../lines.ts'
import type { Ask, Work } from './work.ts'

/** What the readers and writers of a store need to know of its database. */
export interface SqlDialect {
  /** Returns a statement. Its parameters are ?1, ?2 and so on. */
  statement<Row = never>(text: string, name?: string): Ask<Row>
  /**
   * Returns the statement that inserts a row of a table. The first column is found by its key. `rest`: the end of the statement.
   */
  insert(table: string, columns: readonly string[], rest?: string): Ask<never>
  /** Returns what stands for a URI or the id of a client in an index. */
  key(text: string): string
  /** Returns the column by which a text of another column is found: the one that has its key. */
  by(column: string): string
  /** The expression for the key of the client of an envelope. */
  readonly origin: string
  /** Returns the condition that a channel is not dropped. `channels`: the name of the table. */
  there(channels: string): string
  /** The assignments that hide a channel, and the condition that one is hidden. */
  readonly hiding: string
  readonly hidden: string
  /** Returns the table `l` that has the list which is the first parameter, in the column `value`. */
  list(type: 'text' | 'bigint'): string
  /** Returns the damage that an error of the database means. Undefined if it means none. */
  damageOf(error: unknown): string | undefined
  /** Whether the store has a channel and does not find it. Absent: it finds every channel that it has. */
  isLost?(uri: string): Work<boolean>
  /** Returns the next lines of a channel that are stored as rows: as many as fit into a slice, and at least one. */
  lines(channel: number, range: LineRange): Work<readonly Line[]>
  /**
   * Returns the ids of a channel's rows in order, joined by `\x1e`. Returns null if there are no rows, and undefined if the list is
   * damaged: `set`, from the channel's tail, must be the xor of all sums. So no row is missing, misplaced or outdated.
   */
  rowIds(channel: number, set: number): Work<string | null | undefined>
  /** Returns rows with their texts. */
  texts(channel: number, ids: readonly string[]): Work<readonly RowText[]>
  /** The number of rows whose texts are read at once. */
  readonly textsAtOnce: number
  /** The column of `tails` that has the place of the last row. A number, if the database itself assigns places. */
  readonly places: string
  /** Returns ids for new channels. */
  newIds(count: number): Work<readonly number[]>
  /** Returns those of these rows that are there. */
  oldRows(keys: readonly RowKey[]): Work<readonly OldRow[]>
}

/** The numbers from which lines are read, and the lines and the length of their actions in a slice. */
export interface LineRange {
  readonly after: number
  readonly upTo: number
  readonly most: { readonly lines: number; readonly length: number }
}

export interface RowText {
  readonly id: string
  readonly text: string
  readonly sum: number
}

/** The key of a row of a channel. A type, because it is also a row of a statement. */
export type RowKey = {
  readonly channel: number
  readonly key: string
}

/** A row as the table has it. */
export type OldRow = RowKey & {
  readonly place: number
  readonly sum: number
}

/** A store in a database. One that answers at once returns no promise. */
export interface SqlStore {
  readonly dialect: SqlDialect
  /** Does a work that reads: all of its statements see the same moment. */
  read<T>(work: () => Work<T>): T | Promise<T>
  /**
   * Does a work in one transaction. It may be repeated; `again` tells that an attempt before this one may have been committed.
   */
  write<T>(work: (again: boolean) => Work<T>): T | Promise<T>
}
