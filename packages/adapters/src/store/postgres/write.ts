import type { Step } from '@atrium/host/ports/log'
import { dropper } from '../sql/drop.ts'
import { planner } from '../sql/plan.ts'
import { Tails } from '../sql/tails.ts'
import type { Written } from '../sql/tails.ts'
import { only } from '../sql/work.ts'
import type { Batch } from '../worker-api.ts'
import { dialect, ran } from './dialect.ts'
import { Failure } from './failure.ts'
import { deposed } from './fence.ts'
import { keyOf } from './key.ts'
import { transaction } from './link.ts'
import type { Link, Query } from './link.ts'
import { statementOf } from './statement.ts'

interface WriterOptions {
  readonly link: Link
  readonly epoch: number
  /** The number of the last batch. */
  readonly batch: number
}

/** A step of a batch, the number of the batch before it, and the records that are stored with it. */
interface StoredStep {
  readonly step: Step
  readonly before: number
  readonly records: Batch['records']
  readonly written: Written
}

/** Returns a function that stores a batch in one transaction. */
export function writer(options: WriterOptions): (batch: Batch) => Promise<void> {
  const { link: connection, epoch } = options
  const tails = new Tails(dialect)
  const plan = planner(dialect, tails)
  const dropping = dropper(dialect)
  let last = options.batch

  /** Stores a step, and the records with the last one. */
  const store = async (query: Query, { step, before, records, written }: StoredStep): Promise<void> => {
    const part = await ran(query, plan(step, written))
    const put = [...records].flatMap(([name, text]) =>
      text === undefined ? [] : [{ key: keyOf(name), name, text }],
    )
    const deleted = [...records].flatMap(([name, text]) => (text === undefined ? [{ key: keyOf(name) }] : []))
    const bounds = { epoch, before, batch: last + 1, upTo: step.upTo }
    const { statement, values } = statementOf(bounds, part, { put, deleted })
    const { rows } = await query<{ readonly fence: number; readonly turn: number }>(statement, values)
    const { fence, turn } = only(rows)
    if (fence === 0) throw await deposed(query, epoch)
    if (turn === 0) throw new Stored()
    const dropped = step.dropped.map(({ channel }) => channel)
    // Their data is deleted later, slice by slice.
    await ran(query, dropping.drop(dropped, 0))
    for (const uri of dropped) written.set(uri, undefined)
  }

  const attempt = async (query: Query, { steps, records }: Batch): Promise<void> => {
    const written: Written = new Map()
    const [first = EMPTY, ...others] = steps
    const one = others.length === 0 && first.dropped.length === 0
    if (one) await store(query, { step: first, before: last, records, written })
    else
      await transaction(query, async () => {
        await store(query, { step: first, before: last, records, written })
        for (const step of others) await store(query, { step, before: last + 1, records: new Map(), written })
      })
    tails.take(written)
  }

  return (batch) =>
    connection.run(async (query, attempts) => {
      // The commit of the attempt before this one has an unknown outcome. The number of the last batch tells it.
      if (attempts > 0 && (await lastBatch(query, epoch)) === last + 1) return void last++
      try {
        await attempt(query, batch)
      } catch (error) {
        tails.clear()
        const stored = error instanceof Stored && attempts > 0 && (await lastBatch(query, epoch)) === last + 1
        if (!stored) throw error instanceof Stored ? new Failure(undefined, error.message) : error
      }
      last++
    })
}

/** Thrown if the last batch in the database is not the one before this batch. */
class Stored extends Error {
  constructor() {
    super('the number of the last batch was changed by somebody else')
  }
}

const EMPTY: Step = { created: [], envelopes: [], rows: [], heads: [], dropped: [], upTo: 0 }

/**
 * Returns the number of the last batch of this owner. Throws if the epoch is over: the next owner goes on with the same numbers, so its
 * first batch could pass for the last one of this owner, which was not stored. One statement reads both numbers at one moment.
 */
async function lastBatch(query: Query, epoch: number): Promise<number> {
  const text = 'SELECT batch FROM bounds, epoch WHERE epoch = $1'
  const [row] = (await query<{ readonly batch: number }>(text, [epoch])).rows
  if (!row) throw await deposed(query, epoch)
  return row.batch
}
