import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { openSqlite } from '../sqlite/sqlite.ts'
import { MoveRefused } from './move.ts'
import type { MovedRow, Progress, Side, Table, Value } from './table.ts'

/** The store in a data folder, locked. It is brought to the newest schema first, and dropped channels are deleted from it. */
export async function sqliteSide(folder: string, how: 'source' | 'target'): Promise<Side> {
  const path = join(folder, 'atrium.db')
  if (how === 'source' && !existsSync(path)) throw new MoveRefused(`There is no store in ${folder}.`)
  if (how === 'source' || !existsSync(path)) {
    const { log } = await openSqlite(folder)
    while (await log.shrink());
    await log.close()
  }
  const db = new DatabaseSync(path)
  try {
    db.exec(
      `PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; BEGIN EXCLUSIVE; COMMIT`,
    )
  } catch (error) {
    db.close()
    throw new MoveRefused(
      `The store in ${folder} is in use: ${error instanceof Error ? error.message : 'it is locked'}.`,
    )
  }
  return new SqliteSide(db, resolve(folder))
}

type Database = InstanceType<typeof DatabaseSync>

class SqliteSide implements Side {
  readonly name: string
  readonly id: string
  readonly #db: Database

  constructor(db: Database, folder: string) {
    this.#db = db
    this.name = folder
    this.id = folder
  }

  async upTo(): Promise<number> {
    return Number(this.#get(`SELECT value FROM meta WHERE key = 'upTo'`)?.['value'])
  }

  async read(
    { name, columns, order, slice }: Table,
    after: readonly Value[] | null,
  ): Promise<readonly MovedRow[]> {
    const place = after ? `WHERE (${order.join(', ')}) > (${order.map(() => '?').join(', ')})` : ''
    const sql = `SELECT ${columns.join(', ')} FROM ${name} ${place} ORDER BY ${order.join(', ')} LIMIT ${slice}`
    // The cast names what the columns hold: texts, numbers and bytes.
    return this.#db.prepare(sql).all(...(after ?? [])) as unknown as MovedRow[]
  }

  async write({ name, columns }: Table, rows: readonly MovedRow[], progress: Progress): Promise<void> {
    const given = columns.filter((column) => column !== 'place')
    const derived = name === 'kept' ? ['client'] : []
    const all = [...given, ...derived]
    const put = this.#db.prepare(
      `INSERT INTO ${name} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})`,
    )
    this.#transaction(() => {
      for (const row of rows)
        put.run(...given.map((column) => row[column] ?? null), ...derived.map(() => clientOf(row['origin'])))
      this.#put({ ...this.#progress(), ...progress })
    })
  }

  async progress(): Promise<(Progress & { readonly from: string }) | undefined> {
    return this.#progress()
  }

  async begin(from: string): Promise<void> {
    this.#put({ from, table: 'channels', after: null })
  }

  async end(upTo: number): Promise<void> {
    this.#transaction(() => {
      this.#db.prepare(`UPDATE meta SET value = max(value, ?) WHERE key = 'upTo'`).run(upTo)
      this.#db.exec(`DELETE FROM meta WHERE key = 'move'`)
    })
  }

  async close(): Promise<void> {
    // A closed database keeps its lock until its statements are collected. So the lock is given back before: without the
    // journal, the next read does it.
    this.#db.exec('PRAGMA journal_mode = DELETE; PRAGMA locking_mode = NORMAL')
    this.#db.prepare('SELECT 1 FROM meta').all()
    this.#db.close()
  }

  #progress(): (Progress & { readonly from: string }) | undefined {
    const text = this.#get(`SELECT value FROM meta WHERE key = 'move'`)?.['value']
    // The cast is safe: this class has written the text.
    return typeof text === 'string' ? (JSON.parse(text) as Progress & { readonly from: string }) : undefined
  }

  #put(progress: object): void {
    this.#db.prepare(`REPLACE INTO meta (key, value) VALUES ('move', ?)`).run(JSON.stringify(progress))
  }

  #get(sql: string): { readonly [column: string]: unknown } | undefined {
    // The cast gives the row a type that promises nothing about its columns.
    return this.#db.prepare(sql).get() as { readonly [column: string]: unknown } | undefined
  }

  #transaction(work: () => void): void {
    this.#db.exec('BEGIN IMMEDIATE')
    try {
      work()
      this.#db.exec('COMMIT')
    } catch (error) {
      this.#db.exec('ROLLBACK')
      throw error
    }
  }
}

/** The client of an origin, which is JSON. */
function clientOf(origin: Value | undefined): string {
  // The cast names the member that every stored origin has.
  return (JSON.parse(String(origin)) as { readonly clientId: string }).clientId
}
