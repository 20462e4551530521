import type { Step } from '@atrium/host/ports/log'
import { creationSum, headSum, lineSum, link, rowSum, toggle } from '../checksums.ts'
import type { Database } from '../database.ts'
import { checkpointReader } from '../sql/checkpoints.ts'
import type { Batch } from '../worker-api.ts'
import { SLICE, dropper } from './drop.ts'
import type { SqliteStore } from './dialect.ts'

/** The newest numbers of a channel, which each envelope and each row changes. */
interface Tail {
  readonly id: number
  readonly kind: string
  seq: number
  chain: number
  rows: number
}

/** Returns a function that stores a batch in one transaction. */
export function writer(db: Database, store: SqliteStore): (batch: Batch) => void {
  const sql = statements(db)
  const checkpoints = checkpointReader(store.dialect)
  const dropping = dropper(db)

  return ({ steps, records }) => {
    /** Read once per transaction and not cached longer, so that a rollback leaves nothing stale. */
    const tails = new Map<string, Tail>()
    /** The number of rows of dropped channels that this transaction may delete. */
    let room = SLICE

    const tailOf = (uri: string): Tail => {
      const tail = tails.get(uri) ?? sql.tail.get(uri)
      if (!tail) throw new Error(`${uri} does not exist`)
      tails.set(uri, tail)
      return tail
    }

    const writeStep = (step: Step): void => {
      for (const each of step.created) {
        const sum = creationSum(each)
        const { lastInsertRowid } = sql.create.run(each.channel, each.kind, each.seq, each.state, sum)
        const id = Number(lastInsertRowid)
        tails.set(each.channel, { id, kind: each.kind, seq: each.seq, chain: sum, rows: 0 })
      }
      for (const { seq, channel, action, origin } of step.envelopes) {
        const tail = tailOf(channel)
        const originText = origin ? JSON.stringify(origin) : null
        const sum = lineSum({ seq, channel, action, origin: originText })
        tail.chain = link(tail.chain, sum)
        tail.seq = seq
        // The statements of every flush are run by `get`, because `run` creates a result object, which costs a fifth of the
        // write.
        sql.append.get(seq, tail.id, action, originText, sum, tail.chain)
      }
      for (const row of step.rows) {
        const tail = tailOf(row.channel)
        const old = sql.rowSum.get(tail.id, row.id)
        if (old) tail.rows = toggle(tail.rows, old.sum)
        if (row.text === undefined) sql.deleteRow.run(tail.id, row.id)
        else {
          const sum = rowSum({ ...row, text: row.text })
          tail.rows = toggle(tail.rows, sum)
          sql.putRow.run(tail.id, row.id, row.text, sum)
        }
      }
      for (const head of step.heads) {
        const { id, kind } = tailOf(head.channel)
        const chain = store.read(() => checkpoints.chainAt(head.channel, id, head.seq))
        sql.putHead.run(id, head.seq, head.state, chain, headSum({ ...head, kind, chain }))
      }
      for (const { channel } of step.dropped) {
        const found = tails.get(channel) ?? sql.tail.get(channel)
        if (found) room -= dropping.drop(found.id, room)
        tails.delete(channel)
      }
    }

    sql.begin.get()
    try {
      for (const step of steps) writeStep(step)
      for (const { id, seq, chain, rows } of tails.values()) sql.putTail.get(id, seq, chain, rows)
      if (steps.length > 0) sql.raiseUpTo.get(steps.reduce((highest, { upTo }) => Math.max(highest, upTo), 0))
      for (const [key, text] of records)
        if (text === undefined) sql.deleteRecord.get(key)
        else sql.putRecord.get(key, text)
      sql.commit.get()
    } catch (error) {
      // When the disk is full, SQLite may have rolled the transaction back itself.
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }
}

function statements(db: Database) {
  return {
    begin: db.prepare('BEGIN IMMEDIATE'),
    commit: db.prepare('COMMIT'),
    tail: db.prepare<Tail>(
      `SELECT id, kind, t.seq AS seq, chain, rows FROM channels JOIN tails t ON t.channel = id WHERE uri = ?`,
    ),
    putTail: db.prepare(`REPLACE INTO tails (channel, seq, chain, rows) VALUES (?, ?, ?, ?)`),
    create: db.prepare(`INSERT INTO channels (uri, kind, seq, state, sum) VALUES (?, ?, ?, ?, ?)`),
    append: db.prepare(
      `INSERT INTO envelopes (seq, channel, action, origin, sum, chain) VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    rowSum: db.prepare<{ readonly sum: number }>(`SELECT sum FROM rows WHERE channel = ? AND id = ?`),
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
