import { creationSum, headSum, rowSum, toggle } from '../checksums.ts'
import { Damage } from '../lines.ts'
import { checkpointReader } from './forget.ts'
import { keyOf } from './key.ts'
import type { Query } from './link.ts'

/** A channel and its tail, which may be missing. */
export interface Channel {
  readonly id: number
  readonly kind: string
  readonly chain: number | null
  /** The xor of the sums of its rows. */
  readonly rows: number | null
}

interface StoredState {
  readonly seq: number
  readonly state: string
  readonly sum: number
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

interface StartReader {
  /** Returns the texts of rows. Missing and damaged rows are left out. */
  textsOf(uri: string, channel: number, ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  channelOf(uri: string): Promise<Channel | undefined>
  creationOf(uri: string, channel: Channel): Promise<Start>
  /**
   * Returns the head with its newest rows. Returns undefined if any of this is damaged, because the envelopes can rebuild
   * the head and the rows. Of all rows, only the list is verified: the xor of all sums must equal the value in the channel's
   * tail.
   */
  headOf(uri: string, channel: Channel, tail: number): Promise<Start | undefined>
}

/** Reads the states with which a channel may begin, and its rows. */
export function startOf(query: Query): StartReader {
  const textsOf: StartReader['textsOf'] = async (uri, channel, ids) => {
    const { rows } = await query<{ readonly id: string; readonly text: string; readonly sum: number }>(
      'SELECT id, text, sum FROM rows WHERE channel = $1 AND key = ANY($2::text[])',
      [channel, ids.map(keyOf)],
    )
    return new Map(
      rows.flatMap(({ id, text, sum }) =>
        sum === rowSum({ channel: uri, id, text }) ? [[id, text] as const] : [],
      ),
    )
  }

  return {
    textsOf,

    async channelOf(uri) {
      const { rows } = await query<Channel>(
        `SELECT id, kind, chain, rows FROM channels LEFT JOIN tails t ON t.channel = id WHERE key = $1`,
        [keyOf(uri)],
      )
      return rows[0]
    },

    async creationOf(uri, { id, kind }) {
      const text = 'SELECT seq, state, sum FROM channels WHERE id = $1'
      const { rows } = await query<StoredState>(text, [id])
      if (!rows[0]) throw new Damage('its creation is missing')
      const { seq, state, sum } = rows[0]
      if (sum !== creationSum({ seq, channel: uri, kind, state }))
        throw new Damage('its creation has a wrong checksum')
      const chain = await checkpointReader(query).firstChain(uri, id)
      return { seq, state, chain, rowIds: null, rows: [], fromCreation: true }
    },

    async headOf(uri, { id, kind, rows: set }, tail) {
      const text = 'SELECT seq, state, chain, sum FROM heads WHERE channel = $1'
      const [head] = (await query<StoredState & { readonly chain: number }>(text, [id])).rows
      if (!head || head.sum !== headSum({ ...head, channel: uri, kind })) return undefined
      const { rows: list } = await query<{ readonly id: string; readonly sum: number }>(
        'SELECT id, sum FROM rows WHERE channel = $1 ORDER BY place',
        [id],
      )
      if (list.reduce((all, { sum }) => toggle(all, sum), 0) !== set) return undefined
      const ids = list.map((row) => row.id)
      const newest = ids.slice(Math.max(0, ids.length - tail))
      const texts = newest.length === 0 ? undefined : await textsOf(uri, id, newest)
      const rows = newest.flatMap((each) => texts?.get(each) ?? [])
      if (rows.length < newest.length) return undefined
      const { seq, state, chain } = head
      const rowIds = ids.length === 0 ? null : ids.join('\x1e')
      return { seq, state, chain, rowIds, rows, fromCreation: false }
    },
  }
}
