import type { Step } from '@atrium/host/ports/log'
import type { Database } from '../database.ts'
import { SLICE, dropper } from '../sql/drop.ts'
import { planner } from '../sql/plan.ts'
import { Tails } from '../sql/tails.ts'
import type { Written } from '../sql/tails.ts'
import type { Batch } from '../worker-api.ts'
import type { SqliteStore } from './store.ts'

/** Returns a function that stores a batch in one transaction. */
export function writer(db: Database, store: SqliteStore): (batch: Batch) => void {
  const sql = statements(db)
  const dropping = dropper(store.dialect)
  const tails = new Tails(store.dialect)
  const plan = planner(store.dialect, tails)

  const writeStep = (step: Step, written: Written): void => {
    const part = store.read(() => plan(step, written))
    for (const { id, uri, kind, seq, state, sum } of part.created)
      sql.create.run(id, uri, kind, seq, state, sum)
    // The statements of every flush are run by `get`, because `run` creates a result object, which costs a fifth of the
    // write.
    for (const { seq, channel, action, origin, sum, chain } of part.envelopes)
      sql.append.get(seq, channel, action, origin, sum, chain)
    for (const { channel, key } of [...part.deleted, ...part.moved]) sql.deleteRow.run(channel, key)
    for (const { channel, id, text, sum } of part.rows) sql.putRow.run(channel, id, text, sum)
    for (const { channel, seq, state, chain, sum } of part.heads)
      sql.putHead.run(channel, seq, state, chain, sum)
    for (const { id, seq, chain, rows } of part.tails) sql.putTail.get(id, seq, chain, rows)
  }

  return ({ steps, records }) => {
    const written: Written = new Map()
    /** The number of rows of dropped channels that this transaction may delete. */
    let room = SLICE
    sql.begin.get()
    try {
      for (const step of steps) {
        writeStep(step, written)
        const dropped = step.dropped.map(({ channel }) => channel)
        room -= store.read(() => dropping.drop(dropped, room))
        for (const uri of dropped) written.set(uri, undefined)
      }
      if (steps.length > 0) sql.raiseUpTo.get(steps.reduce((highest, { upTo }) => Math.max(highest, upTo), 0))
      for (const [key, text] of records)
        if (text === undefined) sql.deleteRecord.get(key)
        else sql.putRecord.get(key, text)
      sql.commit.get()
    } catch (error) {
      tails.clear()
      // When the disk is full, SQLite may have rolled the transaction back itself.
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
    tails.take(written)
  }
}

function statements(db: Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    putTail: db.prepare(`REPLACE INTO tails (channel, seq, chain, rows) VALUES (?, ?, ?, ?)`),
    create: db.prepare(`INSERT INTO channels (id, uri, kind, seq, state, sum) VALUES (?, ?, ?, ?, ?, ?)`),
    append: db.prepare(
      `INSERT INTO envelopes (seq, channel, action, origin, sum, chain) VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    putRow: db.prepare(
      `INSERT INTO rows (channel, id, text, sum) VALUES (?, ?, ?, ?)
       ON CONFLICT (channel, id) DO UPDATE SET text = excluded.text, sum = excluded.sum`,
    ),
    deleteRow: db.prepare(`DELETE FROM rows WHERE channel = ? AND id = ?`),
    putHead: db.prepare(`REPLACE INTO heads (channel, seq, state, chain, sum) VALUES (?, ?, ?, ?, ?)`),
    raiseUpTo: db.prepare(`UPDATE meta SET value = max(value, ?) WHERE key = 'upTo'`),
    putRecord: db.prepare(`REPLACE INTO records (key, text) VALUES (?, ?)`),
    deleteRecord: db.prepare(`DELETE FROM records WHERE key = ?`),
  }
}
