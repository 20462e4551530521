import { creationSum, headSum, rowSum } from '../checksums.ts'
import { Damage, LINE_END } from '../lines.ts'
import { checkpointReader } from './checkpoints.ts'
import type { SqlDialect } from './dialect.ts'
import type { Work } from './work.ts'

/** A channel and its tail, which may be missing. */
export interface Channel {
  readonly id: number
  readonly kind: string
  readonly chain: number | null
  /** The xor of the sums of its rows. */
  readonly rows: number | null
}

/** The state from which envelopes are replayed. */
export interface Start {
  readonly seq: number
  readonly state: string
  readonly chain: number
  readonly rowIds: string | null
  readonly rows: readonly string[]
  readonly fromCreation: boolean
}

interface StoredState {
  readonly seq: number
  readonly state: string
  readonly sum: number
}

/** Returns the reader of the states with which a channel may begin, and of its rows. */
export function startReader(dialect: SqlDialect) {
  const sql = statements(dialect)
  const checkpoints = checkpointReader(dialect)

  /** Returns the texts of rows. Missing and damaged rows are left out. */
  function* textsOf(uri: string, id: number, ids: readonly string[]): Work<ReadonlyMap<string, string>> {
    const rows = ids.length === 0 ? [] : yield* dialect.texts(id, ids)
    const right = rows.filter((row) => row.sum === rowSum({ channel: uri, id: row.id, text: row.text }))
    return new Map(right.map((row) => [row.id, row.text]))
  }

  return {
    textsOf,

    *channelOf(uri: string): Work<Channel | undefined> {
      return (yield* sql.channel(dialect.key(uri)))[0]
    },

    *creationOf(uri: string, { id, kind }: Channel): Work<Start> {
      const [found] = yield* sql.creation(id)
      if (!found) throw new Damage('its creation is missing')
      const { seq, state, sum } = found
      if (sum !== creationSum({ seq, channel: uri, kind, state }))
        throw new Damage('its creation has a wrong checksum')
      const chain = yield* checkpoints.firstChain(uri, id)
      return { seq, state, chain, rowIds: null, rows: [], fromCreation: true }
    },

    /**
     * Returns the head of a channel with its newest rows. Returns undefined if any of this is damaged: head and rows can then be
     * rebuilt from the envelopes. The older rows are not read, because they may be many and long; only the list of all ids is verified.
     */
    *headOf(uri: string, { id, kind, rows: set }: Channel, tail: number): Work<Start | undefined> {
      const [head] = yield* sql.head(id)
      if (!head || head.sum !== headSum({ ...head, channel: uri, kind })) return undefined
      const rowIds = yield* dialect.rowIds(id, set ?? 0)
      if (rowIds === undefined) return undefined
      const newest = lastOf(rowIds, tail)
      const texts = yield* textsOf(uri, id, newest)
      const rows = newest.flatMap((each) => texts.get(each) ?? [])
      if (rows.length < newest.length) return undefined
      const { seq, state, chain } = head
      return { seq, state, chain, rowIds, rows, fromCreation: false }
    },
  }
}

/** Returns the last of some joined ids. Only these are cut out, because there may be very many. */
function lastOf(ids: string | null, most: number): readonly string[] {
  if (ids === null || most < 1) return []
  let at = ids.length
  for (let count = 0; count < most && at >= 0; count++) at = at === 0 ? -1 : ids.lastIndexOf(LINE_END, at - 1)
  return ids.slice(at + 1).split(LINE_END)
}

function statements(dialect: SqlDialect) {
  return {
    channel: dialect.statement<Channel>(
      `SELECT id, kind, chain, rows FROM channels LEFT JOIN tails t ON t.channel = id WHERE ${dialect.by('uri')} = ?1`,
    ),
    creation: dialect.statement<StoredState>('SELECT seq, state, sum FROM channels WHERE id = ?1'),
    head: dialect.statement<StoredState & { readonly chain: number }>(
      'SELECT seq, state, chain, sum FROM heads WHERE channel = ?1',
    ),
  }
}
