import type { StoredEnvelope, StoredRow } from '@atrium/host/ports/log'
import { creationSum, headSum, lineSum, link } from '../checksums.ts'
import type { Database } from '../database.ts'
import { Damage, nextSource, toEnvelope, verify } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { StoreApi } from '../worker-api.ts'
import { orDamaged } from './failure.ts'
import { checkpointReader } from './forget.ts'
import type { LineReader } from './line-reader.ts'
import { rowReader } from './rows.ts'
import { segmentReader } from './segments.ts'

/** A channel and its tail, which may be missing. */
interface Channel {
  readonly id: number
  readonly kind: string
  readonly chain: number | null
  /** The xor of the sums of its rows. */
  readonly rows: number | null
}

/** A state as it is stored. */
interface Stored {
  readonly seq: number
  readonly state: string
  readonly sum: number
}

/** The state from which envelopes are replayed. */
interface Start {
  readonly seq: number
  readonly state: string
  readonly chain: number
  readonly rowIds: string | null
  readonly rows: readonly string[]
  readonly fromCreation: boolean
}

/** The maximum number of characters of one slice. */
const SLICE = 1024 * 1024
const MAX_SEQ = Number.MAX_SAFE_INTEGER

/** Reads channels, envelopes and records. All data is verified when it is read. Damaged data is reported and never returned. */
export function reader(
  db: Database,
  { linesOf }: LineReader,
): Pick<StoreApi, 'load' | 'rows' | 'read' | 'dispatchedBy' | 'creation'> {
  const sql = statements(db)
  const rows = rowReader(db)
  const segments = segmentReader(db)
  const checkpoints = checkpointReader(db)
  // The channels that are missing in a damaged index. Without this list the store would take them for channels that do not
  // exist.
  const unindexed = orDamaged(() => new Set(sql.unindexed.all().map(({ uri }) => uri)))

  /**
   * Returns the head with its newest rows. Returns undefined if any of this is damaged, because the envelopes can rebuild the
   * head and the rows.
   */
  const headOf = (uri: string, { id, kind }: Channel, set: number, tail: number): Start | undefined => {
    const head = sql.head.get(id)
    if (!head || head.sum !== headSum({ ...head, channel: uri, kind })) return undefined
    const rowIds = rows.ids(id, set)
    if (rowIds === undefined) return undefined
    const texts: string[] = []
    for (const row of rows.newest(id, tail)) {
      const text = rows.text(uri, id, row)
      if (text === undefined) return undefined
      texts.push(text)
    }
    const { seq, state, chain } = head
    return { seq, state, chain, rowIds, rows: texts, fromCreation: false }
  }

  const creationOf = (uri: string, { id, kind }: Channel): Start => {
    const found = sql.creation.get(id)
    if (!found) throw new Damage('its creation is missing')
    const { seq, state, sum } = found
    if (sum !== creationSum({ seq, channel: uri, kind, state }))
      throw new Damage('its creation has a wrong checksum')
    return { seq, state, chain: checkpoints.firstChain(uri, id), rowIds: null, rows: [], fromCreation: true }
  }

  /** Returns the envelopes of a channel after a state. `end` is the chain after the last one. */
  const linesAfter = (uri: string, id: number, start: Start, end: number): readonly StoredEnvelope[] => {
    let { seq, chain } = start
    const envelopes: StoredEnvelope[] = []
    for (let lines = linesOf(uri, id, seq, MAX_SEQ); lines.length > 0; lines = linesOf(uri, id, seq, MAX_SEQ))
      for (const line of lines) {
        envelopes.push(toEnvelope(uri, line))
        seq = line.seq
        chain = link(chain, line.sum ?? lineSum({ ...line, channel: uri }))
        if (line.chain !== null && chain !== line.chain)
          throw new Damage(`number ${seq} does not continue the one before it`)
      }
    // The head may be newer than the last envelope. So only the chain shows whether an envelope is missing.
    if (chain !== end) throw new Damage(`the actions after number ${seq} are missing`)
    return envelopes
  }

  return {
    load(uri, tail) {
      return orDamaged(() => {
        const channel = sql.channel.get(uri)
        const known = channel ?? sql.id.get(uri)
        if (!known && 'has' in unindexed && !unindexed.has(uri)) return undefined
        if (!channel) throw new Damage('the index of channels has lost it')
        const { id, kind, chain, rows: set } = channel
        if (chain === null || set === null) throw new Damage('its tail is missing')
        checkpoints.checkpointOf(uri, id)
        const head = orDamaged(() => headOf(uri, channel, set, tail))
        const start = head && !('damaged' in head) ? head : creationOf(uri, channel)
        const envelopes = linesAfter(uri, id, start, chain)
        const { seq, state, rowIds, rows: texts, fromCreation } = start
        return { kind, seq, state, rowIds, rows: texts, fromCreation, envelopes }
      })
    },

    rows(uri, ids) {
      const channel = sql.id.get(uri)?.id
      if (channel === undefined) return { rows: [], more: false }
      const found: StoredRow[] = []
      let size = 0
      for (const id of ids) {
        const text = orDamaged(() => rows.text(uri, channel, id))
        if (typeof text !== 'string') continue
        size += text.length
        if (size > SLICE && found.length > 0) return { rows: found, more: true }
        found.push({ id, text })
      }
      return { rows: found, more: false }
    },

    /**
     * Merges the envelopes of several channels by sequence number. The result consists of columns, which are cheaper to copy
     * between threads than objects.
     */
    read(uris, after, upTo) {
      let forgotten = false
      const sources = [...new Set(uris)].flatMap((uri, place) => {
        const channel = sql.id.get(uri)
        if (!channel) return []
        const { id } = channel
        const from = checkpoints.checkpointOf(uri, id)?.seq ?? 0
        if (from > after) forgotten = true
        return [{ uri, place, id, lines: linesOf(uri, id, Math.max(after, from), upTo), at: 0 }]
      })
      const seqs: number[] = []
      const places: number[] = []
      const actions: string[] = []
      const origins: (string | null)[] = []
      const columns = { seqs, places, actions, origins, more: false, forgotten }
      for (let size = 0; ;) {
        const source = nextSource(sources)
        const line = source?.lines[source.at]
        if (!source || !line) return columns
        size += line.action.length
        if (size > SLICE && seqs.length > 0) return { ...columns, more: true }
        verify(source.uri, line)
        seqs.push(line.seq)
        places.push(source.place)
        actions.push(line.action)
        origins.push(line.origin)
        if (++source.at < source.lines.length) continue
        source.lines = linesOf(source.uri, source.id, line.seq, upTo)
        source.at = 0
      }
    },

    /**
     * Returns the newest envelopes of a client. Damaged envelopes are left out. This is safe, because a damaged channel
     * accepts no actions, so a resend to it is refused anyway.
     */
    dispatchedBy(clientId, after, most) {
      const unsealed = sql.dispatchedBy.all(clientId, after, most).flatMap(({ channel, ...line }) => {
        const envelope = orDamaged(() => toEnvelope(channel, line))
        return 'damaged' in envelope ? [] : [envelope]
      })
      const others = [...unsealed, ...checkpoints.keptOf(clientId, after, most)].toSorted(
        (a, b) => b.seq - a.seq,
      )
      return segments.dispatchedBy(clientId, after, most, others.slice(0, most)).toReversed()
    },

    creation(uri) {
      const channel = sql.channel.get(uri)
      if (!channel) return undefined
      const { seq, state } = creationOf(uri, channel)
      return { seq, channel: uri, kind: channel.kind, state }
    },
  }
}

/** Returns the highest sequence number that may have been assigned: at least that of every envelope, even if the stored value is damaged. */
export function highest(db: Database): number {
  const { value } =
    db
      .prepare<{ readonly value: number }>(
        `SELECT max(value, (SELECT ifnull(max(seq), 0) FROM envelopes), (SELECT ifnull(max(last), 0) FROM segments)) AS value
         FROM meta WHERE key = 'upTo'`,
      )
      .get() ?? {}
  // Without the highest used number, no new sequence number is safe to assign.
  if (value === undefined || !Number.isSafeInteger(value)) throw new Damage('its highest number is missing')
  return value
}

function statements(db: Database) {
  return {
    id: db.prepare<{ readonly id: number }>(`SELECT id FROM channels WHERE uri = ?`),
    channel: db.prepare<Channel>(
      `SELECT id, kind, chain, rows FROM channels LEFT JOIN tails t ON t.channel = id WHERE uri = ?`,
    ),
    unindexed: db.prepare<{ readonly uri: string }>(
      `SELECT uri FROM channels c NOT INDEXED WHERE NOT EXISTS
         (SELECT 1 FROM channels i INDEXED BY sqlite_autoindex_channels_1 WHERE i.uri = c.uri AND i.id = c.id)`,
    ),
    creation: db.prepare<Stored>(`SELECT seq, state, sum FROM channels WHERE id = ?`),
    head: db.prepare<Stored & { readonly chain: number }>(
      `SELECT seq, state, chain, sum FROM heads WHERE channel = ?`,
    ),
    dispatchedBy: db.prepare<Line & { readonly channel: string }>(
      `SELECT e.seq AS seq, action, origin, e.sum AS sum, chain, uri AS channel
       FROM envelopes e JOIN channels ON id = e.channel
       WHERE origin IS NOT NULL AND origin ->> 'clientId' = ? AND e.seq > ? AND typeof(uri) = 'text'
       ORDER BY e.seq DESC LIMIT ?`,
    ),
  }
}
