import { isDamage } from './open.js'
import { rowReader } from './rows.js'
import { creationSum, headSum, lineSum, link } from './checksums.js'

/** @typedef {import('./open.js').Database} Database */
/** @typedef {import('@atrium/host/ports/log').DamagedChannel} DamagedChannel */
/** @typedef {import('@atrium/host/ports/log').StoredEnvelope} StoredEnvelope */
/** @typedef {{ seq: number, action: string, origin: string | null, sum: number, chain: number }} Line */
/** @typedef {{ id: number, kind: string, seq: number, chain: number, rows: number }} Channel where a channel ends */
/** @typedef {{ seq: number, state: string, chain: number, rowIds: string | null, rows: string[], fromCreation: boolean }} Start */

/** @typedef {{ seqs: number[], places: number[], actions: string[], origins: (string | null)[], more: boolean }} Columns */

const SLICE = 1024 * 1024
/** So many lines are fetched at a time. */
const CHUNK = 2000
const MOST = Number.MAX_SAFE_INTEGER
// Two characters that JSON never holds as they are.
const LINE_END = '\x1e'
const FIELD_END = '\x1f'

class Damage extends Error {}

/**
 * Everything is judged as it is read: a store would rather say nothing than say something that was never said.
 * @param {Database} db
 */
export function reader(db) {
  const sql = statements(db)
  const rows = rowReader(db)
  // A name that the index has lost would else be a channel that never was.
  const lost = sound(() => new Set(sql.lost.all().map(({ uri }) => uri)))

  /**
   * The next lines of a channel. They come as one text, which the binding hands over many times faster than rows.
   * @param {number} id
   * @param {number} after
   * @param {number} upTo
   * @returns {Line[]}
   */
  const linesOf = (id, after, upTo) => {
    const { last: far, size } = sql.size.get(id, after, upTo)
    // Nearly always small enough; only else is it worth the while to find out where to stop.
    const last = size <= SLICE ? far : sql.chunk.get(id, after, upTo, SLICE)?.last
    const text = last ? sql.lines.get(id, after, last)?.text : ''
    return text ? text.split(LINE_END).map(toLine) : []
  }

  /**
   * The head with its last rows, unless something about them is wrong: both are only a cache.
   * @param {string} uri
   * @param {Channel} channel
   * @param {number} tail
   * @returns {Start | undefined}
   */
  const headOf = (uri, channel, tail) => {
    const { id, kind } = channel
    const head = sql.head.get(id)
    if (!head || head.sum !== headSum({ ...head, channel: uri, kind })) return undefined
    const rowIds = rows.ids(id, channel.rows)
    if (rowIds === undefined) return undefined
    const texts = []
    for (const row of rows.newest(id, tail)) {
      const text = rows.text(uri, id, row)
      if (text === undefined) return undefined
      texts.push(text)
    }
    return { ...head, rowIds, rows: texts, fromCreation: false }
  }

  /**
   * @param {string} uri
   * @param {Channel} channel
   * @returns {Start}
   */
  const birthOf = (uri, { id, kind }) => {
    const { seq, state, sum } = sql.birth.get(id)
    if (sum !== creationSum({ seq, channel: uri, kind, state }))
      throw new Damage('its birth has a wrong checksum')
    return { seq, state, chain: sum, rowIds: null, rows: [], fromCreation: true }
  }

  /**
   * @param {string} uri
   * @param {Channel} channel
   * @param {Start} start
   */
  const linesAfter = (uri, channel, start) => {
    let { seq, chain } = start
    const envelopes = []
    for (let lines = linesOf(channel.id, seq, MOST); lines.length > 0; lines = linesOf(channel.id, seq, MOST))
      for (const line of lines) {
        envelopes.push(toEnvelope(uri, line))
        seq = line.seq
        chain = link(chain, line.sum)
        if (chain !== line.chain) throw new Damage(`number ${seq} does not continue what is before it`)
      }
    // A head may stand after the last envelope, so only the chain tells that nothing is missing.
    if (chain !== channel.chain) throw new Damage(`what came after number ${seq} is missing`)
    return envelopes
  }

  return {
    /**
     * @param {string} uri
     * @param {number} tail
     */
    load(uri, tail) {
      return sound(() => {
        const channel = /** @type {Channel | undefined} */ (sql.channel.get(uri))
        const known = channel ?? sql.id.get(uri)
        if (!known && 'has' in lost && !lost.has(uri)) return undefined
        if (!channel) throw new Damage(`it cannot be found by its name`)
        if (channel.chain === null) throw new Damage('its end is missing')
        const head = sound(() => headOf(uri, channel, tail))
        const start = head && !('damaged' in head) ? head : birthOf(uri, channel)
        const envelopes = linesAfter(uri, channel, start)
        return {
          kind: channel.kind,
          seq: start.seq,
          state: start.state,
          rowIds: start.rowIds,
          rows: start.rows,
          fromCreation: start.fromCreation,
          envelopes,
        }
      })
    },

    /**
     * @param {string} uri
     * @param {readonly string[]} ids
     */
    rows(uri, ids) {
      const channel = sql.id.get(uri)?.id
      /** @type {import('@atrium/host/ports/log').StoredRow[]} */
      const found = []
      let size = 0
      for (const id of channel === undefined ? [] : ids) {
        const text = sound(() => rows.text(uri, channel, id))
        if (typeof text !== 'string') continue
        size += text.length
        if (size > SLICE && found.length > 0) return { rows: found, more: true }
        found.push({ id, text })
      }
      return { rows: found, more: false }
    },

    /**
     * The channels' own orders, merged by number. In columns, which cost a thread less to hand over than objects.
     * @param {readonly string[]} uris
     * @param {number} after
     * @param {number} upTo
     */
    read(uris, after, upTo) {
      const sources = [...new Set(uris)].flatMap((uri, place) => {
        const id = sql.id.get(uri)?.id
        return id === undefined ? [] : [{ uri, place, id, lines: linesOf(id, after, upTo), at: 0 }]
      })
      /** @type {Columns} */
      const columns = { seqs: [], places: [], actions: [], origins: [], more: false }
      for (let size = 0; ;) {
        const source = least(sources)
        const line = source?.lines[source.at]
        if (!source || !line) return columns
        size += line.action.length
        if (size > SLICE && columns.seqs.length > 0) return { ...columns, more: true }
        judge(source.uri, line)
        columns.seqs.push(line.seq)
        columns.places.push(source.place)
        columns.actions.push(line.action)
        columns.origins.push(line.origin)
        if (++source.at < source.lines.length) continue
        source.lines = linesOf(source.id, line.seq, upTo)
        source.at = 0
      }
    },

    /**
     * What is damaged is left out: its channel takes nothing more, so a resend to it is refused anyway.
     * @param {string} clientId
     * @param {number} after
     * @param {number} most
     */
    own: (clientId, after, most) =>
      sql.own
        .all(clientId, after, most)
        .flatMap(({ channel, ...line }) => {
          const envelope = sound(() => toEnvelope(channel, line))
          return 'damaged' in envelope ? [] : [envelope]
        })
        .toReversed(),

    upTo() {
      const value = sql.upTo.get()?.value
      // Without it no number is safe to hand out.
      if (!Number.isSafeInteger(value)) throw new Damage('how far its numbers ran')
      return value
    },

    /** @param {string} key */
    record: (key) => sql.record.get(key)?.text,

    /** @param {string} prefix */
    records: (prefix) => sql.records.all(prefix, prefix).map(({ key, text }) => [key, text]),
  }
}

/**
 * What cannot be trusted is said, and the other channels go on.
 * @template T
 * @param {() => T} look
 * @returns {T | DamagedChannel}
 */
function sound(look) {
  try {
    return look()
  } catch (error) {
    if (error instanceof Damage) return { damaged: error.message }
    if (isDamage(error)) return { damaged: String(error) }
    throw error
  }
}

/**
 * @param {string} channel
 * @param {Line} line
 * @returns {StoredEnvelope}
 */
function toEnvelope(channel, line) {
  judge(channel, line)
  const { seq, action, origin } = line
  return origin === null ? { seq, channel, action } : { seq, channel, action, origin: JSON.parse(origin) }
}

/**
 * @param {string} channel
 * @param {Line} line
 */
function judge(channel, { seq, action, origin, sum }) {
  if (sum !== lineSum({ seq, channel, action, origin }))
    throw new Damage(`number ${seq} has a wrong checksum`)
}

/**
 * @param {string} text
 * @returns {Line}
 */
function toLine(text) {
  const [seq, action = '', origin = '', sum, chain] = text.split(FIELD_END)
  return {
    seq: Number(seq),
    action,
    origin: origin === '' ? null : origin,
    sum: Number(sum),
    chain: Number(chain),
  }
}

/**
 * The one whose next line has the lowest number.
 * @template {{ lines: Line[], at: number }} T
 * @param {T[]} sources
 */
function least(sources) {
  /** @type {T | undefined} */
  let first
  for (const source of sources) {
    const line = source.lines[source.at]
    if (line && (!first || line.seq < (first.lines[first.at]?.seq ?? MOST))) first = source
  }
  return first
}

/** @param {Database} db */
function statements(db) {
  return {
    id: db.prepare(`SELECT id FROM channels WHERE uri = ?`),
    channel: db.prepare(
      `SELECT id, kind, t.seq AS seq, chain, rows FROM channels LEFT JOIN tails t ON t.channel = id WHERE uri = ?`,
    ),
    lost: db.prepare(
      `SELECT uri FROM channels c NOT INDEXED WHERE NOT EXISTS
         (SELECT 1 FROM channels i INDEXED BY sqlite_autoindex_channels_1 WHERE i.uri = c.uri AND i.id = c.id)`,
    ),
    birth: db.prepare(`SELECT seq, state, sum FROM channels WHERE id = ?`),
    head: db.prepare(`SELECT seq, state, chain, sum FROM heads WHERE channel = ?`),
    size: db.prepare(
      `SELECT max(seq) AS last, sum(length(action)) AS size FROM
         (SELECT seq, action FROM envelopes WHERE channel = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${CHUNK})`,
    ),
    // Where a chunk ends: by count, and by size, but never before its first line.
    chunk: db.prepare(
      `SELECT max(seq) AS last FROM
         (SELECT seq, size, sum(size) OVER (ORDER BY seq) AS total FROM
           (SELECT seq, length(action) AS size FROM envelopes
            WHERE channel = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ${CHUNK}))
       WHERE total - size < ?`,
    ),
    lines: db.prepare(
      `SELECT group_concat(concat_ws(char(31), seq, action, ifnull(origin, ''), sum, chain), char(30) ORDER BY seq) AS text
       FROM envelopes WHERE channel = ? AND seq > ? AND seq <= ?`,
    ),
    own: db.prepare(
      `SELECT e.seq AS seq, action, origin, e.sum AS sum, chain, uri AS channel
       FROM envelopes e JOIN channels ON id = e.channel
       WHERE origin IS NOT NULL AND origin ->> 'clientId' = ? AND e.seq > ? ORDER BY e.seq DESC LIMIT ?`,
    ),
    // Not below what was used, even if the one number that says so was damaged.
    upTo: db.prepare(
      `SELECT max(value, (SELECT ifnull(max(seq), 0) FROM envelopes)) AS value FROM meta WHERE key = 'upTo'`,
    ),
    record: db.prepare(`SELECT text FROM records WHERE key = ?`),
    // No byte of UTF-8 is FF, so this ends after every key that starts so.
    records: db.prepare(`SELECT key, text FROM records WHERE key >= ? AND key < ? || CAST(x'ff' AS TEXT)`),
  }
}
