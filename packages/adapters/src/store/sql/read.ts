import type { RowSlice, StoredEnvelope, StoredRow } from '@atrium/host/ports/log'
import type { Handlers } from '../../process/thread-request.ts'
import { lineSum, link } from '../checksums.ts'
import { Damage, nextSource, toEnvelope, verify } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { Columns, PackedChannel, StoreApi } from '../worker-api.ts'
import { checkpointReader, verified } from './checkpoints.ts'
import type { Checkpoint } from './checkpoints.ts'
import type { SqlDialect, SqlStore } from './dialect.ts'
import { segmentReader } from './segments.ts'
import { startReader } from './start.ts'
import type { Start } from './start.ts'
import { orDamaged, undamaged } from './work.ts'
import type { Work } from './work.ts'

/** The maximum number of characters of one slice. */
const SLICE = 1024 * 1024
/** The maximum number of lines of one query. */
const CHUNK = 2000
const MAX_SEQ = Number.MAX_SAFE_INTEGER

/** The numbers of the envelopes to read. */
interface Numbers {
  readonly after: number
  readonly upTo: number
}

/** Reads channels and envelopes. All data is verified when it is read. Damaged data is reported and never returned. */
export function reader(
  store: SqlStore,
): Pick<Handlers<StoreApi>, 'load' | 'rows' | 'read' | 'dispatchedBy' | 'creation'> {
  const { dialect } = store
  const starts = startReader(dialect)
  const load = loader(dialect)
  const slice = slicer(dialect)
  const newestOf = clientReader(dialect)

  return {
    load: (uri, tail) => store.read(() => orDamaged(dialect, load(uri, tail))),

    rows: (uri, ids) =>
      store.read(function* (): Work<RowSlice> {
        const channel = yield* starts.channelOf(uri)
        const found: StoredRow[] = []
        let size = 0
        for (let at = 0; channel && at < ids.length; at += dialect.textsAtOnce) {
          const some = ids.slice(at, at + dialect.textsAtOnce)
          const texts = yield* starts.textsOf(uri, channel.id, some)
          for (const id of some) {
            const text = texts.get(id)
            if (text === undefined) continue
            size += text.length
            if (size > SLICE && found.length > 0) return { rows: found, more: true }
            found.push({ id, text })
          }
        }
        return { rows: found, more: false }
      }),

    read: (uris, after, upTo) => store.read(() => slice([...new Set(uris)], { after, upTo })),

    dispatchedBy: (clientId, after, most) =>
      store.read(() => newestOf(dialect.key(clientId), { after, most })),

    creation: (uri) =>
      store.read(function* () {
        const channel = yield* starts.channelOf(uri)
        if (!channel) return undefined
        const { seq, state } = yield* starts.creationOf(uri, channel)
        return { seq, channel: uri, kind: channel.kind, state }
      }),
  }
}

/** Returns the work that loads a channel. It throws if the channel is damaged. */
function loader(dialect: SqlDialect): (uri: string, tail: number) => Work<PackedChannel> {
  const { channelOf, creationOf, headOf } = startReader(dialect)
  const checkpoints = checkpointReader(dialect)
  const segments = segmentReader(dialect)

  /** Returns the next lines of a channel: those of a segment or, after the last segment, rows. */
  function* linesOf(uri: string, id: number, after: number): Work<readonly Line[]> {
    const sealed = yield* segments.lines(uri, id, after, MAX_SEQ)
    const most = { lines: CHUNK, length: SLICE }
    return sealed.length > 0 ? sealed : yield* dialect.lines(id, { after, upTo: MAX_SEQ, most })
  }

  /** Returns the envelopes of a channel after a state. `end` is the chain after the last one. */
  function* linesAfter(
    start: Start,
    { uri, id, end }: { readonly uri: string; readonly id: number; readonly end: number },
  ): Work<readonly StoredEnvelope[]> {
    let { seq, chain } = start
    const envelopes: StoredEnvelope[] = []
    for (let lines = yield* linesOf(uri, id, seq); lines.length > 0; lines = yield* linesOf(uri, id, seq))
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

  return function* (uri, tail) {
    const channel = yield* channelOf(uri)
    if (!channel) {
      if (dialect.isLost && (yield* dialect.isLost(uri)))
        throw new Damage('the index of channels has lost it')
      return undefined
    }
    const { id, kind, chain: end } = channel
    if (end === null || channel.rows === null) throw new Damage('its tail is missing')
    yield* checkpoints.checkpointOf(uri, id)
    const head = yield* orDamaged(dialect, headOf(uri, channel, tail))
    const start = head && !('damaged' in head) ? head : yield* creationOf(uri, channel)
    const envelopes = yield* linesAfter(start, { uri, id, end })
    const { seq, state, rowIds, rows, fromCreation } = start
    return { kind, seq, state, rowIds, rows, fromCreation, envelopes }
  }
}

interface ReadChannel {
  readonly id: number
  readonly key: string
}

/** The lines of a channel, as far as they were read, and the place of the next one. */
interface Source {
  readonly id: number
  readonly uri: string
  /** The index of the channel in the list of the channels that are read. */
  readonly place: number
  lines: readonly Line[]
  at: number
}

/**
 * Returns the work that merges the envelopes of several channels by sequence number. The result consists of columns, which are cheaper to
 * copy between threads than objects.
 */
function slicer(dialect: SqlDialect): (uris: readonly string[], numbers: Numbers) => Work<Columns> {
  const channelsOf = dialect.statement<ReadChannel & (Checkpoint | { readonly seq: null })>(
    `SELECT l.value AS key, id, f.seq AS seq, f.chain AS chain, f.sum AS sum FROM ${dialect.list('text')}
     JOIN channels c ON c.${dialect.by('uri')} = l.value LEFT JOIN forgotten f ON f.channel = id`,
  )
  const segments = segmentReader(dialect)

  return function* (uris, { after, upTo }) {
    const placeOf = new Map(uris.map((uri, place) => [dialect.key(uri), place]))
    const channels = yield* channelsOf([...placeOf.keys()])
    const ids = channels.map(({ id }) => id)
    const sealed = yield* segments.among(ids, after)
    // Of many channels, few lines each are read at once. A channel that has more is read again.
    const most = { lines: Math.max(50, Math.ceil(CHUNK / (channels.length || 1))), length: SLICE }
    function* next({ uri, id }: Pick<Source, 'uri' | 'id'>, from: number): Work<readonly Line[]> {
      const lines = sealed.has(id) ? yield* segments.lines(uri, id, from, upTo) : []
      return lines.length > 0 ? lines : yield* dialect.lines(id, { after: from, upTo, most })
    }
    let forgotten = false
    const sources: Source[] = []
    for (const channel of channels) {
      const { key, id } = channel
      const place = placeOf.get(key) ?? 0
      const uri = uris[place] ?? key
      const from = channel.seq === null ? 0 : verified(uri, channel).seq
      if (from > after) forgotten = true
      sources.push({ uri, id, place, lines: yield* next({ uri, id }, Math.max(after, from)), at: 0 })
    }
    const seqs: number[] = []
    const places: number[] = []
    const actions: string[] = []
    const origins: (string | null)[] = []
    const columns = { seqs, places, actions, origins }
    for (let size = 0; ;) {
      const source = nextSource(sources)
      const line = source?.lines[source.at]
      if (!source || !line) return { ...columns, more: false, forgotten }
      size += line.action.length
      if (size > SLICE && seqs.length > 0) return { ...columns, more: true, forgotten }
      verify(source.uri, line)
      seqs.push(line.seq)
      places.push(source.place)
      actions.push(line.action)
      origins.push(line.origin)
      if (++source.at < source.lines.length) continue
      source.lines = yield* next(source, line.seq)
      source.at = 0
    }
  }
}

/** Reads the newest actions of a client, which is given by its key. */
export type NewestOf = (
  client: string,
  range: { readonly after: number; readonly most: number },
) => Work<StoredEnvelope[]>

/**
 * Returns the work that reads the newest envelopes of a client. Damaged envelopes are left out. This is safe, because a damaged channel
 * accepts no actions, so a resend to it is refused anyway.
 */
export function clientReader(dialect: SqlDialect): NewestOf {
  const unsealed = dialect.statement<Line & { readonly uri: string }>(
    `SELECT e.seq AS seq, action, origin, e.sum AS sum, chain, uri FROM envelopes e JOIN channels c ON id = e.channel
     WHERE ${dialect.origin} = ?1 AND origin IS NOT NULL AND e.seq > ?2 AND ${dialect.there('c')} ORDER BY e.seq DESC LIMIT ?3`,
  )
  const checkpoints = checkpointReader(dialect)
  const segments = segmentReader(dialect)

  return function* (client, { after, most }) {
    const rows = yield* unsealed(client, after, most)
    const found = rows.flatMap(({ uri, ...line }) => undamaged(() => [toEnvelope(uri, line)]))
    const kept = yield* checkpoints.keptOf(client, after, most)
    const others = [...found, ...kept].toSorted((a, b) => b.seq - a.seq).slice(0, most)
    return (yield* segments.dispatchedBy(client, { after, most }, others)).toReversed()
  }
}
