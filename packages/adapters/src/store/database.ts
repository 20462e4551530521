import type { DatabaseSync } from '@photostructure/sqlite'

/**
 * A database of SQLite whose statements name the type of their rows. The types of the library have none. They hold for what the store has
 * written. A damaged file may have other values, so what is read from a file is verified by its checksums.
 */
export interface Database extends Pick<
  InstanceType<typeof DatabaseSync>,
  'exec' | 'close' | 'isOpen' | 'isTransaction'
> {
  /** Prepares a statement. `Row`: never if no row is read. `None`: never if there is always a row, as with aggregates. */
  prepare<Row = never, None = undefined>(sql: string): Statement<Row, None>
}

export interface Statement<Row, None = undefined> {
  /** Runs the statement, and returns its first row. */
  get(...values: readonly Bound[]): Row | None
  all(...values: readonly Bound[]): Row[]
  iterate(...values: readonly Bound[]): IterableIterator<Row>
  run(...values: readonly Bound[]): { readonly changes: number; readonly lastInsertRowid: number | bigint }
}

/** The value of a parameter, or the values of all parameters by their names. */
export type Bound = Value | { readonly [name: string]: Value }

export type Value = string | number | bigint | Uint8Array | null
