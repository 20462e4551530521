import type { RowSlice, StoredEnvelope, StoredRow } from '@atrium/host/ports/log'
import type { Handlers } from '../../process/thread-request.ts'
import { lineSum, link as linked } from '../checksums.ts'
import { Damage, nextSource, toEnvelope, verify } from '../lines.ts'
import type { Line } from '../lines.ts'
import type { Columns, PackedChannel, StoreApi } from '../worker-api.ts'
import { checkpointReader, verified } from './forget.ts'
import type { Checkpoint } from './forget.ts'
import { keyOf } from './key.ts'
import { READING, transaction } from './link.ts'
import type { Link, Query } from './link.ts'
import { segmentReader, undamaged } from './segments.ts'
import { startOf } from './start.ts'
import type { Start } from './start.ts'

/** The maximum number of characters of one slice. */
const SLICE = 1024 * 1024
/** The maximum number of lines of one query. */
const CHUNK = 2000
const MAX_SEQ = Number.MAX_SAFE_INTEGER

/** The numbers from which lines are read, and how many lines and characters at most. */
interface LineRange {
  readonly after: number
  readonly upTo: number
  readonly most?: { readonly lines: number; readonly length: number }
}

/** Returns the next lines of a channel that are stored as rows: at most `most` lines, or one line and what fits beside it. */
export async function rowsOf(
  query: Query,
  channel: number,
  { after, upTo, most = { lines: CHUNK, length: SLICE } }: LineRange,
): Promise<readonly Line[]> {
  const { rows } = await query<Line>(LINES, [channel, after, upTo, most.lines, most.length])
  return rows
}

const LINES = {
  name: 'lines',
  text: `SELECT seq, action, origin, sum, chain FROM
      (SELECT *, sum(octet_length(action)) OVER (ORDER BY seq) - octet_length(action) AS before FROM
        (SELECT seq, action, origin, sum, chain FROM envelopes
         WHERE channel = $1 AND seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4) chunk) slice
    WHERE before < $5 ORDER BY seq`,
}

/** Reads channels and envelopes. All data is verified when it is read. Damaged data is reported and never returned. */
export function reader(
  link: Link,
): Pick<Handlers<StoreApi>, 'load' | 'rows' | 'read' | 'dispatchedBy' | 'creation'> {
  /** Runs queries that see one moment, whatever is written meanwhile. */
  const moment = <T>(work: (query: Query) => Promise<T>): Promise<T> =>
    link.run((query) => transaction(query, () => work(query), READING))

  return {
    load: (uri, tail) =>
      moment(async (query) => {
        try {
          return await load(query, uri, tail)
        } catch (error) {
          if (error instanceof Damage) return { damaged: error.message }
          throw error
        }
      }),

    rows: (uri, ids) =>
      moment(async (query) => {
        const text = 'SELECT id FROM channels WHERE key = $1'
        const [channel] = (await query<{ readonly id: number }>(text, [keyOf(uri)])).rows
        if (!channel) return { rows: [], more: false }
        const { textsOf } = startOf(query)
        return sliceOfRows(ids, (some) => textsOf(uri, channel.id, some))
      }),

    /** Merges the envelopes of several channels by sequence number. */
    read: (uris, after, upTo) => moment((query) => read(query, [...new Set(uris)], { after, upTo })),

    dispatchedBy: (clientId, after, most) =>
      moment((query) => dispatchedBy(query, clientId, { after, most })),

    creation: (uri) =>
      moment(async (query) => {
        const { channelOf, creationOf } = startOf(query)
        const channel = await channelOf(uri)
        if (!channel) return undefined
        const { seq, state } = await creationOf(uri, channel)
        return { seq, channel: uri, kind: channel.kind, state }
      }),
  }
}

async function load(query: Query, uri: string, tail: number): Promise<PackedChannel> {
  const { channelOf, creationOf, headOf } = startOf(query)
  const channel = await channelOf(uri)
  if (!channel) return undefined
  const { id, kind, chain: end } = channel
  if (end === null) throw new Damage('its tail is missing')
  await checkpointReader(query).checkpointOf(uri, id)
  const start = (await headOf(uri, channel, tail)) ?? (await creationOf(uri, channel))
  const envelopes = await linesAfter(query, { uri, id, end }, start)
  const { seq, state, rowIds, rows, fromCreation } = start
  return { kind, seq, state, rowIds, rows, fromCreation, envelopes }
}

/** Returns the envelopes of a channel after a state. `end` is the chain after the last one. */
async function linesAfter(
  query: Query,
  { uri, id, end }: { readonly uri: string; readonly id: number; readonly end: number },
  start: Start,
): Promise<readonly StoredEnvelope[]> {
  let { seq, chain } = start
  const envelopes: StoredEnvelope[] = []
  for (let lines = await linesOf(query, uri, id, seq); lines.length > 0;) {
    for (const line of lines) {
      envelopes.push(toEnvelope(uri, line))
      seq = line.seq
      chain = linked(chain, line.sum ?? lineSum({ ...line, channel: uri }))
      if (line.chain !== null && chain !== line.chain)
        throw new Damage(`number ${seq} does not continue the one before it`)
    }
    lines = await linesOf(query, uri, id, seq)
  }
  // The head may be newer than the last envelope. So only the chain shows whether an envelope is missing.
  if (chain !== end) throw new Damage(`the actions after number ${seq} are missing`)
  return envelopes
}

/** Returns the next lines of a channel: those of a segment or, after the last segment, rows. */
async function linesOf(query: Query, uri: string, id: number, after: number): Promise<readonly Line[]> {
  const sealed = await segmentReader(query).lines(uri, id, after, MAX_SEQ)
  return sealed.length > 0 ? sealed : rowsOf(query, id, { after, upTo: MAX_SEQ })
}

interface ReadChannel {
  readonly id: number
  readonly uri: string
}

/** The checkpoint of a channel whose older envelopes are forgotten. */
interface Forgotten extends Checkpoint {
  readonly sum: number
}

interface NothingForgotten {
  readonly seq: null
}

/** The lines of a channel, as far as they were read, and the place of the next one. */
interface Source extends ReadChannel {
  /** The index of the channel in the list of the channels that are read. */
  readonly place: number
  lines: readonly Line[]
  at: number
}

async function read(query: Query, uris: readonly string[], { after, upTo }: LineRange): Promise<Columns> {
  const { rows: channels } = await query<ReadChannel & (Forgotten | NothingForgotten)>(
    `SELECT id, uri, f.seq AS seq, f.chain AS chain, f.sum AS sum FROM channels LEFT JOIN forgotten f ON f.channel = id
     WHERE key = ANY($1::text[])`,
    [uris.map(keyOf)],
  )
  const segments = segmentReader(query)
  const sealed = await segments.among(
    channels.map(({ id }) => id),
    after,
  )
  // Of many channels, few lines each are read at once. A channel that has more is read again.
  const most = { lines: Math.max(50, Math.ceil(CHUNK / (channels.length || 1))), length: SLICE }
  const next = async ({ uri, id }: ReadChannel, from: number): Promise<readonly Line[]> => {
    const lines = sealed.has(id) ? await segments.lines(uri, id, from, upTo) : []
    return lines.length > 0 ? lines : rowsOf(query, id, { after: from, upTo, most })
  }
  let forgotten = false
  const sources: Source[] = []
  for (const channel of channels) {
    const from = (channel.seq === null ? undefined : verified(channel.uri, channel))?.seq ?? 0
    if (from > after) forgotten = true
    const { uri, id } = channel
    sources.push({
      uri,
      id,
      place: uris.indexOf(uri),
      lines: await next(channel, Math.max(after, from)),
      at: 0,
    })
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
    source.lines = await next(source, line.seq)
    source.at = 0
  }
}

/**
 * Returns the newest envelopes of a client. Damaged envelopes are left out. This is safe, because a damaged channel accepts no
 * actions, so a resend to it is refused anyway. The client is given by its id or its key.
 */
export async function dispatchedBy(
  query: Query,
  client: string,
  { after, most }: { readonly after: number; readonly most: number },
): Promise<StoredEnvelope[]> {
  const { rows } = await query<Line & { readonly uri: string }>(
    `SELECT e.seq AS seq, action, origin, e.sum AS sum, chain, uri FROM envelopes e JOIN channels c ON id = e.channel
     WHERE e.key = $1 AND e.seq > $2 AND c.key IS NOT NULL ORDER BY e.seq DESC LIMIT $3`,
    [keyOf(client), after, most],
  )
  const unsealed = rows.flatMap(({ uri, ...line }) => undamaged(() => [toEnvelope(uri, line)]))
  const kept = await checkpointReader(query).keptOf(client, after, most)
  const others = [...unsealed, ...kept].toSorted((a, b) => b.seq - a.seq).slice(0, most)
  return (await segmentReader(query).dispatchedBy(client, after, most, others)).toReversed()
}

/** Returns the first rows of a list that fit into a slice. */
async function sliceOfRows(
  ids: readonly string[],
  textsOf: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): Promise<RowSlice> {
  const found: StoredRow[] = []
  let size = 0
  for (let at = 0; at < ids.length; at += 50) {
    const some = ids.slice(at, at + 50)
    const texts = await textsOf(some)
    for (const id of some) {
      const text = texts.get(id)
      if (text === undefined) continue
      size += text.length
      if (size > SLICE && found.length > 0) return { rows: found, more: true }
      found.push({ id, text })
    }
  }
  return { rows: found, more: false }
}
