import { lineSum, link as linked } from '../checksums.js'
import { Damage, nextSource, toEnvelope, verify } from '../lines.js'
import { checkpointReader, verified } from './forget.js'
import { keyOf } from './key.js'
import { READING, transaction } from './link.js'
import { startOf } from './start.js'
import { segmentReader, undamaged } from './segments.js'

/** @typedef {import('./link.js').Query} Query */
/** @typedef {import('../lines.js').Line} Line */
/** @typedef {import('../worker-api.ts').Columns} Columns */

/** The maximum number of characters of one slice. */
const SLICE = 1024 * 1024
/** The maximum number of lines of one query. */
const CHUNK = 2000
const MAX_SEQ = Number.MAX_SAFE_INTEGER

/**
 * Returns the next lines of a channel that are stored as rows: at most `most` lines, or one line and what fits beside it.
 * @param {Query} query
 * @param {number} channel
 * @param {{ after: number, upTo: number, most?: { lines: number, length: number } }} range
 * @returns {Promise<Line[]>}
 */
export async function rowsOf(query, channel, { after, upTo, most = { lines: CHUNK, length: SLICE } }) {
  const { rows } = await query(LINES, [channel, after, upTo, most.lines, most.length])
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

/**
 * Reads channels and envelopes. All data is verified when it is read. Damaged data is reported and never returned.
 * @param {import('./link.js').Link} link
 */
export function reader(link) {
  /**
   * Runs queries that see one moment, whatever is written meanwhile.
   * @template T
   * @param {(query: Query) => Promise<T>} work
   */
  const moment = (work) => link.run((query) => transaction(query, () => work(query), READING))

  return {
    /**
     * @param {string} uri
     * @param {number} tail
     */
    load: (uri, tail) =>
      moment(async (query) => {
        try {
          return await load(query, uri, tail)
        } catch (error) {
          if (error instanceof Damage) return { damaged: error.message }
          throw error
        }
      }),

    /**
     * @param {string} uri
     * @param {readonly string[]} ids
     */
    rows: (uri, ids) =>
      moment(async (query) => {
        const { rows: found } = await query('SELECT id FROM channels WHERE key = $1', [keyOf(uri)])
        if (found.length === 0) return { rows: [], more: false }
        const { textsOf } = startOf(query)
        return sliceOfRows(ids, (some) => textsOf(uri, found[0].id, some))
      }),

    /**
     * Merges the envelopes of several channels by sequence number.
     * @param {readonly string[]} uris
     * @param {number} after
     * @param {number} upTo
     */
    read: (uris, after, upTo) => moment((query) => read(query, [...new Set(uris)], { after, upTo })),

    /**
     * @param {string} clientId
     * @param {number} after
     * @param {number} most
     */
    dispatchedBy: (clientId, after, most) =>
      moment((query) => dispatchedBy(query, clientId, { after, most })),

    /** @param {string} uri */
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

/**
 * @param {Query} query
 * @param {string} uri
 * @param {number} tail
 */
async function load(query, uri, tail) {
  const { channelOf, creationOf, headOf } = startOf(query)
  const channel = await channelOf(uri)
  if (!channel) return undefined
  if (channel.chain === null) throw new Damage('its tail is missing')
  await checkpointReader(query).checkpointOf(uri, channel.id)
  const start = (await headOf(uri, channel, tail)) ?? (await creationOf(uri, channel))
  const envelopes = await linesAfter(query, uri, channel, start)
  const { seq, state, rowIds, rows, fromCreation } = start
  return { kind: channel.kind, seq, state, rowIds, rows, fromCreation, envelopes }
}

/**
 * @param {Query} query
 * @param {string} uri
 * @param {import('./start.js').Channel} channel
 * @param {import('./start.js').Start} start
 */
async function linesAfter(query, uri, channel, start) {
  let { seq, chain } = start
  const envelopes = []
  for (let lines = await linesOf(query, uri, channel.id, seq); lines.length > 0;) {
    for (const line of lines) {
      envelopes.push(toEnvelope(uri, line))
      seq = line.seq
      chain = linked(chain, line.sum ?? lineSum({ ...line, channel: uri }))
      if (line.chain !== null && chain !== line.chain)
        throw new Damage(`number ${seq} does not continue the one before it`)
    }
    lines = await linesOf(query, uri, channel.id, seq)
  }
  // The head may be newer than the last envelope. So only the chain shows whether an envelope is missing.
  if (chain !== channel.chain) throw new Damage(`the actions after number ${seq} are missing`)
  return envelopes
}

/**
 * Returns the next lines of a channel: those of a segment or, after the last segment, rows.
 * @param {Query} query
 * @param {string} uri
 * @param {number} id
 * @param {number} after
 */
async function linesOf(query, uri, id, after) {
  const sealed = await segmentReader(query).lines(uri, id, after, MAX_SEQ)
  return sealed.length > 0 ? sealed : rowsOf(query, id, { after, upTo: MAX_SEQ })
}

/**
 * @param {Query} query
 * @param {readonly string[]} uris
 * @param {{ after: number, upTo: number }} range
 * @returns {Promise<Columns>}
 */
async function read(query, uris, { after, upTo }) {
  const { rows: channels } = await query(
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
  /**
   * @param {{ uri: string, id: number }} channel
   * @param {number} from
   */
  const next = async ({ uri, id }, from) => {
    const lines = sealed.has(id) ? await segments.lines(uri, id, from, upTo) : []
    return lines.length > 0 ? lines : rowsOf(query, id, { after: from, upTo, most })
  }
  let forgotten = false
  const sources = []
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
  /** @type {{ seqs: number[], places: number[], actions: string[], origins: (string | null)[] }} */
  const columns = { seqs: [], places: [], actions: [], origins: [] }
  for (let size = 0; ;) {
    const source = nextSource(sources)
    const line = source?.lines[source.at]
    if (!source || !line) return { ...columns, more: false, forgotten }
    size += line.action.length
    if (size > SLICE && columns.seqs.length > 0) return { ...columns, more: true, forgotten }
    verify(source.uri, line)
    columns.seqs.push(line.seq)
    columns.places.push(source.place)
    columns.actions.push(line.action)
    columns.origins.push(line.origin)
    if (++source.at < source.lines.length) continue
    source.lines = await next(source, line.seq)
    source.at = 0
  }
}

/**
 * Returns the newest envelopes of a client. Damaged envelopes are left out. This is safe, because a damaged channel accepts no
 * actions, so a resend to it is refused anyway.
 * @param {Query} query
 * @param {string} client its id or its key
 * @param {{ after: number, most: number }} range
 */
export async function dispatchedBy(query, client, { after, most }) {
  const { rows } = await query(
    `SELECT e.seq AS seq, action, origin, e.sum AS sum, chain, uri FROM envelopes e JOIN channels c ON id = e.channel
     WHERE e.key = $1 AND e.seq > $2 AND c.key IS NOT NULL ORDER BY e.seq DESC LIMIT $3`,
    [keyOf(client), after, most],
  )
  const unsealed = rows.flatMap(({ uri, ...line }) => undamaged(() => [toEnvelope(uri, line)]))
  const kept = await checkpointReader(query).keptOf(client, after, most)
  const others = [...unsealed, ...kept].toSorted((a, b) => b.seq - a.seq).slice(0, most)
  return (await segmentReader(query).dispatchedBy(client, after, most, others)).toReversed()
}

/**
 * Returns the first rows of a list that fit into a slice.
 * @param {readonly string[]} ids
 * @param {(ids: readonly string[]) => Promise<ReadonlyMap<string, string>>} textsOf
 */
async function sliceOfRows(ids, textsOf) {
  const found = []
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
