/** A value of a column. */
export type Value = string | number | Uint8Array | null

/** A row, by the names of its columns. */
export type MovedRow = { readonly [column: string]: Value }

/** A table that both stores have. */
export interface Table {
  readonly name: string
  readonly columns: readonly string[]
  /** The columns by which rows are read in order. No two rows have the same values in them. */
  readonly order: readonly string[]
  /** The number of rows that are moved at once. */
  readonly slice: number
}

/**
 * The tables of a store, as SQLite has them. PostgreSQL has the same ones, and columns that follow from these. The sums and chains
 * are the same in both, so rows are moved as they are.
 */
export const tables: readonly Table[] = [
  table('channels', 'id uri kind seq state sum', 'id'),
  table('tails', 'channel seq chain rows', 'channel'),
  table('heads', 'channel seq state chain sum', 'channel'),
  table('forgotten', 'channel seq chain sum', 'channel'),
  table('envelopes', 'seq channel action origin sum chain', 'seq'),
  table('rows', 'channel id text sum place', 'channel place'),
  table('segments', 'id channel first last count before after hash bytes', 'id'),
  table('segment_clients', 'client last segment channel', 'last client'),
  table('kept', 'seq channel action origin sum', 'seq'),
  table('records', 'key text', 'key'),
  table('blobs', 'session hash bytes', 'session hash'),
]

/** The columns that are not compared: places only order the rows of a channel. */
export const unlike: ReadonlySet<string> = new Set(['place'])

function table(name: string, columns: string, order: string): Table {
  const large = ['channels', 'heads', 'segments', 'blobs'].includes(name)
  return { name, columns: columns.split(' '), order: order.split(' '), slice: large ? 20 : 500 }
}

/** The place in a move: the table, and the last row of it that was moved. */
export interface Progress {
  readonly table: string
  readonly after: readonly Value[] | null
}

/** One of the two stores of a move. While it is open, no host can use it. */
export interface Side {
  /** The name of the store for people. */
  readonly name: string
  /** The id of the store, by which a later run recognizes it. */
  readonly id: string
  /** The highest sequence number that may have been assigned. */
  upTo(): Promise<number>
  /** Returns the next rows of a table, after the row with these values in the columns of its order. */
  read(table: Table, after: readonly Value[] | null): Promise<readonly MovedRow[]>
  /** Writes rows and the progress, in one transaction. */
  write(table: Table, rows: readonly MovedRow[], progress: Progress): Promise<void>
  /** The progress of a move into this store that has not ended. Undefined if there is none. */
  progress(): Promise<(Progress & { readonly from: string }) | undefined>
  /** Begins a move into this store, which must be empty. */
  begin(from: string): Promise<void>
  /** Ends the move. */
  end(upTo: number): Promise<void>
  close(): Promise<void>
}
