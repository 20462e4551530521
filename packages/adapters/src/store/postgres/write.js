import { creationSum, headSum, lineSum, link, rowSum, toggle } from '../checksums.js'
import { dropChannels } from './drop.js'
import { Failure } from './failure.js'
import { deposed } from './fence.js'
import { checkpointReader } from './forget.js'
import { keyOf } from './key.js'
import { transaction } from './link.js'
import { statementOf } from './statement.js'

/** @typedef {import('./link.js').Query} Query */
/** @typedef {import('./tails.js').Tail} Tail */
/** @typedef {import('@atrium/host/ports/log').Step} Step */
/** @typedef {import('../worker-api.ts').Batch} Batch */

/**
 * Returns a function that stores a batch in one transaction.
 * @param {{ link: import('./link.js').Link, tails: import('./tails.js').Tails, epoch: number, batch: number }} owner `batch` is the number of the last batch
 * @returns {(batch: Batch) => Promise<void>}
 */
export function writer({ link: connection, tails, epoch, batch: last }) {
  /**
   * Stores a step, and the records with the last one.
   * @param {Query} query
   * @param {{ step: Step, before: number, records: Batch['records'], written: Map<string, Tail | undefined> }} what
   */
  const store = async (query, { step, before, records, written }) => {
    const part = await planned(query, step, { tails, written })
    const put = [...records].flatMap(([name, text]) =>
      text === undefined ? [] : [{ key: keyOf(name), name, text }],
    )
    const deleted = [...records].flatMap(([name, text]) => (text === undefined ? [{ key: keyOf(name) }] : []))
    const bounds = { epoch, before, batch: last + 1, upTo: step.upTo }
    const { statement, values } = statementOf(bounds, part, { put, deleted })
    const { rows } = await query(statement, values)
    if (rows[0].fence === 0) throw await deposed(query, epoch)
    if (rows[0].turn === 0) throw new Stored()
    await dropChannels(
      query,
      step.dropped.map(({ channel }) => channel),
    )
    for (const { channel } of step.dropped) written.set(channel, undefined)
  }

  /**
   * @param {Query} query
   * @param {Batch} batch
   */
  const attempt = async (query, { steps, records }) => {
    /** @type {Map<string, Tail | undefined>} */
    const written = new Map()
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

/** @type {Step} */
const EMPTY = { created: [], envelopes: [], rows: [], heads: [], dropped: [], upTo: 0 }

/**
 * Returns the number of the last batch of this owner. Throws if the epoch is over: the next owner goes on with the same numbers, so its
 * first batch could pass for the last one of this owner, which was not stored. One statement reads both numbers at one moment.
 * @param {Query} query
 * @param {number} epoch
 */
async function lastBatch(query, epoch) {
  const { rows } = await query('SELECT batch FROM bounds, epoch WHERE epoch = $1', [epoch])
  if (rows.length === 0) throw await deposed(query, epoch)
  return rows[0].batch
}

/**
 * Returns the rows of the tables that a step writes.
 * @param {Query} query
 * @param {Step} step
 * @param {{ tails: import('./tails.js').Tails, written: Map<string, Tail | undefined> }} known
 */
async function planned(query, step, { tails, written }) {
  const created = await creations(query, step)
  for (const { uri, id, kind, seq, sum } of created)
    written.set(uri, { id, kind, seq, chain: sum, rows: 0, places: 0 })
  const named = new Set([...step.envelopes, ...step.rows, ...step.heads].map(({ channel }) => channel))
  const found = await tails.of(
    query,
    [...named].filter((uri) => !written.has(uri)),
  )
  for (const [uri, tail] of found) written.set(uri, tail)
  /** @param {string} uri */
  const tailOf = (uri) => {
    const tail = written.get(uri)
    if (!tail) throw new Error(`${uri} does not exist`)
    return tail
  }
  /** @type {Map<string, { seq: number, chain: number }[]>} the chain of each channel before and after each envelope */
  const chains = new Map([...named].map((uri) => [uri, [{ seq: tailOf(uri).seq, chain: tailOf(uri).chain }]]))
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
  const heads = []
  for (const { channel: uri, seq, state } of newest.values()) {
    const { id, kind } = tailOf(uri)
    const mark = chains.get(uri)?.findLast((each) => each.seq <= seq)
    const chain = mark?.chain ?? (await checkpointReader(query).chainAt(uri, id, seq))
    heads.push({ channel: id, seq, state, chain, sum: headSum({ channel: uri, seq, state, kind, chain }) })
  }
  const ends = [...new Set([...created.map(({ uri }) => uri), ...named])].map(tailOf)
  return { created, envelopes, tails: ends, ...rows, heads }
}

/**
 * @param {Query} query
 * @param {Step} step
 */
async function creations(query, { created }) {
  if (created.length === 0) return []
  const { rows } = await query(`SELECT nextval('channel_ids') AS id FROM generate_series(1, $1)`, [
    created.length,
  ])
  return created.map((each, i) => {
    const { channel: uri, kind, seq, state } = each
    return { id: rows[i].id, key: keyOf(uri), uri, kind, seq, state, sum: creationSum(each) }
  })
}

/**
 * Returns the rows that a step puts and deletes. A row that is deleted and put again gets a new place, the last one.
 * @param {Query} query
 * @param {Step} step
 * @param {(uri: string) => Tail} tailOf
 */
async function rowChanges(query, step, tailOf) {
  if (step.rows.length === 0) return { rows: [], deleted: [] }
  const asked = step.rows.map(({ channel, id }) => ({ channel: tailOf(channel).id, key: keyOf(id) }))
  const { rows: old } = await query(
    `SELECT r.channel AS channel, r.key AS key, place, sum FROM rows r JOIN unnest($1::bigint[], $2::text[]) a (channel, key)
     ON r.channel = a.channel AND r.key = a.key`,
    [asked.map(({ channel }) => channel), asked.map(({ key }) => key)],
  )
  /** @param {{ channel: number, key: string }} row */
  const nameOf = ({ channel, key }) => `${channel} ${key}`
  /** @type {Map<string, any>} every row as the step leaves it; `text` is undefined for a deleted one */
  const state = new Map(old.map((row) => [nameOf(row), { ...row, text: null }]))
  for (const { channel: uri, id, text } of step.rows) {
    const tail = tailOf(uri)
    const name = nameOf({ channel: tail.id, key: keyOf(id) })
    const before = state.get(name)
    const there = before && before.text !== undefined
    if (there) tail.rows = toggle(tail.rows, before.sum)
    const row = { channel: tail.id, key: keyOf(id), id, text, place: there ? before.place : 0, sum: 0 }
    if (text !== undefined) {
      row.sum = rowSum({ channel: uri, id, text })
      row.place ||= ++tail.places
      tail.rows = toggle(tail.rows, row.sum)
    }
    state.set(name, row)
  }
  const changed = [...state.values()].filter(({ text }) => text !== null)
  return {
    rows: changed.filter(({ text }) => text !== undefined),
    deleted: changed.filter(({ text }) => text === undefined),
  }
}
