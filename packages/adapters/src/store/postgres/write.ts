import type { ChannelCreation, Step } from '@atrium/host/ports/log'
import { creationSum, headSum, lineSum, link, rowSum, toggle } from '../checksums.ts'
import { checkpointReader } from '../sql/checkpoints.ts'
import { only } from '../sql/work.ts'
import type { Batch } from '../worker-api.ts'
import { dialect, ran } from './dialect.ts'
import { dropChannels } from './drop.ts'
import { Failure } from './failure.ts'
import { deposed } from './fence.ts'
import { keyOf } from './key.ts'
import { transaction } from './link.ts'
import type { Link, Query } from './link.ts'
import { statementOf } from './statement.ts'
import type { Part, Row } from './statement.ts'
import type { Tail, Tails } from './tails.ts'

interface WriterOptions {
  readonly link: Link
  readonly tails: Tails
  readonly epoch: number
  /** The number of the last batch. */
  readonly batch: number
}

/** The tails that a batch has changed. A channel without a tail was dropped. */
type Written = Map<string, Tail | undefined>

/** A step of a batch, the number of the batch before it, and the records that are stored with it. */
interface StoredStep {
  readonly step: Step
  readonly before: number
  readonly records: Batch['records']
  readonly written: Written
}

/** Returns a function that stores a batch in one transaction. */
export function writer(options: WriterOptions): (batch: Batch) => Promise<void> {
  const { link: connection, tails, epoch } = options
  let last = options.batch

  /** Stores a step, and the records with the last one. */
  const store = async (query: Query, { step, before, records, written }: StoredStep): Promise<void> => {
    const part = await planned(query, step, { tails, written })
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
    await dropChannels(
      query,
      step.dropped.map(({ channel }) => channel),
    )
    for (const { channel } of step.dropped) written.set(channel, undefined)
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

const checkpoints = checkpointReader(dialect)

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

/** Returns the rows of the tables that a step writes. */
async function planned(
  query: Query,
  step: Step,
  { tails, written }: { readonly tails: Tails; readonly written: Written },
): Promise<Part> {
  const created = await creations(query, step)
  for (const { uri, id, kind, seq, sum } of created)
    written.set(uri, { id, kind, seq, chain: sum, rows: 0, places: 0 })
  const named = new Set([...step.envelopes, ...step.rows, ...step.heads].map(({ channel }) => channel))
  const found = await tails.of(
    query,
    [...named].filter((uri) => !written.has(uri)),
  )
  for (const [uri, tail] of found) written.set(uri, tail)
  const tailOf = (uri: string): Tail => {
    const tail = written.get(uri)
    if (!tail) throw new Error(`${uri} does not exist`)
    return tail
  }
  /** The chain of each channel before and after each envelope. */
  const chains: Map<string, { seq: number; chain: number }[]> = new Map(
    [...named].map((uri) => [uri, [{ seq: tailOf(uri).seq, chain: tailOf(uri).chain }]]),
  )
  const envelopes = step.envelopes.map(({ seq, channel, action, origin: by }) => {
    const tail = tailOf(channel)
    const origin = by ? JSON.stringify(by) : null
    const sum = lineSum({ seq, channel, action, origin })
    tail.chain = link(tail.chain, sum)
    tail.seq = seq
    chains.get(channel)?.push({ seq, chain: tail.chain })
    return {
      seq,
      channel: tail.id,
      action,
      origin,
      key: by ? keyOf(by.clientId) : null,
      sum,
      chain: tail.chain,
    }
  })
  const rows = await rowChanges(query, step, tailOf)
  const newest = new Map(step.heads.map((head) => [head.channel, head]))
  const heads: Row[] = []
  for (const { channel: uri, seq, state } of newest.values()) {
    const { id, kind } = tailOf(uri)
    const mark = chains.get(uri)?.findLast((each) => each.seq <= seq)
    const chain = mark?.chain ?? (await ran(query, checkpoints.chainAt(uri, id, seq)))
    heads.push({ channel: id, seq, state, chain, sum: headSum({ channel: uri, seq, state, kind, chain }) })
  }
  const ends = [...new Set([...created.map(({ uri }) => uri), ...named])].map(tailOf)
  return { created, envelopes, tails: ends, ...rows, heads }
}

type CreatedRow = Pick<ChannelCreation, 'kind' | 'seq' | 'state'> & {
  readonly id: number
  readonly key: string
  readonly uri: string
  readonly sum: number
}

async function creations(query: Query, { created }: Step): Promise<readonly CreatedRow[]> {
  if (created.length === 0) return []
  const { rows } = await query<{ readonly id: number }>(
    `SELECT nextval('channel_ids') AS id FROM generate_series(1, $1)`,
    [created.length],
  )
  return created.map((each, i) => {
    const { channel: uri, kind, seq, state } = each
    const { id } = only(rows.slice(i, i + 1))
    return { id, key: keyOf(uri), uri, kind, seq, state, sum: creationSum(each) }
  })
}

/** A row as the table has it. */
type OldRow = {
  readonly channel: number
  readonly key: string
  readonly place: number
  readonly sum: number
}

/** A row as the step leaves it. A deleted one has no text. */
type ChangedRow = OldRow & {
  readonly id: string
  readonly text: string | undefined
}

/** Returns the rows that a step puts and deletes. A row that is deleted and put again gets a new place, the last one. */
async function rowChanges(
  query: Query,
  step: Step,
  tailOf: (uri: string) => Tail,
): Promise<Pick<Part, 'rows' | 'deleted'>> {
  if (step.rows.length === 0) return { rows: [], deleted: [] }
  const asked = step.rows.map(({ channel, id }) => ({ channel: tailOf(channel).id, key: keyOf(id) }))
  const { rows } = await query<OldRow>(
    `SELECT r.channel AS channel, r.key AS key, place, sum FROM rows r JOIN unnest($1::bigint[], $2::text[]) a (channel, key)
     ON r.channel = a.channel AND r.key = a.key`,
    [asked.map(({ channel }) => channel), asked.map(({ key }) => key)],
  )
  const nameOf = ({ channel, key }: Pick<OldRow, 'channel' | 'key'>): string => `${channel} ${key}`
  const old = new Map(rows.map((row) => [nameOf(row), row]))
  const changed = new Map<string, ChangedRow>()
  for (const { channel: uri, id, text } of step.rows) {
    const tail = tailOf(uri)
    const place = { channel: tail.id, key: keyOf(id) }
    const name = nameOf(place)
    const earlier = changed.get(name)
    const before = earlier ? (earlier.text === undefined ? undefined : earlier) : old.get(name)
    if (before) tail.rows = toggle(tail.rows, before.sum)
    const sum = text === undefined ? 0 : rowSum({ channel: uri, id, text })
    if (text !== undefined) tail.rows = toggle(tail.rows, sum)
    const at = before?.place ?? (text === undefined ? 0 : ++tail.places)
    changed.set(name, { ...place, id, text, place: at, sum })
  }
  const all = [...changed.values()]
  return {
    rows: all.filter(({ text }) => text !== undefined),
    deleted: all.filter(({ text }) => text === undefined),
  }
}
