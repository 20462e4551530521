import type { ChannelCreation, Step } from '@atrium/host/ports/log'
import { creationSum, headSum, lineSum, link, rowSum, toggle } from '../checksums.ts'
import { checkpointReader } from './checkpoints.ts'
import type { OldRow, RowKey, SqlDialect } from './dialect.ts'
import type { Tail, Tails, Written } from './tails.ts'
import { only } from './work.ts'
import type { Work } from './work.ts'

/** The rows of the tables that a step writes, and those that it deletes. Types, because a row of a statement has any columns. */
export interface Part {
  readonly created: readonly CreatedRow[]
  readonly envelopes: readonly EnvelopeRow[]
  readonly tails: readonly Tail[]
  readonly rows: readonly PutRow[]
  readonly deleted: readonly RowKey[]
  /** The rows that are deleted and put again: each gets a new place. */
  readonly moved: readonly RowKey[]
  readonly heads: readonly HeadRow[]
}

export type CreatedRow = Pick<ChannelCreation, 'kind' | 'seq' | 'state'> & {
  readonly id: number
  readonly key: string
  readonly uri: string
  readonly sum: number
}

export type EnvelopeRow = {
  readonly seq: number
  readonly channel: number
  readonly action: string
  readonly origin: string | null
  /** The key of the client of the origin. */
  readonly key: string | null
  readonly sum: number
  readonly chain: number
}

export type PutRow = OldRow & {
  readonly id: string
  readonly text: string
}

export type HeadRow = {
  readonly channel: number
  readonly seq: number
  readonly state: string
  readonly chain: number
  readonly sum: number
}

/** Returns the work that computes what a step writes. `written` has the tails that the batch has changed. It writes nothing. */
export function planner(dialect: SqlDialect, tails: Tails): (step: Step, written: Written) => Work<Part> {
  const checkpoints = checkpointReader(dialect)

  return function* (step, written) {
    const created = yield* creations(dialect, step)
    for (const { uri, id, kind, seq, sum } of created)
      written.set(uri, { id, kind, seq, chain: sum, rows: 0, places: 0 })
    const named = new Set<string>()
    for (const list of [step.envelopes, step.rows, step.heads])
      for (const { channel } of list) named.add(channel)
    yield* tails.read([...named], written)
    const tailOf = (uri: string): Tail => {
      const tail = written.get(uri)
      if (!tail) throw new Error(`${uri} does not exist`)
      return tail
    }
    /** The chain of each channel that gets a head, before and after each envelope. */
    const chains = new Map<string, { readonly seq: number; readonly chain: number }[]>()
    for (const { channel } of step.heads) {
      const { seq, chain } = tailOf(channel)
      chains.set(channel, [{ seq, chain }])
    }
    const envelopes = step.envelopes.map(({ seq, channel, action, origin: by }): EnvelopeRow => {
      const tail = tailOf(channel)
      const origin = by ? JSON.stringify(by) : null
      const sum = lineSum({ seq, channel, action, origin })
      const chain = link(tail.chain, sum)
      tail.chain = chain
      tail.seq = seq
      chains.get(channel)?.push({ seq, chain })
      return { seq, channel: tail.id, action, origin, key: by ? dialect.key(by.clientId) : null, sum, chain }
    })
    const rows = step.rows.length === 0 ? NO_ROWS : yield* rowChanges(dialect, step, tailOf)
    const heads: HeadRow[] = []
    for (const head of new Map(step.heads.map((each) => [each.channel, each])).values()) {
      const { channel: uri, seq, state } = head
      const { id, kind } = tailOf(uri)
      const mark = chains.get(uri)?.findLast((each) => each.seq <= seq)
      const chain = mark?.chain ?? (yield* checkpoints.chainAt(uri, id, seq))
      heads.push({ channel: id, seq, state, chain, sum: headSum({ ...head, kind, chain }) })
    }
    for (const { uri } of created) named.add(uri)
    return { created, envelopes, tails: [...named].map(tailOf), ...rows, heads }
  }
}

function* creations(dialect: SqlDialect, { created }: Step): Work<readonly CreatedRow[]> {
  if (created.length === 0) return []
  const ids = yield* dialect.newIds(created.length)
  return created.map((each, i) => {
    const { channel: uri, kind, seq, state } = each
    return {
      id: only(ids.slice(i, i + 1)),
      key: dialect.key(uri),
      uri,
      kind,
      seq,
      state,
      sum: creationSum(each),
    }
  })
}

type RowChanges = Pick<Part, 'rows' | 'deleted' | 'moved'>

const NO_ROWS: RowChanges = { rows: [], deleted: [], moved: [] }

/** Returns the rows that a step puts and deletes. A row that is deleted and put again gets a new place, the last one. */
function* rowChanges(dialect: SqlDialect, step: Step, tailOf: (uri: string) => Tail): Work<RowChanges> {
  const asked = step.rows.map(({ channel, id }) => ({ channel: tailOf(channel).id, key: dialect.key(id) }))
  const nameOf = ({ channel, key }: RowKey): string => `${channel} ${key}`
  const old = new Map((yield* dialect.oldRows(asked)).map((row) => [nameOf(row), row]))
  /** The rows as the step leaves them, in the order of their last places. A deleted one is undefined. */
  const left = new Map<string, PutRow | undefined>()
  const again = new Set<string>()
  for (const { channel: uri, id, text } of step.rows) {
    const tail = tailOf(uri)
    const place: RowKey = { channel: tail.id, key: dialect.key(id) }
    const name = nameOf(place)
    const before = left.has(name) ? left.get(name) : old.get(name)
    if (before) tail.rows = toggle(tail.rows, before.sum)
    if (!before) left.delete(name)
    if (text === undefined) {
      left.set(name, undefined)
      continue
    }
    if (!before && old.has(name)) again.add(name)
    const sum = rowSum({ channel: uri, id, text })
    tail.rows = toggle(tail.rows, sum)
    left.set(name, { ...place, id, text, place: before?.place ?? ++tail.places, sum })
  }
  const gone = [...old.values()].filter((row) => left.get(nameOf(row)) === undefined)
  const rows = [...left.values()].filter((row) => row !== undefined)
  return { rows, deleted: gone, moved: rows.filter((row) => again.has(nameOf(row))) }
}
