import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { textsOfTurn } from '../corpus.ts'

/** A plain FTS5 table with the same texts. The search of the host is compared with it. */
export class BareIndex {
  readonly #db: InstanceType<typeof DatabaseSync>
  readonly #query: ReturnType<InstanceType<typeof DatabaseSync>['prepare']>
  readonly #path: string

  constructor(folder: string) {
    this.#path = join(folder, 'bare.db')
    this.#db = new DatabaseSync(this.#path)
    this.#db.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
       CREATE VIRTUAL TABLE bare USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2')`,
    )
    this.#query = this.#db.prepare(
      `SELECT rowid, snippet(bare, 0, '[', ']', '…', 40) AS excerpt FROM bare WHERE bare MATCH ? ORDER BY rowid DESC LIMIT 20`,
    )
  }

  /**
   * Adds the texts of all turns. Returns the milliseconds that the inserts took, without the time to generate the
   * texts.
   */
  fill(turns: number): number {
    const insert = this.#db.prepare('INSERT INTO bare (text) VALUES (?)')
    let ms = 0
    for (let from = 0; from < turns; from += 1000) {
      const count = Math.min(1000, turns - from)
      const texts = Array.from({ length: count }, (_, i) => Object.values(textsOfTurn(from + i))).flat()
      const began = performance.now()
      this.#db.exec('BEGIN')
      for (const text of texts) insert.run(text)
      this.#db.exec('COMMIT')
      ms += performance.now() - began
    }
    return ms
  }

  find(match: string): number {
    return this.#query.all(match).length
  }

  /** Closes the index. Returns the bytes of its file. */
  close(): number {
    this.#db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const { size } = statSync(this.#path)
    this.#db.close()
    return size
  }
}
