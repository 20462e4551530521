import type { Database, Statement } from '../database.ts'
import type { SqlDialect, SqlStore } from '../sql/dialect.ts'
import { asked } from '../sql/work.ts'
import type { Value, Work } from '../sql/work.ts'
import { sqliteDialect } from './dialect.ts'

/** A store that answers at once. */
export interface SqliteStore extends SqlStore {
  read<T>(work: () => Work<T>): T
  write<T>(work: (again: boolean) => Work<T>): T
}

/**
 * The store in a file of SQLite. Its database answers at once. All statements are prepared when the store is opened, so that a store that
 * lacks a table is not used.
 */
export function sqliteStore(db: Database): SqliteStore {
  const prepared = new Map<string, Statement<unknown>>()
  const statement: SqlDialect['statement'] = <Row>(text: string) => {
    if (!prepared.has(text)) prepared.set(text, db.prepare<unknown>(text))
    return asked<Row>(text)
  }

  const ran = <T>(work: Work<T>): T => {
    let next = work.next()
    while (!next.done) {
      const { text, values } = next.value
      let rows: readonly unknown[]
      try {
        rows = prepared.get(text)?.all(...values.map(bound)) ?? []
      } catch (error) {
        next = work.throw(error)
        continue
      }
      next = work.next(rows)
    }
    return next.value
  }

  return {
    dialect: sqliteDialect(statement, ran),
    read: (work) => ran(work()),
    write: (work) => inTransaction(db, () => ran(work(false))),
  }
}

/** SQLite has no lists. `list` reads one from JSON. */
const bound = (value: Value) =>
  typeof value === 'object' && value !== null && !(value instanceof Uint8Array)
    ? JSON.stringify(value)
    : value

/** Does something in one transaction. */
function inTransaction<T>(db: Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    // When the disk is full, SQLite may have rolled the transaction back itself.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}
